"""Vendors and their listings."""

from collections.abc import Callable
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from catalog.models import Listing
from marketplace.core.scopes import Scope
from tests.factories import CategoryFactory, ListingFactory
from vendors.models import VendorProfile

from .cases import make_vendor


@pytest.fixture(autouse=True)
def _own_store(media: Path) -> None:
    """Give each test a store of its own."""


@pytest.fixture
def vendor(db: None) -> VendorProfile:
    """An approved vendor."""
    CategoryFactory()
    return make_vendor()


@pytest.fixture
def client(vendor: VendorProfile, bearer_client: Callable[..., APIClient]) -> APIClient:
    """The approved vendor, calling."""
    return bearer_client(vendor.user, scopes={Scope.VENDOR_MANAGE})


@pytest.fixture
def other_client(vendor: VendorProfile, bearer_client: Callable[..., APIClient]) -> APIClient:
    """Another approved vendor, calling."""
    return bearer_client(make_vendor().user, scopes={Scope.VENDOR_MANAGE})


@pytest.fixture
def listing(vendor: VendorProfile) -> Listing:
    """A draft of the vendor."""
    return ListingFactory(store=vendor.store, slug="aurora-sans")

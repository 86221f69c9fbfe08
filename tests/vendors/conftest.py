"""Vendors and their listings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from catalog.models import Listing
from marketplace.core.scopes import Scope
from tests.factories import CategoryFactory, ListingFactory
from tests.files.helpers import without_a_child
from vendors import bounds
from vendors.models import VendorProfile
from vendors.sandbox import runner

from .cases import ASSETS, make_vendor


@pytest.fixture(autouse=True)
def _own_store(media: Path) -> None:
    """Give each test a store of its own."""


@pytest.fixture(autouse=True)
def _files_are_parsed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse uploads in this process: what comes of them is the same, and the child is tried in `tests/files`."""
    monkeypatch.setattr(runner, "_exchange", without_a_child)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let parts of a resumable upload have 10 to 100 bytes."""
    monkeypatch.setattr(bounds, "MIN_PART_BYTES", 10)
    monkeypatch.setattr(bounds, "MAX_PART_BYTES", 100)


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


@pytest.fixture
def step(client: APIClient, listing: Listing) -> Callable[[str], Any]:
    """Take a step with the listing: `step("submit")`."""
    return lambda name: client.post(f"{ASSETS}/{listing.id}/{name}")

"""Vendors and their listings."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from catalog.models import Listing
from marketplace.core.scopes import Scope
from tests.factories import CategoryFactory, ListingFactory, StoreFactory
from vendors.models import VendorProfile, VendorStatus

CREATE = {
    "title": "Aurora Sans",
    "slug": "aurora-sans",
    "shortDescription": "A warm grotesque.",
    "categorySlug": "fonts",
    "basePrice": 19.99,
}
PATCH = {
    "title": "Aurora Sans",
    "shortDescription": "A warm grotesque.",
    "description": "# Aurora",
    "categorySlug": "fonts",
    "basePrice": 19.99,
}


def make_vendor(status: VendorStatus = VendorStatus.APPROVED) -> VendorProfile:
    """Make a vendor with an open or a closed store."""
    store = StoreFactory(is_open=status == VendorStatus.APPROVED)
    return VendorProfile.objects.create(user=store.owner, store=store, status=status)


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

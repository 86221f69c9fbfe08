"""Vendors in front of their studio."""

from collections.abc import Callable

import pytest
from django.test import Client

from catalog.models import Listing
from marketplace.accounts.models import User
from tests.factories import CategoryFactory, ListingFactory, UserFactory
from tests.shop import tiers
from tests.vendors.cases import make_vendor
from vendors.models import VendorProfile


def signed_in(user: User | None = None, *, checked: bool = False) -> Client:
    """Return the browser of someone who is signed in; `checked` enforces the CSRF check that the test client leaves out."""
    client = Client(enforce_csrf_checks=checked)
    client.force_login(user or UserFactory(), backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def browse() -> Callable[..., Client]:
    """Sign someone in: `browse(user)`."""
    return signed_in


@pytest.fixture
def vendor(db: None) -> VendorProfile:
    """An approved vendor."""
    CategoryFactory()
    tiers()
    return make_vendor()


@pytest.fixture
def client(vendor: VendorProfile) -> Client:
    """The vendor's browser."""
    return signed_in(vendor.user)


@pytest.fixture
def listing(vendor: VendorProfile) -> Listing:
    """A draft of the vendor."""
    return ListingFactory(store=vendor.store, slug="aurora-sans", title="Aurora Sans")

"""Fixtures of vendors who use the studio."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page

from catalog.models import Listing
from marketplace.accounts.models import User
from tests.callers import signed_in
from tests.factories import CategoryFactory, ListingFactory, UserFactory
from tests.screenshots.driving import Visit, watched
from tests.servers.gate import Gate
from tests.shop import tiers
from tests.vendors.cases import make_vendor
from vendors.models import VendorProfile

# `opened` opens a page as someone.
Opened = Callable[..., tuple[Page, Visit]]


@pytest.fixture(autouse=True)
def _own_store(media: Path) -> None:
    """Give each test a store of its own."""


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


@pytest.fixture
def opened(window: Callable[..., Page], live_server: Any) -> Opened:
    """Open a page as someone: `opened(user, "/dashboard", "phone")`, `opened(user, "/dashboard", wire=gate)`."""

    def make(user: User, path: str, size: str = "desktop", *, wire: Gate | None = None, **options: Any) -> tuple[Page, Visit]:
        address = live_server.url if wire is None else live_server.url.replace(str(wire.target), str(wire.port))
        page = window(size, user, **options)
        visit = watched(page, address)
        page.goto(address + path)
        return page, visit

    return make


@pytest.fixture
def editor(db: None) -> User:
    """A reviewer, in a shop where something can be sold."""
    CategoryFactory()
    tiers()
    return UserFactory(is_staff=True)

"""What may be kept of pages: nothing that a session has a part in."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from tests.shop import on_sale

pytestmark = pytest.mark.django_db

Browse = Callable[..., Client]


def test_pages_of_a_signed_in_user_are_not_cached(browse: Browse) -> None:
    listing, client = on_sale(), browse()
    # Those of an account are in `test_others_things.py`.
    for address in (
        "/",
        "/browse",
        "/suggest?q=x",
        f"/assets/{listing.slug}",
        f"/stores/{listing.store.slug}",
        "/docs/quick-start",
        "/nothing",
    ):
        said = client.get(address)["Cache-Control"]
        assert "private" in said, address
        assert "no-store" in said, address


@pytest.mark.slow
def test_anonymous_pages_are_cached_only_with_revalidation(client: Client) -> None:
    listing = on_sale()
    for address in ("/", "/browse", f"/assets/{listing.slug}", "/docs/quick-start", "/nothing"):
        assert client.get(address)["Cache-Control"] == "no-cache", address


def test_cache_control_header_of_a_view_is_kept(browse: Browse) -> None:
    assert browse().get("/sitemap.xml")["Cache-Control"] == "public, max-age=3600"
    assert "no-store" in Client().get(reverse("account_login"))["Cache-Control"]

"""What the studio's forms tell of a field that was just left: to whom, and that nothing is saved."""

from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from catalog.models import Listing
from vendors.models import VendorProfile, VendorStatus

pytestmark = pytest.mark.django_db

LONG = "x" * 5_000


def said(response: Any) -> str:
    """Return what the page would show beside the field."""
    assert response.status_code == 200
    found = BeautifulSoup(response.content, "html.parser").select_one("[data-errors]")
    return "" if found is None else found.get_text(" ", strip=True)


def test_live_check_of_a_listing_tells_someone_signed_out_or_suspended_nothing(browse: Callable[..., Client], listing: Listing) -> None:
    address = reverse("check-listing-field", args=["details", "title", listing.slug])
    VendorProfile.objects.filter(user=listing.store.owner).update(status=VendorStatus.SUSPENDED)
    for answer in (Client().post(address), browse(listing.store.owner).post(address)):
        assert (answer.status_code, answer.content) == (204, b"")


@pytest.mark.parametrize(("form", "field"), [("nothing", "title"), ("details", "base_price_minor"), ("store", "store_name")])
def test_live_check_of_an_unknown_form_or_field_of_a_listing_is_not_found(client: Client, listing: Listing, form: str, field: str) -> None:
    address = reverse("check-listing-field", args=[form, field, listing.slug])
    assert client.post(address).status_code == 404
    assert client.get(reverse("check-listing-field", args=["details", "title", listing.slug])).status_code == 405


# The fields are those of the API, whose bounds are in `tests/contract`.
@pytest.mark.parametrize(
    ("form", "field", "wrong", "right", "words"),
    [
        ("store-application", "links", "http://halden.example", "https://halden.example", "An https address is required."),
        ("store-application", "links", "\n".join(["https://a.example"] * 11), "https://a.example", "At most 10 addresses."),
        ("store", "store_name", LONG, "Halden", "at most"),
        ("listing", "base_price_minor", "-1", "20", "It cannot be negative."),
        ("details", "video_url", "http://a.example/v", "https://a.example/v", "An https address is required."),
        ("details", "tags", ",".join(map(str, range(21))), "sans, screen", "At most 20 items."),
        ("prices", "discount_bp", "100.01", "100", "At most 100."),
        ("prices", "base_price_minor", "1e1000000", "1", "At most 999999.99."),
        ("licences", "slugs", [], ["personal"], "Choose at least one licence."),
    ],
)
def test_live_check_shows_an_error_until_it_is_corrected_and_saves_nothing(
    client: Client, listing: Listing, form: str, field: str, wrong: Any, right: Any, words: str
) -> None:
    before = Listing.objects.values().get(pk=listing.pk)
    of_a_section = form in {"details", "prices", "licences"}
    address = (
        reverse("check-listing-field", args=[form, field, listing.slug]) if of_a_section else reverse("check-field", args=[form, field])
    )
    assert words in said(client.post(address, {"permit": "some", field: wrong}))
    assert said(client.post(address, {"permit": "some", field: right})) == ""
    assert Listing.objects.values().get(pk=listing.pk) == before


def test_tag_with_a_comma_that_is_there_already_stays_whole(client: Client, listing: Listing) -> None:
    listing.tags = [f"one, two {number}" for number in range(15)]
    listing.save()
    assert (
        said(client.post(reverse("check-listing-field", args=["details", "tags", listing.slug]), {"tags": "\n".join(listing.tags)})) == ""
    )


@pytest.mark.slow
def test_each_live_field_of_the_studio_has_a_working_address_and_only_pages_with_one_load_htmx(
    browse: Callable[..., Client], client: Client, listing: Listing, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    pages = [(browse(), reverse("studio-apply")), (client, reverse("studio-store")), (client, reverse("studio-create"))]
    pages += [(client, reverse(f"studio-{name}", args=[listing.slug])) for name in ("details", "prices", "licences")]
    # A third of a page's weight, only where something is told while one types.
    for name in ("listing", "files", "manifest", "reviews"):
        assert b"htmx-" not in client.get(reverse(f"studio-{name}", args=[listing.slug])).content, name
    for looker, address in pages:
        content = looker.get(address).content
        assert b"htmx-" in content, address
        fields = BeautifulSoup(content, "html.parser").select("[hx-target='find [data-live-check]']")
        assert fields, address
        for field in fields:
            with django_assert_max_num_queries(8):
                assert looker.post(str(field["hx-post"])).status_code == 200, field["hx-post"]
            assert field.select_one("[data-live-check]") is not None


@pytest.mark.parametrize("name", ["studio-slug-check", "studio-store-slug-check", "studio-split"])
def test_live_address_and_price_checks_are_rate_limited_and_empty_when_signed_out(
    client: Client, listing: Listing, settings: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    # In one window of the counters, however long it takes.
    monkeypatch.setattr("django_ratelimit.core.time.time", lambda: 1_800_000_000.0)
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"live_checks": 1}
    address = reverse(name, args=[listing.slug] if name == "studio-split" else [])

    def answer(looker: Client) -> int:
        return int((looker.post if name == "studio-split" else looker.get)(address).status_code)

    assert answer(Client()) == 204
    assert [answer(client), answer(client)] == [200, 204]

"""The list of a vendor's listings, and making another."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from catalog.models import Listing
from catalog.models.listings import ListingStatus
from tests.factories import ListingFactory
from tests.shop import on_sale
from vendors import bounds
from vendors.models import VendorProfile

from .forms import errors_of

pytestmark = pytest.mark.django_db

STUDIO = "/dashboard/studio"
NEW = "/dashboard/studio/listing-new"
COMPLETE = {
    "title": "Aurora Sans",
    "slug": "aurora-sans",
    "category": "fonts",
    "short_description": "A warm grotesque.",
    "base_price_minor": "19.99",
}


def titles(response: Any) -> list[str]:
    return [listing.title for listing, *_ in response.context["rows"]]


@pytest.mark.parametrize("query", ["status=Sold", "after=1", "q=%00"])
def test_list_with_invalid_query_parameters_is_not_found(client: Client, query: str) -> None:
    assert client.get(f"{STUDIO}?{query}").status_code == 404


def test_vendor_at_the_limit_of_drafts_is_told_to_delete_one(client: Client, listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_DRAFTS", 1)
    page = client.post(NEW, COMPLETE | {"slug": "borealis", "title": "Borealis"})
    assert page.status_code == 400
    assert "Delete a draft that you don&#x27;t need" in page.content.decode()
    assert Listing.objects.get() == listing


@pytest.mark.slow
def test_list_is_filtered_searched_and_paged(client: Client, vendor: VendorProfile, listing: Listing) -> None:
    for number in range(30):
        ListingFactory(store=vendor.store, category=listing.category, title=f"Tone {number:02}", slug=f"tone-{number:02}")
    Listing.objects.filter(slug="tone-07").update(status=ListingStatus.REJECTED)
    first = client.get(f"{STUDIO}?q=TONE")
    assert titles(first) == [f"Tone {number:02}" for number in range(29, 4, -1)]
    second = client.get(first.context["next"])
    assert titles(second) == [f"Tone {number:02}" for number in range(4, -1, -1)]
    assert second.context["next"] == ""
    assert titles(client.get(second.context["first"])) == titles(first)
    assert titles(client.get(f"{STUDIO}?status=Rejected")) == ["Tone 07"]
    assert "Show all" in client.get(f"{STUDIO}?status=Published").content.decode()
    assert {value: count for value, count, _ in first.context["tabs"]} == {
        "": 31,
        "Draft": 30,
        "PendingReview": 0,
        "Published": 0,
        "Rejected": 1,
    }


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": "字", "slug": ""}, "slug"),
        ({"slug": "suggest"}, "slug"),
        ({"base_price_minor": "NaN"}, "base_price_minor"),
    ],
)
def test_draft_that_cannot_be_made_keeps_what_was_typed(client: Client, change: dict[str, str], field: str) -> None:
    response = client.post(NEW, COMPLETE | change)
    assert errors_of(response) == [field]
    assert response.context["form"][field].value() == (COMPLETE | change)[field]
    assert not Listing.objects.exists()


@pytest.mark.slow
def test_slug_of_another_listing_is_refused_at_its_field(client: Client) -> None:
    on_sale(slug="aurora-sans")
    assert errors_of(client.post(NEW, COMPLETE)) == ["slug"]
    # One's own of another content is another listing too.
    assert client.post(NEW, COMPLETE | {"slug": "mine"}).status_code == 302
    assert errors_of(client.post(NEW, COMPLETE | {"slug": "mine", "title": "Borealis"})) == ["slug"]
    assert Listing.objects.count() == 2


def test_listing_form_sent_repeatedly_creates_one_draft(client: Client, vendor: VendorProfile) -> None:
    address = reverse("studio-listing", args=["aurora-sans"])
    assert [client.post(NEW, COMPLETE)["Location"] for _ in range(2)] == [address] * 2
    listing = Listing.objects.get()
    assert (listing.store, listing.base_price_minor, listing.status) == (vendor.store, 1999, ListingStatus.DRAFT)
    assert "a draft that is not on sale" in client.get(address).content.decode()


def test_slug_is_made_of_the_title_and_shown_while_typing(client: Client, listing: Listing) -> None:
    told = client.get(reverse("studio-slug-check"), {"title": "Höhenluft Nr. 7"}).content.decode()
    assert "/assets/hohenluft-nr-7" in told
    assert "taken" in client.get(reverse("studio-slug-check"), {"slug": listing.slug}).content.decode()
    client.post(NEW, COMPLETE | {"slug": "", "title": "Höhenluft Nr. 7"})
    assert Listing.objects.filter(slug="hohenluft-nr-7").exists()

"""Values of listings that are refused by a rule of their own; types, bounds and missing fields are the contract's (`test_refusals.py`)."""

import pytest
from rest_framework.test import APIClient

from catalog.models import Category, Listing

from .cases import ASSETS, CREATE, PATCH, pointers, problem

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"title": ""}, ("#/title", "blank")),
        ({"title": "   "}, ("#/title", "blank")),
        ({"title": "a\nb"}, ("#/title", "control_characters")),
        ({"description": "é" * 40_000}, ("#/description", "max_length")),
        ({"description": "\x00"}, ("#/description", "control_characters")),
        ({"categorySlug": "nothing"}, ("#/categorySlug", "unknown_category")),
        ({"categorySlug": "retired"}, ("#/categorySlug", "unknown_category")),
        ({"basePrice": 1.005}, ("#/basePrice", "decimals")),
        ({"videoUrl": "http://example.com/v"}, ("#/videoUrl", "invalid")),
        ({"videoUrl": "javascript:alert(1)"}, ("#/videoUrl", "invalid")),
        ({"tags": [""]}, ("#/tags/0", "blank")),
    ],
)
def test_bad_detail_is_named_on_create_and_update(
    change: dict[str, object], expected: tuple[str, str], client: APIClient, listing: Listing
) -> None:
    Category.objects.create(slug="retired", name="Retired", is_active=False)
    assert pointers(client.post(ASSETS, CREATE | {"slug": "new"} | change, format="json")) == [expected]
    assert pointers(client.patch(f"{ASSETS}/{listing.id}", PATCH | change, format="json")) == [expected]
    assert Listing.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"slug": "Aurora"}, ("#/slug", "invalid_slug")),
        ({"slug": "-aurora"}, ("#/slug", "invalid_slug")),
        ({"slug": "aurora "}, ("#/slug", "invalid_slug")),
        ({"slug": "\u0430urora"}, ("#/slug", "invalid_slug")),
        ({"slug": ""}, ("#/slug", "blank")),
        ({"slug": "search"}, ("#/slug", "reserved_slug")),
        ({"slug": "suggest"}, ("#/slug", "reserved_slug")),
        ({"slug": "download"}, ("#/slug", "reserved_slug")),
        ({"slug": "01900000-0000-7000-8000-000000000000"}, ("#/slug", "reserved_slug")),
        ({"slug": "01900000000070008000000000000000"}, ("#/slug", "reserved_slug")),
        ({"priceEur": 0.001}, ("#/priceEur", "decimals")),
        ({"allowedLicenseSlugs": []}, ("#/allowedLicenseSlugs", "empty")),
        ({"allowedLicenseSlugs": ["personal", "royal"]}, ("#/allowedLicenseSlugs/1", "unknown_license")),
    ],
)
def test_bad_field_is_named_on_create(change: dict[str, object], expected: tuple[str, str], client: APIClient) -> None:
    assert pointers(client.post(ASSETS, CREATE | change, format="json")) == [expected]
    assert not Listing.objects.exists()


def test_taken_slug_conflicts(client: APIClient, other_client: APIClient, listing: Listing) -> None:
    for caller in (client, other_client):
        assert problem(caller.post(ASSETS, CREATE, format="json")) == (409, "slug_taken")
    assert Listing.objects.count() == 1


@pytest.mark.parametrize("path", ["", "/regional-prices", "/licensing"])
def test_listing_under_review_is_locked(path: str, client: APIClient, listing: Listing) -> None:
    Listing.objects.update(status="PendingReview")
    for body in ({}, PATCH, {"nonsense": 1}):
        assert problem(client.patch(f"{ASSETS}/{listing.id}{path}", body, format="json")) == (409, "listing_locked")
    assert client.get(f"{ASSETS}/{listing.id}").json()["status"] == "PendingReview"

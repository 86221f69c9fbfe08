"""Bodies of listings that are refused, each with the field named."""

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
        ({"title": 5}, ("#/title", "invalid")),
        ({"title": "x" * 121}, ("#/title", "max_length")),
        ({"title": "a\nb"}, ("#/title", "control_characters")),
        ({"shortDescription": "x" * 201}, ("#/shortDescription", "max_length")),
        ({"description": "x" * 65_537}, ("#/description", "max_length")),
        ({"description": "é" * 40_000}, ("#/description", "max_length")),
        ({"description": "\x00"}, ("#/description", "control_characters")),
        ({"categorySlug": "nothing"}, ("#/categorySlug", "unknown_category")),
        ({"categorySlug": "retired"}, ("#/categorySlug", "unknown_category")),
        ({"categorySlug": ["fonts"]}, ("#/categorySlug", "invalid")),
        ({"categorySlug": None}, ("#/categorySlug", "null")),
        ({"basePrice": -0.01}, ("#/basePrice", "min_value")),
        ({"basePrice": 1_000_000}, ("#/basePrice", "max_value")),
        ({"basePrice": 1.005}, ("#/basePrice", "decimals")),
        ({"basePrice": "19.99"}, ("#/basePrice", "invalid")),
        ({"basePrice": True}, ("#/basePrice", "invalid")),
        ({"basePrice": None}, ("#/basePrice", "null")),
        ({"discountPercent": 101}, ("#/discountPercent", "max_value")),
        ({"discountPercent": -1}, ("#/discountPercent", "min_value")),
        ({"taxRatePercent": 100.01}, ("#/taxRatePercent", "max_value")),
        ({"fileType": "x" * 201}, ("#/fileType", "max_length")),
        ({"supportedPlatforms": "x" * 201}, ("#/supportedPlatforms", "max_length")),
        ({"version": "x" * 33}, ("#/version", "max_length")),
        ({"version": 2}, ("#/version", "invalid")),
        ({"videoUrl": "http://example.com/v"}, ("#/videoUrl", "invalid")),
        ({"videoUrl": "javascript:alert(1)"}, ("#/videoUrl", "invalid")),
        ({"videoUrl": "https://example.com/" + "x" * 2000}, ("#/videoUrl", "max_length")),
        ({"tags": [f"x{n}" for n in range(21)]}, ("#/tags", "max_length")),
        ({"tags": ["ok", "x" * 41]}, ("#/tags/1", "max_length")),
        ({"tags": "sans"}, ("#/tags", "not_a_list")),
        ({"tags": [""]}, ("#/tags/0", "blank")),
        ({"discountPrecent": 5}, ("#/discountPrecent", "unknown_field")),
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
        ({"slug": 7}, ("#/slug", "invalid")),
        ({"slug": "x" * 81}, ("#/slug", "max_length")),
        ({"slug": "search"}, ("#/slug", "reserved_slug")),
        ({"slug": "suggest"}, ("#/slug", "reserved_slug")),
        ({"slug": "download"}, ("#/slug", "reserved_slug")),
        ({"slug": "01900000-0000-7000-8000-000000000000"}, ("#/slug", "reserved_slug")),
        ({"slug": "01900000000070008000000000000000"}, ("#/slug", "reserved_slug")),
        ({"priceInr": -1}, ("#/priceInr", "min_value")),
        ({"priceEur": 0.001}, ("#/priceEur", "decimals")),
        ({"readme": "x" * 65_537}, ("#/readme", "max_length")),
        ({"allowedLicenseSlugs": []}, ("#/allowedLicenseSlugs", "empty")),
        ({"allowedLicenseSlugs": ["personal", "royal"]}, ("#/allowedLicenseSlugs/1", "unknown_license")),
    ],
)
def test_bad_field_is_named_on_create(change: dict[str, object], expected: tuple[str, str], client: APIClient) -> None:
    assert pointers(client.post(ASSETS, CREATE | change, format="json")) == [expected]
    assert not Listing.objects.exists()


def test_missing_required_fields_are_all_named(client: APIClient, listing: Listing) -> None:
    created = client.post(ASSETS, {}, format="json")
    updated = client.patch(f"{ASSETS}/{listing.id}", {}, format="json")
    assert set(pointers(created)) == {(f"#/{name}", "required") for name in CREATE}
    assert set(pointers(updated)) == {(f"#/{name}", "required") for name in PATCH}


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        ("{", "application/json", (400, "malformed_body")),
        ("[]", "application/json", (400, "invalid_input")),
        ("a=1", "application/x-www-form-urlencoded", (415, "unsupported_type")),
        ('{"title": "' + "x" * 2**20 + '"}', "application/json", (413, "body_too_large")),
    ],
)
def test_unreadable_body_is_refused(body: str, content_type: str, expected: tuple[int, str], client: APIClient, listing: Listing) -> None:
    for path in ("", f"/{listing.id}", f"/{listing.id}/regional-prices", f"/{listing.id}/licensing"):
        send = client.patch if path else client.post
        assert problem(send(ASSETS + path, body, content_type=content_type)) == expected


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

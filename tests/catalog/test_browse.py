"""GET /api/v1/assets: filters, orders, pages, caching."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Listing
from catalog.services.purchase_counts import count_purchases, record_purchase, record_refund
from catalog.services.visibility import listing_changed, store_visibility_changed
from tests.factories import PreviewFactory, PublishedListingFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def ids(answer: Any) -> Any:
    return [item["id"] for item in answer["items"]]


def test_listings_of_a_closed_store_are_hidden_at_once_and_come_back(get: Any) -> None:
    listing = PublishedListingFactory()
    assert get("assets")["total"] == 1
    for is_open, total in ((False, 0), (True, 1)):
        listing.store.is_open = is_open
        listing.store.save()
        store_visibility_changed(listing.store)
        assert get("assets")["total"] == total
        assert len(get("assets/search", q=listing.title)["results"]) == total


def test_listed_asset_has_the_documented_fields(get: Any) -> None:
    listing = PublishedListingFactory(
        price_inr_minor=49_950,
        base_price_minor=600,
        discount_bp=1000,
        tier_requirement="pro",
        allowed_license_slugs=["commercial", "extended"],
    )
    card = {"key": "k", "size": 1, "sha256": "0" * 64, "width": 640, "height": 400}
    picture = PreviewFactory(listing=listing, renditions={"card": card})
    listing_changed(listing)
    item = {
        "id": str(listing.id),
        "title": listing.title,
        "priceINR": 449.55,
        "tierRequirement": "pro",
        # Added.
        "slug": listing.slug,
        "vendor": {"storeName": listing.store.name, "storeSlug": listing.store.slug, "logoUrl": None},
        "priceUSD": 5.4,
        "priceEUR": None,
        "thumbnailUrl": f"/api/v1/previews/{picture.id}?size=card",
        "licenses": [
            {"slug": "commercial", "priceINR": 449.55, "priceUSD": 5.4, "priceEUR": None},
            {"slug": "extended", "priceINR": 1123.88, "priceUSD": 13.5, "priceEUR": None},
        ],
    }
    assert get("assets") == {"total": 1, "page": 1, "items": [item], "nextCursor": None}
    [found] = get("assets/search", q=listing.title)["results"]
    assert found == item | {"score": found["score"]}


def test_purchases_and_refunds_reorder_the_very_next_response_once_they_are_counted(get: Any, new_version: Any) -> None:
    now = timezone.now()
    first = PublishedListingFactory(published_at=now)
    second = PublishedListingFactory(published_at=now - timedelta(days=1))
    Listing.objects.get(pk=second.pk).stats.delete()
    before = [str(first.id), str(second.id)]
    assert ids(get("assets")) == before
    assert new_version()
    record_purchase(listing_id=second.id)
    # Cached responses stay good, and pages that are read meanwhile go on in the order that the first ones had.
    assert not new_version()
    assert ids(get("assets", cursor="")) == before
    count_purchases()
    assert ids(get("assets")) == before[::-1]
    record_refund(listing_id=second.id)
    count_purchases()
    assert ids(get("assets")) == before


def test_any_origin_may_ask_for_and_read_public_responses_and_no_other(anonymous: APIClient) -> None:
    for path in ("assets", "categories", "assets/search?q=x", "assets/suggest?q=x", "assets/unknown"):
        response = anonymous.get(f"/api/v1/{path}", HTTP_ORIGIN="https://anywhere.example")
        assert response["Access-Control-Allow-Origin"] == anonymous.get(f"/api/v1/{path}")["Access-Control-Allow-Origin"] == "*"
        assert "origin" not in response.get("Vary", "").lower()
        assert "ETag" in response["Access-Control-Expose-Headers"]
        assert "Access-Control-Allow-Credentials" not in response
    asked = {"Origin": "https://anywhere.example", "Access-Control-Request-Method": "GET"}
    assert anonymous.options("/api/v1/assets", headers=asked)["Access-Control-Allow-Origin"] == "*"
    for path in ("assets/x/manifest", "wallet", "library"):
        for method in (anonymous.get, anonymous.options):
            assert "Access-Control-Allow-Origin" not in method(f"/api/v1/{path}", headers=asked)

"""GET /api/v1/assets: filters, orders, pages, caching."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.catalog_version import change_version
from catalog.models import Listing, Preview
from catalog.services.purchase_counts import count_purchases, record_purchase, record_refund
from catalog.services.visibility import listing_changed, store_visibility_changed
from tests.factories import CategoryFactory, ListingFactory, PublishedListingFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def ids(answer: Any) -> Any:
    return [item["id"] for item in answer["items"]]


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("limit", "0", "min_value"),
        ("limit", "-1", "min_value"),
        ("limit", "NaN", "invalid"),
        ("limit", "1.5", "invalid"),
        ("limit", "1e3", "invalid"),
        ("limit", "٣a", "invalid"),
        ("limit", "9" * 2000, "max_string_length"),
        ("page", "0", "min_value"),
        ("page", "-5", "min_value"),
        ("page", "first", "invalid"),
        ("page", "1000001", "max_value"),
        ("sort", "cheapest", "invalid_choice"),
        ("sort", "POPULAR", "invalid_choice"),
        ("tier", "gold", "invalid_choice"),
        ("tier", "Free", "invalid_choice"),
        ("category", "x" * 81, "max_length"),
        ("category", "a\x00b", "null_characters_not_allowed"),
    ],
)
def test_bad_parameter_is_named(refused: Any, name: str, value: str, code: str) -> None:
    assert refused("assets", **{name: value}) == [(f"?{name}", code)]


def test_two_bad_parameters_are_both_named(refused: Any) -> None:
    assert {pointer for pointer, _ in refused("assets", limit="0", sort="x")} == {"?limit", "?sort"}


def test_category_none_in_the_query_is_an_unknown_category(anonymous: APIClient) -> None:
    listing = PublishedListingFactory()
    assert ids(anonymous.get("/api/v1/assets", {"category": "None"}).json()) == []
    assert ids(anonymous.get("/api/v1/assets").json()) == [str(listing.id)]


def test_invalid_credential_at_a_public_operation_is_a_401(anonymous: APIClient) -> None:
    response = anonymous.get("/api/v1/assets", HTTP_X_API_KEY="cam_sk_wrong")
    assert (response.status_code, response.json()["code"]) == (401, "invalid_credential")


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_other_methods_at_the_catalog_are_a_405(anonymous: APIClient, method: str) -> None:
    response = getattr(anonymous, method)("/api/v1/assets")
    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")


def test_unknown_category_is_empty(get: Any) -> None:
    PublishedListingFactory()
    assert get("assets", category="nonsense") == {"total": 0, "page": 1, "items": [], "nextCursor": None}


def test_page_beyond_the_end_is_empty_with_the_total(get: Any) -> None:
    PublishedListingFactory()
    assert get("assets", page=7) == {"total": 1, "page": 7, "items": [], "nextCursor": None}


def test_unpublished_listings_are_hidden(get: Any) -> None:
    ListingFactory()
    ListingFactory(status="PendingReview")
    ListingFactory(status="Rejected")
    assert get("assets")["total"] == 0


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
        title="Grotesk",
        slug="grotesk",
        store__name="Foundry",
        store__slug="foundry",
        price_inr_minor=49_950,
        base_price_minor=600,
        discount_bp=1000,
        tier_requirement="pro",
        allowed_license_slugs=["commercial", "extended"],
    )
    picture = Preview.objects.create(
        listing=listing, kind="Gallery", slot=0, object_key="previews/1", content_type="image/png", size=1, sha256="0" * 64,
        renditions={"card": {"key": "k", "size": 1, "sha256": "0" * 64, "width": 640, "height": 400}},
    )  # fmt: skip
    listing_changed(listing)
    item = {
        "id": str(listing.id),
        "title": "Grotesk",
        "priceINR": 449.55,
        "tierRequirement": "pro",
        # Added.
        "slug": "grotesk",
        "vendor": {"storeName": "Foundry", "storeSlug": "foundry", "logoUrl": None},
        "priceUSD": 5.4,
        "priceEUR": None,
        "thumbnailUrl": f"/api/v1/previews/{picture.id}?size=card",
        "licenses": [
            {"slug": "commercial", "priceINR": 449.55, "priceUSD": 5.4, "priceEUR": None},
            {"slug": "extended", "priceINR": 1123.88, "priceUSD": 13.5, "priceEUR": None},
        ],
    }
    assert get("assets") == {"total": 1, "page": 1, "items": [item], "nextCursor": None}
    [found] = get("assets/search", q="grotesk")["results"]
    assert found == item | {"score": found["score"]}


def test_price_without_inr_is_null_and_a_free_listing_costs_zero(get: Any) -> None:
    PublishedListingFactory(title="No INR")
    PublishedListingFactory(title="Free", price_eur_minor=0)
    prices = {item["title"]: item["priceINR"] for item in get("assets")["items"]}
    assert prices == {"No INR": None, "Free": 0}


def test_limit_above_the_maximum_is_cut_and_the_default_is_20(get: Any) -> None:
    for _ in range(52):
        PublishedListingFactory(description="", short_description="x")
    assert [len(get("assets", limit=limit)["items"]) for limit in (51, 10**9, 50)] == [50, 50, 50]
    assert len(get("assets")["items"]) == 20
    assert get("assets", limit=51)["total"] == 52


def test_filters_by_category_and_tier(get: Any) -> None:
    CategoryFactory(slug="motion", name="Motion")
    font = PublishedListingFactory(tier_requirement="pro")
    motion = PublishedListingFactory(category__slug="motion", category__name="Motion")
    assert ids(get("assets", category="fonts")) == [str(font.id)]
    assert ids(get("assets", tier="pro")) == [str(font.id)]
    assert ids(get("assets", tier="free", category="motion")) == [str(motion.id)]
    assert get("assets", tier="vip")["total"] == 0


def test_empty_query_parameters_are_ignored(get: Any) -> None:
    PublishedListingFactory()
    assert get("assets", category="", tier="", limit="", page="", sort="")["total"] == 1


def test_popular_order_is_by_purchases_then_publication(get: Any) -> None:
    now = timezone.now()
    old = PublishedListingFactory(published_at=now - timedelta(days=2))
    new = PublishedListingFactory(published_at=now)
    bought = PublishedListingFactory(published_at=now - timedelta(days=9), purchases=1)
    assert ids(get("assets")) == [str(row.id) for row in (bought, new, old)]


def test_newest_order_is_by_publication(get: Any) -> None:
    now = timezone.now()
    old = PublishedListingFactory(published_at=now - timedelta(days=2), purchases=5)
    new = PublishedListingFactory(published_at=now)
    assert ids(get("assets", sort="newest")) == [str(new.id), str(old.id)]


def test_price_order_is_by_the_shown_price_and_listings_without_inr_come_last_by_usd(get: Any) -> None:
    discounted = PublishedListingFactory(price_inr_minor=90_000, discount_bp=9000, base_price_minor=9999)
    dear = PublishedListingFactory(price_inr_minor=50_000)
    free = PublishedListingFactory(price_inr_minor=None, base_price_minor=0)
    cheap_usd = PublishedListingFactory(base_price_minor=100)
    dear_usd = PublishedListingFactory(base_price_minor=200)
    ascending = [str(row.id) for row in (free, discounted, dear, cheap_usd, dear_usd)]
    descending = [str(row.id) for row in (dear, discounted, free, dear_usd, cheap_usd)]
    assert ids(get("assets", sort="price_asc")) == ascending
    assert ids(get("assets", sort="price_desc")) == descending


@pytest.mark.parametrize("sort", ["popular", "newest", "price_asc", "price_desc"])
def test_pages_of_equal_listings_neither_repeat_nor_skip(get: Any, sort: str) -> None:
    now = timezone.now()
    made = {str(PublishedListingFactory(published_at=now, price_inr_minor=100).id) for _ in range(7)}
    pages = [ids(get("assets", sort=sort, limit=2, page=page)) for page in (1, 2, 3, 4)]
    seen = [row for page in pages for row in page]
    assert [len(page) for page in pages] == [2, 2, 2, 1]
    assert set(seen) == made
    assert seen == sorted(seen)


def test_slugs_of_parameters_are_never_sql(get: Any) -> None:
    PublishedListingFactory()
    assert get("assets", category="fonts' OR '1'='1")["total"] == 0


def test_catalog_response_has_a_strong_etag_and_is_always_revalidated(anonymous: APIClient) -> None:
    listing = PublishedListingFactory()
    first = anonymous.get("/api/v1/assets")
    assert first["Cache-Control"] == "public, max-age=0, s-maxage=5"
    assert first["ETag"].startswith('"')
    for tag in (first["ETag"], f'"other", {first["ETag"]}', f"W/{first['ETag']}", "*"):
        again = anonymous.get("/api/v1/assets", HTTP_IF_NONE_MATCH=tag)
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
        assert again["Cache-Control"] == "public, max-age=0, s-maxage=5"
    listing.title = "Renamed"
    listing.save()
    listing_changed(listing)
    changed = anonymous.get("/api/v1/assets", HTTP_IF_NONE_MATCH=first["ETag"])
    assert changed.status_code == 200
    assert changed.json()["items"][0]["title"] == "Renamed"


def test_head_is_answered_like_get_without_a_body(anonymous: APIClient) -> None:
    response = anonymous.head("/api/v1/assets")
    assert (response.status_code, response["ETag"]) == (200, anonymous.get("/api/v1/assets")["ETag"])


def test_a_change_that_makes_the_same_bytes_keeps_the_etag(anonymous: APIClient) -> None:
    PublishedListingFactory()
    first = anonymous.get("/api/v1/assets")["ETag"]
    change_version()
    assert anonymous.get("/api/v1/assets")["ETag"] == first


def test_purchases_and_refunds_reorder_the_very_next_response_once_they_are_counted(get: Any) -> None:
    now = timezone.now()
    first = PublishedListingFactory(published_at=now)
    second = PublishedListingFactory(published_at=now - timedelta(days=1))
    Listing.objects.get(pk=second.pk).stats.delete()
    before = [str(first.id), str(second.id)]
    assert ids(get("assets")) == before
    record_purchase(listing_id=second.id)
    # Pages that are read meanwhile go on in the order that the first ones had.
    assert ids(get("assets", cursor="")) == before
    count_purchases()
    assert ids(get("assets")) == before[::-1]
    record_refund(listing_id=second.id)
    count_purchases()
    assert ids(get("assets")) == before


def test_purchase_count_never_falls_below_zero() -> None:
    listing = PublishedListingFactory()
    record_refund(listing_id=listing.id)
    listing.stats.refresh_from_db()
    assert listing.stats.purchases == 0


def test_purchases_do_not_invalidate_cached_responses(new_version: Any) -> None:
    listing = PublishedListingFactory()
    assert new_version()
    record_purchase(listing_id=listing.id)
    record_refund(listing_id=listing.id)
    assert not new_version()


def test_any_origin_may_read(anonymous: APIClient) -> None:
    for path in ("assets", "categories", "assets/search?q=x", "assets/unknown"):
        response = anonymous.get(f"/api/v1/{path}", HTTP_ORIGIN="https://anywhere.example")
        assert response["Access-Control-Allow-Origin"] == anonymous.get(f"/api/v1/{path}")["Access-Control-Allow-Origin"] == "*"
        assert "origin" not in response.get("Vary", "").lower()
        assert "ETag" in response["Access-Control-Expose-Headers"]
        assert "Access-Control-Allow-Credentials" not in response


def test_any_origin_may_ask_before_it_reads(anonymous: APIClient) -> None:
    asked = {"Origin": "https://anywhere.example", "Access-Control-Request-Method": "GET"}
    allowed = anonymous.options("/api/v1/assets", headers=asked)
    assert (allowed.status_code, allowed["Access-Control-Allow-Origin"]) == (200, "*")
    assert "Access-Control-Allow-Origin" not in anonymous.options("/api/v1/wallet", headers=asked)


def test_other_origins_may_not_read_what_needs_a_credential(anonymous: APIClient) -> None:
    assert "Access-Control-Allow-Origin" in anonymous.get("/api/v1/assets", HTTP_ORIGIN="https://anywhere.example")
    for path in ("assets/x/manifest", "wallet", "library"):
        response = anonymous.get(f"/api/v1/{path}", HTTP_ORIGIN="https://anywhere.example")
        assert "Access-Control-Allow-Origin" not in response

"""GET /api/v1/assets/{id}, and the prices that it shows."""

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from catalog import pricing
from catalog.manifests import ensure_manifest
from catalog.models import LicenseTier, Listing
from catalog.services.taxonomy import save_license_tier
from catalog.services.visibility import listing_changed
from marketplace.core import bounds
from marketplace.core.money import Currency
from tests.catalog.cases import add_candidate, published, submitted
from tests.factories import DeliverableFactory, PreviewFactory, PublishedListingFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def tiers() -> Any:
    made = [("personal", 1), ("commercial", 2), ("extended", 5)]
    for slug, factor in made:
        LicenseTier.objects.filter(slug=slug).update(summary=f"{slug}.", price_factor=factor)
    return [LicenseTier.objects.get(slug=slug) for slug, _ in made]


def test_nothing_of_an_asset_in_a_closed_store_or_that_was_taken_down_or_waits_is_found(anonymous: APIClient, key_client: Any) -> None:
    caller = key_client()
    for is_open, status in ((False, "Published"), (True, "Rejected"), (True, "PendingReview")):
        listing = PublishedListingFactory(store__is_open=is_open)
        listing.status = status
        listing.save()
        listing_changed(listing)
        preview = PreviewFactory(listing=listing)
        for client, path in (
            (anonymous, f"/api/v1/assets/{listing.id}"),
            (anonymous, preview.url),
            (anonymous, f"/api/v1/assets/{listing.id}/changes"),
            (caller, f"/api/v1/assets/{listing.id}/manifest"),
        ):
            response = client.get(path)
            assert (response.status_code, response.json()["code"]) == (404, "not_found"), (is_open, status, path)


def test_unpublished_asset_is_not_found_in_the_next_response(anonymous: APIClient) -> None:
    listing = PublishedListingFactory()
    etag = anonymous.get(f"/api/v1/assets/{listing.id}")["ETag"]
    listing.status = "Draft"
    listing.save()
    listing_changed(listing)
    response = anonymous.get(f"/api/v1/assets/{listing.id}", HTTP_IF_NONE_MATCH=etag)
    assert (response.status_code, response["Cache-Control"]) == (404, "no-store")


def test_asset_detail_shows_texts_prices_offers_previews_and_the_reviewed_file(get: Any, tiers: Any) -> None:
    listing = PublishedListingFactory(
        title="Grotesk",
        slug="grotesk",
        short_description="A grotesque.",
        description="# Grotesk",
        supported_platforms="Figma",
        video_url="https://video.example/1",
        tags=["sans"],
        base_price_minor=2000,
        price_inr_minor=150_001,
        discount_bp=2500,
        tax_rate_bp=1800,
        allowed_license_slugs=["commercial", "extended", "unknown"],
        purchases=3,
        published_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    )
    preview = PreviewFactory(listing=listing, alt_text="Two lines of type")
    sound = PreviewFactory(listing=listing, kind="AudioPreview", content_type="audio/mpeg")
    # The file that waits for its review is not shown.
    listing.candidate_deliverable = DeliverableFactory(listing=listing, sha256="cd" * 32)
    listing.save()
    listing_changed(listing)
    answer = get(f"assets/{listing.id}")
    assert answer["previews"] == [
        {"id": str(sound.id), "assetId": str(listing.id), "kind": "AudioPreview", "url": f"/api/v1/previews/{sound.id}"},
        {
            "id": str(preview.id),
            "assetId": str(listing.id),
            "kind": "Gallery",
            "sortOrder": 0,
            "url": f"/api/v1/previews/{preview.id}",
            "altText": "Two lines of type",
        },
    ]
    expected = {
        "shortDescription": "A grotesque.",
        "description": "# Grotesk",
        "category": {"slug": "fonts", "name": listing.category.name},
        "supportedPlatforms": "Figma",
        "videoUrl": "https://video.example/1",
        "tags": ["sans"],
        "priceUSD": 15.0,
        "priceINR": 1125.01,
        "priceEUR": None,
        "discountPercent": 25.0,
        "discountEndsAt": None,
        "listPrices": {"USD": 20.0, "INR": 1500.01, "EUR": None},
        "taxRatePercent": 18.0,
        "licenses": [
            {"slug": "commercial", "name": "Commercial", "summary": "commercial.", "priceUSD": 15.0, "priceINR": 1125.01, "priceEUR": None},
            {"slug": "extended", "name": "Extended", "summary": "extended.", "priceUSD": 37.5, "priceINR": 2812.53, "priceEUR": None},
        ],
        "file": {"size": 1234, "checksum": "ab" * 32, "technical": listing.approved_deliverable.technical},
        "publishedAt": "2026-01-02T03:04:05Z",
        "popularity": 3,
    }
    assert answer | expected == answer
    assert get("assets/grotesk")["id"] == str(listing.id)
    assert get(f"assets/{str(listing.id).upper()}")["id"] == str(listing.id)


def versions_shown(listing: Listing, key_client: Any) -> list[str]:
    """Return the version as the API, the manifest, its guidance and the shop show it."""
    listing = Listing.objects.get(pk=listing.pk)
    ensure_manifest(listing)
    listing_changed(listing)
    client = key_client()
    detail, manifest = (client.get(f"/api/v1/assets/{listing.pk}{path}").json() for path in ("", "/manifest"))
    page = BeautifulSoup(Client().get(f"/assets/{listing.slug}").content, "html.parser")
    [shown] = page.select("dt:-soup-contains('Version') + dd")
    guidance = manifest["promptInstructions"]["howToUse"][0].partition("version “")[2].partition("”")[0]
    return [detail["version"], manifest["version"], guidance, shown.get_text().split()[0]]


# After its approval, the new file has a version of its own: `test_changes.py`.
@pytest.mark.database_full
@pytest.mark.parametrize(("approved", "shown"), [("1.0", "1.0"), ("", "2.0")])
def test_version_is_that_of_the_file_on_sale_or_of_the_listing_if_it_has_none(key_client: Any, approved: str, shown: str) -> None:
    listing = published(version=approved)
    listing.version = "2.0"
    submitted(add_candidate(listing))
    assert versions_shown(listing, key_client) == [shown] * 4


def test_free_in_one_currency_is_free_in_all(get: Any, tiers: Any) -> None:
    listing = PublishedListingFactory(base_price_minor=2000, price_eur_minor=0)
    answer = get(f"assets/{listing.id}")
    assert [answer[f"price{currency}"] for currency in ("USD", "INR", "EUR")] == [0, 0, 0]
    assert answer["listPrices"] == {"USD": 20.0, "INR": None, "EUR": 0}
    assert {offer["priceINR"] for offer in answer["licenses"]} == {0}


def test_inactive_tier_is_not_offered_and_the_next_one_costs_the_listing_price(get: Any, tiers: Any) -> None:
    listing = PublishedListingFactory(base_price_minor=1000)
    tiers[0].is_active = False
    save_license_tier(tier=tiers[0], changed=["is_active"], actor=UserFactory())
    assert [(offer["slug"], offer["priceUSD"]) for offer in get(f"assets/{listing.id}")["licenses"]] == [
        ("commercial", 10.0),
        ("extended", 25.0),
    ]


def test_listing_without_statistics_or_a_permitted_tier_has_no_purchases_and_offers_no_licence(get: Any, tiers: Any) -> None:
    listing = PublishedListingFactory(allowed_license_slugs=["gone"])
    listing.stats.delete()
    answer = get(f"assets/{listing.id}")
    assert (answer["licenses"], answer["priceUSD"], answer["popularity"]) == ([], 10.0, 0)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    price=st.integers(1, bounds.MAX_PRICE_MINOR),
    first=st.decimals("0.01", "9999.99", places=2),
    other=st.decimals("0.01", "9999.99", places=2),
)
def test_tier_prices_are_exact(price: int, first: Decimal, other: Decimal) -> None:
    listing = Listing(base_price_minor=price)
    row = [LicenseTier(slug="a", price_factor=first), LicenseTier(slug="b", price_factor=other)]
    exact = Fraction(price) * Fraction(other) / Fraction(first)
    got = pricing.price_of(listing, row[1], row, Currency.USD)
    assert got is not None
    assert abs(Fraction(got) - exact) <= Fraction(1, 2)
    assert pricing.price_of(listing, row[0], row, Currency.USD) == price
    assert pricing.price_of(listing, row[1], row, Currency.INR) is None

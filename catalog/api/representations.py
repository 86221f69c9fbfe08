"""Builds public response bodies directly from rows, without DRF serializers; those in `serializers.answers` document the same shapes."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from marketplace.core import money

from .. import pricing
from ..models import Category, LicenseTier, Listing, Preview
from ..models.files import PreviewKind
from ..search import Hit, Suggestion
from ..selectors import Facets, Row, Total


def category_list(categories: Iterable[Category]) -> dict[str, Any]:
    """Return the answer of GET categories."""
    items = [
        {
            "slug": category.slug,
            "name": category.name,
            "description": category.description,
            "icon": category.icon,
            "sortOrder": category.sort_order,
            "assetCount": category.asset_count,  # type: ignore[attr-defined]  # annotated by the selector
            "metadata": category.metadata,
        }
        for category in categories
    ]
    return {"total": len(items), "items": items}


def asset_page(rows: Iterable[Row], *, total: Total, page: int, cursor: str | None) -> dict[str, Any]:
    """Return the answer of GET assets."""
    items = [{"id": row.id, "title": row.title, "priceINR": money.to_number_or_none(row.inr), "tierRequirement": row.tier} for row in rows]
    body = {"total": total.listings, "page": page, "items": items, "nextCursor": cursor}
    return body if total.exact else body | {"totalIsExact": False}


def facets(counts: Facets, *, exact: bool) -> dict[str, Any]:
    """Return facets as a part of an answer."""
    shown = {name: [{"value": value, "count": count} for value, count in values] for name, values in counts.items()}
    return {"facets": shown, "facetsAreExact": exact}


def search_results(query: str, hits: Sequence[Hit], titles: Mapping[uuid.UUID, str]) -> dict[str, Any]:
    """Return the answer of GET assets/search."""
    return {
        "query": query,
        "count": len(hits),
        "results": [{"id": hit.id, "title": titles[hit.id], "score": hit.score} for hit in hits if hit.id in titles],
    }


def suggestions(query: str, found: Sequence[Suggestion]) -> dict[str, Any]:
    """Return the answer of GET assets/suggest."""
    items = [{"id": item.id, "slug": item.slug, "title": item.title, "category": item.category} for item in found]
    return {"query": query, "suggestions": items}


def asset_detail(listing: Listing, *, previews: Iterable[Preview], tiers: Sequence[LicenseTier], popularity: int) -> dict[str, Any]:
    """Return the answer of GET assets/{id}."""
    file, before = listing.live_deliverable, pricing.list_prices(listing)
    return {
        "id": listing.id,
        "slug": listing.slug,
        "title": listing.title,
        "shortDescription": listing.short_description,
        "description": listing.description,
        "category": {"slug": listing.category.slug, "name": listing.category.name},
        "vendor": {"storeName": listing.store.name, "storeSlug": listing.store.slug},
        **_prices(pricing.sale_prices(listing)),
        "discountPercent": listing.discount_bp / 100,
        "listPrices": {
            "USD": money.to_number_or_none(before.usd),
            "INR": money.to_number_or_none(before.inr),
            "EUR": money.to_number_or_none(before.eur),
        },
        "taxRatePercent": listing.tax_rate_bp / 100,
        "tierRequirement": listing.tier_requirement,
        "fileType": listing.file_type,
        "supportedPlatforms": listing.supported_platforms,
        "version": listing.version,
        "videoUrl": listing.video_url,
        "tags": listing.tags,
        "licenses": license_offers(listing, tiers),
        "previews": [preview_record(preview) for preview in previews],
        # Published listings have a reviewed file: the table's own constraint.
        "file": file and {"size": file.file_size, "checksum": file.sha256, "technical": file.public_technical},
        "publishedAt": listing.published_at,
        "updatedAt": listing.updated_at,
        "popularity": popularity,
    }


def license_offers(listing: Listing, tiers: Sequence[LicenseTier]) -> list[dict[str, Any]]:
    """Return the permitted licence tiers with what each costs now."""
    return [
        {"slug": tier.slug, "name": tier.name, "summary": tier.summary, **_prices(pricing.prices_of(listing, tier, tiers))}
        for tier in pricing.permitted_tiers(listing, tiers)
    ]


def preview_record(preview: Preview) -> dict[str, Any]:
    """Return a preview as the reference records it (section 2)."""
    record = {"id": preview.id, "assetId": preview.listing_id, "kind": preview.kind, "url": preview.url}
    return record | {"sortOrder": preview.slot, "altText": preview.alt_text} if preview.kind == PreviewKind.GALLERY else record


def _prices(prices: pricing.Prices) -> dict[str, float | None]:
    return {
        "priceUSD": money.to_number_or_none(prices.usd),
        "priceINR": money.to_number_or_none(prices.inr),
        "priceEUR": money.to_number_or_none(prices.eur),
    }

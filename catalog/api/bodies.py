"""The response bodies of the catalog's operations as JSON values, shared by the API and the MCP tools."""

from collections.abc import Mapping
from typing import Any

from .. import selectors
from ..manifests import manifest_of
from ..manifests.public import public_manifest
from ..search import search
from . import representations as shown
from .browsing import filters_of
from .filters import matching_of
from .serializers import SEARCH_FACETED


def categories() -> dict[str, Any]:
    """Return the answer of GET categories."""
    return shown.category_list(selectors.categories_with_counts())


def search_results(query: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of GET assets/search to a validated query."""
    q, limit, names, filters = query["q"], query["limit"], query.get("facets", []), filters_of(query)
    within = matching_of(filters).queryset() if filters else None
    found = search(q, within=within, limit=SEARCH_FACETED if names else limit)
    hits = found.hits[:limit]
    answer = shown.search_results(q, hits, selectors.titles_of(hit.id for hit in hits))
    if not names:
        return answer
    counts = selectors.facets_of_listings([hit.id for hit in found.hits], names)
    return answer | shown.facets(counts, exact=found.total_is_exact and found.next_cursor is None)


def asset(asset_id: str) -> dict[str, Any]:
    """Return the answer of GET assets/{id}.

    Raises:
        NotFound: no such asset is for sale.
    """
    detail, tiers = selectors.detail_for_sale(asset_id), selectors.active_tiers()
    return shown.asset_detail(detail.listing, previews=detail.previews, tiers=tiers, popularity=detail.popularity)


def manifest(asset_id: str) -> dict[str, Any]:
    """Return the answer of GET assets/{id}/manifest.

    Raises:
        NotFound: no such asset is for sale.
    """
    listing = selectors.listing_for_sale(asset_id)
    offers = shown.license_offers(listing, selectors.active_tiers())
    return public_manifest(listing, manifest_of(listing), licenses=offers)

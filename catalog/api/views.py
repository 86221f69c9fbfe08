"""The public catalog's endpoints (reference section 4)."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from marketplace.core.access import PUBLIC, Access, api_key_only
from marketplace.core.api.serializers import parse_query
from marketplace.core.api.views import ApiViewSet
from marketplace.core.errors import InvalidInput, NotFound, Problem
from marketplace.core.scopes import Scope

from .. import selectors
from ..manifests import manifest_of
from ..manifests.public import public_manifest
from ..search import search, suggest
from . import representations as shown
from . import serializers as shapes
from .browsing import answer, browsing_of, facets_of_hits, filters_of, items_within, parameters_of
from .caching import PRIVATE, Memo, public_answer

ASSET_ID = OpenApiParameter("asset_id", str, OpenApiParameter.PATH, description="The asset's id or its slug.")
UNCHANGED = OpenApiResponse(description="If-None-Match names the present ETag.")


class CategoryViewSet(ApiViewSet):
    """The shelves."""

    access: ClassVar[Mapping[str, Access]] = {"list": PUBLIC}

    @extend_schema(operation_id="listCategories", tags=["catalog"], responses={200: shapes.CategoryList, 304: UNCHANGED})
    def list(self, request: Request) -> HttpResponseBase:
        """List every active category with the number of assets for sale in it."""
        return public_answer(request, lambda _memo: shown.category_list(selectors.categories_with_counts()))


class AssetViewSet(ApiViewSet):
    """Assets for sale."""

    access: ClassVar[Mapping[str, Access]] = {
        "list": PUBLIC,
        "retrieve": PUBLIC,
        "search": PUBLIC,
        "suggest": PUBLIC,
        "manifest": api_key_only(Scope.CATALOG_READ),
    }
    problems: ClassVar[Mapping[str, tuple[type[Problem], ...]]] = {
        "list": (InvalidInput,),
        "search": (InvalidInput,),
        "suggest": (InvalidInput,),
        "retrieve": (NotFound,),
        "manifest": (NotFound,),
    }

    @extend_schema(
        operation_id="listAssets", tags=["catalog"], parameters=[shapes.BrowseQuery], responses={200: shapes.AssetPage, 304: UNCHANGED}
    )
    def list(self, request: Request) -> HttpResponseBase:
        """Browse the assets for sale, page by page."""
        browsing = browsing_of(parameters_of(request))
        return public_answer(request, lambda memo: answer(browsing, memo))

    @extend_schema(
        operation_id="searchAssets",
        tags=["catalog"],
        parameters=[shapes.SearchQuery],
        responses={200: shapes.SearchResults, 304: UNCHANGED},
    )
    def search(self, request: Request) -> HttpResponseBase:
        """Search titles, tags and descriptions; misspelt and cut words are found too."""
        query = parse_query(shapes.SearchQuery, request)
        q, limit, names, filters = query["q"], query["limit"], query.get("facets", []), filters_of(query)

        def build(memo: Memo) -> dict[str, Any]:
            within = items_within(filters) if filters else None
            if not names:
                return shown.search_results(q, search(q, limit, within))
            hits = search(q, shapes.SEARCH_FACETED, within)
            counts = facets_of_hits([hit.id for hit in hits], names, memo)
            return shown.search_results(q, hits[:limit]) | shown.facets(counts, exact=len(hits) < shapes.SEARCH_FACETED)

        return public_answer(request, build)

    @extend_schema(
        operation_id="suggestAssets",
        tags=["catalog"],
        parameters=[shapes.SuggestQuery],
        responses={200: shapes.Suggestions, 304: UNCHANGED},
    )
    def suggest(self, request: Request) -> HttpResponseBase:
        """Suggest assets while a name is being typed."""
        q = parse_query(shapes.SuggestQuery, request)["q"]
        return public_answer(request, lambda _memo: shown.suggestions(q, suggest(q)))

    @extend_schema(operation_id="getAsset", tags=["catalog"], parameters=[ASSET_ID], responses={200: shapes.AssetDetail, 304: UNCHANGED})
    def retrieve(self, request: Request, asset_id: str) -> HttpResponseBase:
        """Show one asset for sale."""

        def build(memo: Memo) -> dict[str, Any]:
            detail, tiers = selectors.detail_for_sale(asset_id), memo.get("tiers", selectors.active_tiers)
            return shown.asset_detail(detail.listing, previews=detail.previews, tiers=tiers, popularity=detail.popularity)

        return public_answer(request, build)

    @extend_schema(
        operation_id="getAssetManifest", tags=["catalog"], parameters=[ASSET_ID], responses={200: shapes.PublicManifest, 304: UNCHANGED}
    )
    def manifest(self, request: Request, asset_id: str) -> HttpResponseBase:
        """Show the AI-facing manifest of an asset for sale."""

        def build(memo: Memo) -> dict[str, Any]:
            listing = selectors.listing_for_sale(asset_id)
            offers = shown.license_offers(listing, memo.get("tiers", selectors.active_tiers))
            return public_manifest(listing, manifest_of(listing), licenses=offers)

        return public_answer(request, build, cache_control=PRIVATE)

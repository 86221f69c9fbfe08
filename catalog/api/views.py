"""The public catalog's endpoints (reference section 4)."""

from collections.abc import Mapping
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from marketplace.core.access import PUBLIC, Access, api_key_only
from marketplace.core.api.serializers import parse_query
from marketplace.core.api.views import ApiViewSet
from marketplace.core.errors import InvalidInput, NotFound, PreconditionFailed, Problem
from marketplace.core.scopes import Scope

from ..search import suggest
from . import bodies
from . import representations as shown
from . import serializers as shapes
from .browsing import answer, browsing_of, parameters_of

ASSET_ID = OpenApiParameter("asset_id", str, OpenApiParameter.PATH, description="The asset's id or its slug.")
UNCHANGED = OpenApiResponse(description="If-None-Match names the present ETag.")


class CategoryViewSet(ApiViewSet):
    """Categories of the catalog."""

    access: ClassVar[Mapping[str, Access]] = {"list": PUBLIC}
    problems: ClassVar[Mapping[str, tuple[type[Problem], ...]]] = {"list": (PreconditionFailed,)}

    @extend_schema(
        operation_id="listCategories", summary="List the categories", tags=["catalog"], responses={200: shapes.CategoryList, 304: UNCHANGED}
    )
    def list(self, request: Request) -> Response:
        """List all active categories with the number of assets on sale in each."""
        return Response(bodies.categories())


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
        "list": (InvalidInput, PreconditionFailed),
        "search": (InvalidInput, PreconditionFailed),
        "suggest": (InvalidInput, PreconditionFailed),
        "retrieve": (NotFound, PreconditionFailed),
        "manifest": (NotFound, PreconditionFailed),
    }
    queries: ClassVar[Mapping[str, type[Serializer[Any]]]] = {
        "list": shapes.BrowseQuery,
        "search": shapes.SearchQuery,
        "suggest": shapes.SuggestQuery,
    }

    @extend_schema(
        operation_id="listAssets",
        summary="Browse assets",
        tags=["catalog"],
        responses={200: shapes.AssetPage, 304: UNCHANGED},
    )
    def list(self, request: Request) -> Response:
        """List the assets on sale, page by page, with filters and sorting."""
        return Response(answer(browsing_of(parameters_of(request.query_params))))

    @extend_schema(
        operation_id="searchAssets",
        summary="Search assets",
        tags=["catalog"],
        responses={200: shapes.SearchResults, 304: UNCHANGED},
    )
    def search(self, request: Request) -> Response:
        """Search titles, tags and descriptions; misspelt and partial words match too."""
        return Response(bodies.search_results(parse_query(shapes.SearchQuery, request)))

    @extend_schema(
        operation_id="suggestAssets",
        summary="Suggest assets",
        tags=["catalog"],
        responses={200: shapes.Suggestions, 304: UNCHANGED},
    )
    def suggest(self, request: Request) -> Response:
        """Suggest assets for the beginning of a name, for search fields."""
        q = parse_query(shapes.SuggestQuery, request)["q"]
        return Response(shown.suggestions(q, suggest(q)))

    @extend_schema(
        operation_id="getAsset",
        summary="Get an asset",
        tags=["catalog"],
        parameters=[ASSET_ID],
        responses={200: shapes.AssetDetail, 304: UNCHANGED},
    )
    def retrieve(self, request: Request, asset_id: str) -> Response:
        """Return all details of one asset on sale."""
        return Response(bodies.asset(asset_id))

    @extend_schema(
        operation_id="getAssetManifest",
        summary="Get the AI manifest of an asset",
        tags=["catalog"],
        parameters=[ASSET_ID],
        responses={200: shapes.PublicManifest, 304: UNCHANGED},
    )
    def manifest(self, request: Request, asset_id: str) -> Response:
        """Return the AI manifest of an asset on sale."""
        return Response(bodies.manifest(asset_id))

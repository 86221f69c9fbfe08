"""The public catalog's endpoints (reference section 4)."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from marketplace.core.access import PUBLIC, Access, api_key_only
from marketplace.core.api.views import ApiViewSet
from marketplace.core.errors import InvalidInput, NotFound, PreconditionFailed, Problem
from marketplace.core.scopes import Scope

from .. import answers, queries
from ..filters import ListingFilter
from ..manifests.public import PublicManifest
from ..models import ListingIndex
from .filtering import FILTERS, ListingFilterBackend, ListingPagination, json

ASSET_ID = OpenApiParameter("asset_id", str, OpenApiParameter.PATH, description="The asset's id or its slug.")
UNCHANGED = OpenApiResponse(description="If-None-Match names the present ETag.")


class CategoryViewSet(ApiViewSet):
    """Categories of the catalog."""

    access: ClassVar[Mapping[str, Access]] = {"list": PUBLIC}
    problems: ClassVar[Mapping[str, tuple[type[Problem], ...]]] = {"list": (PreconditionFailed,)}

    @extend_schema(
        operation_id="listCategories",
        summary="List the categories",
        tags=["catalog"],
        responses={200: answers.CategoryList, 304: UNCHANGED},
    )
    def list(self, request: Request) -> HttpResponse:
        """List all active categories with the number of assets on sale in each."""
        return json(queries.list_categories())


class AssetViewSet(ApiViewSet, GenericAPIView[ListingIndex]):
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
        "list": queries.BrowseQuery,
        "search": queries.SearchQuery,
        "suggest": queries.SuggestQuery,
    }
    queryset = ListingIndex.objects.all()
    filter_backends = (ListingFilterBackend,)
    filterset_class = ListingFilter
    pagination_class = ListingPagination
    # The filters of a request, as its filter backend has read them.
    given: Mapping[str, Any]

    def query_parameters(self) -> Collection[str]:
        """Return the names of the action's query parameters."""
        names = super().query_parameters()
        return {*names, *ListingFilter.base_filters} if self.action in {"list", "search"} else names

    @extend_schema(
        operation_id="listAssets",
        summary="Browse assets",
        tags=["catalog"],
        parameters=FILTERS,
        responses={200: answers.AssetPage, 304: UNCHANGED},
    )
    def list(self, request: Request) -> HttpResponse:
        """List the assets on sale, page by page, with filters and sorting."""
        page: Any = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        response: HttpResponse = self.get_paginated_response(page)
        return response

    @extend_schema(
        operation_id="searchAssets",
        summary="Search assets",
        tags=["catalog"],
        parameters=FILTERS,
        responses={200: answers.SearchResults, 304: UNCHANGED},
    )
    def search(self, request: Request) -> HttpResponse:
        """Search titles, tags and descriptions; misspelt and partial words match too."""
        query, listings = self.query(), self.filter_queryset(self.get_queryset())
        return json(queries.search_assets(listings, self.given, query))

    @extend_schema(
        operation_id="suggestAssets",
        summary="Suggest assets",
        tags=["catalog"],
        responses={200: answers.SuggestAnswer, 304: UNCHANGED},
    )
    def suggest(self, request: Request) -> HttpResponse:
        """Suggest assets for the beginning of a name, for search fields."""
        return json(queries.suggest_assets(self.query()["q"]))

    @extend_schema(
        operation_id="getAsset",
        summary="Get an asset",
        tags=["catalog"],
        parameters=[ASSET_ID],
        responses={200: answers.AssetDetail, 304: UNCHANGED},
    )
    def retrieve(self, request: Request, asset_id: str) -> HttpResponse:
        """Return all details of one asset on sale."""
        return json(queries.asset_detail(asset_id))

    @extend_schema(
        operation_id="getAssetManifest",
        summary="Get the AI manifest of an asset",
        tags=["catalog"],
        parameters=[ASSET_ID],
        responses={200: PublicManifest, 304: UNCHANGED},
    )
    def manifest(self, request: Request, asset_id: str) -> HttpResponse:
        """Return the AI manifest of an asset on sale."""
        return json(queries.asset_manifest(asset_id))

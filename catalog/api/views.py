"""The public catalog's endpoints."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from django.http import HttpResponse
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from marketplace.api.models import ResponseModel
from marketplace.api.serializers import parse_query
from marketplace.api.views import ApiViewSet
from marketplace.core.access import PUBLIC, Access, api_key_only
from marketplace.core.errors import InvalidInput, NotFound, PreconditionFailed, Problem
from marketplace.core.scopes import Scope

from .. import browsing, responses
from ..comparison.public import AssetChanges
from ..filters import ListingFilter, Listings
from ..manifests.public import PublicManifest
from ..models import ListingIndex
from ..selectors import ITEMS

ASSET_ID = OpenApiParameter("asset_id", str, OpenApiParameter.PATH, description="The asset's id or its slug.")
UNCHANGED = OpenApiResponse(description="If-None-Match names the present ETag.")
FILTERS = [
    OpenApiParameter(name, shape, OpenApiParameter.QUERY, description=shape["description"])
    for name, shape in ListingFilter.json_schema().items()
]


class ListingFilterBackend(DjangoFilterBackend):  # type: ignore[misc]  # django-filter ships no types
    """Filters listings by the query parameters, and sets the view's `given` to the filters in use."""

    def filter_queryset(self, request: Request, queryset: Listings, view: Any) -> Listings:
        """Return the listings that match the filters.

        Raises:
            ValidationError: a parameter is bad, named `?parameter`.
        """
        try:
            listings, view.given = browsing.filter_listings(request.query_params)
        except serializers.ValidationError as error:
            raise as_parameter_errors(error) from error
        return listings


class ListingPagination(BasePagination):
    """Pagination by page number or cursor."""

    response: responses.AssetPage

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> Any:
        """Return the items of a page.

        Raises:
            ValidationError: a parameter is bad, named `?parameter`.
        """
        query = parse_query(browsing.BrowseQuery, request)
        try:
            self.response = browsing.browse(queryset, getattr(view, "given", {}), query)
        except serializers.ValidationError as error:
            raise as_parameter_errors(error) from error
        return self.response.items

    def get_paginated_response(self, data: Any) -> Any:
        """Return the response with the page."""
        return json(self.response)


def json(response: ResponseModel) -> HttpResponse:
    """Return a model as a JSON response."""
    return HttpResponse(response.json_bytes(), content_type="application/json")


def as_parameter_errors(error: serializers.ValidationError) -> serializers.ValidationError:
    """Return the errors of query parameters, with pointers of the form `?parameter`."""
    return serializers.ValidationError({f"?{name}": details for name, details in error.detail.items()})  # type: ignore[union-attr]  # a dict, by field


class CategoryViewSet(ApiViewSet):
    """Categories of the catalog."""

    access: ClassVar[Mapping[str, Access]] = {"list": PUBLIC}
    problems: ClassVar[Mapping[str, tuple[type[Problem], ...]]] = {"list": (PreconditionFailed,)}

    @extend_schema(
        operation_id="listCategories",
        summary="List the categories",
        tags=["catalog"],
        responses={200: responses.CategoryList, 304: UNCHANGED},
    )
    def list(self, request: Request) -> HttpResponse:
        """List all active categories with the number of assets on sale in each."""
        return json(browsing.list_categories())


class AssetViewSet(ApiViewSet, GenericAPIView[ListingIndex]):
    """Assets for sale."""

    access: ClassVar[Mapping[str, Access]] = {
        "list": PUBLIC,
        "retrieve": PUBLIC,
        "search": PUBLIC,
        "suggest": PUBLIC,
        "changes": PUBLIC,
        "manifest": api_key_only(Scope.CATALOG_READ),
    }
    problems: ClassVar[Mapping[str, tuple[type[Problem], ...]]] = {
        "list": (InvalidInput, PreconditionFailed),
        "search": (InvalidInput, PreconditionFailed),
        "suggest": (InvalidInput, PreconditionFailed),
        "retrieve": (NotFound, PreconditionFailed),
        "changes": (InvalidInput, NotFound, PreconditionFailed),
        "manifest": (NotFound, PreconditionFailed),
    }
    queries: ClassVar[Mapping[str, type[Serializer[Any]]]] = {
        "list": browsing.BrowseQuery,
        "search": browsing.CatalogSearchQuery,
        "suggest": browsing.SuggestQuery,
        "changes": browsing.ChangesQuery,
    }
    queryset = ITEMS
    filter_backends = (ListingFilterBackend,)
    filterset_class = ListingFilter
    pagination_class = ListingPagination
    # Set by the filter backend.
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
        responses={200: responses.AssetPage, 304: UNCHANGED},
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
        responses={200: responses.SearchResults, 304: UNCHANGED},
    )
    def search(self, request: Request) -> HttpResponse:
        """Search titles, tags and descriptions; misspelt and partial words match too."""
        query, listings = self.query(), self.filter_queryset(self.get_queryset())
        return json(browsing.search_assets(listings, self.given, query))

    @extend_schema(
        operation_id="suggestAssets",
        summary="Suggest assets",
        tags=["catalog"],
        responses={200: responses.SuggestResponse, 304: UNCHANGED},
    )
    def suggest(self, request: Request) -> HttpResponse:
        """Suggest assets for the beginning of a name, for search fields."""
        return json(browsing.suggest_assets(self.query()["q"]))

    @extend_schema(
        operation_id="getAsset",
        summary="Get an asset",
        tags=["catalog"],
        parameters=[ASSET_ID],
        responses={200: responses.AssetDetail, 304: UNCHANGED},
    )
    def retrieve(self, request: Request, asset_id: str) -> HttpResponse:
        """Return all details of one asset on sale."""
        return json(browsing.asset_detail(asset_id))

    @extend_schema(
        operation_id="getAssetChanges",
        summary="Get what changed in an asset",
        tags=["catalog"],
        parameters=[ASSET_ID],
        responses={200: AssetChanges, 304: UNCHANGED},
    )
    def changes(self, request: Request, asset_id: str) -> HttpResponse:
        """Return what changed between two published versions of an asset on sale."""
        return json(browsing.asset_changes(asset_id, self.query()))

    @extend_schema(
        operation_id="getAssetManifest",
        summary="Get the AI manifest of an asset",
        tags=["catalog"],
        parameters=[ASSET_ID],
        responses={200: PublicManifest, 304: UNCHANGED},
    )
    def manifest(self, request: Request, asset_id: str) -> HttpResponse:
        """Return the AI manifest of an asset on sale."""
        return json(browsing.asset_manifest(asset_id))

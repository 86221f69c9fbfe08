"""The public catalog's endpoints."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from marketplace.api.response_models import ResponseModel
from marketplace.api.views import ApiViewSet
from marketplace.core.access import PUBLIC, api_key_only
from marketplace.core.errors import InvalidInput, NotFound, PreconditionFailed
from marketplace.core.scopes import Scope

from .. import browsing, responses
from ..comparison.public import AssetChanges, changes_of
from ..filters import ListingFilter
from ..manifests.public import PublicManifest
from ..search import suggest
from ..selectors.listings import listing_on_sale

ASSET_ID = OpenApiParameter("asset_id", str, OpenApiParameter.PATH, description="The asset's id or its slug.")
NOT_MODIFIED = OpenApiResponse(description="If-None-Match names the present ETag.")
FILTERS = [
    OpenApiParameter(name, shape, OpenApiParameter.QUERY, description=shape["description"])
    for name, shape in ListingFilter.json_schema().items()
]


def json_response(response: ResponseModel) -> HttpResponse:
    """Return a model as a JSON response."""
    return HttpResponse(response.json_bytes(), content_type="application/json")


@contextmanager
def parameter_errors() -> Iterator[None]:
    """Name the parameters in errors by pointers of the form `?name`."""
    try:
        yield
    except serializers.ValidationError as error:
        raise serializers.ValidationError({f"?{name}": details for name, details in error.detail.items()}) from error  # type: ignore[union-attr]  # a dict, by field


class CategoryViewSet(ApiViewSet):
    """Categories of the catalog."""

    access = {"list": PUBLIC}
    problems = {"list": (PreconditionFailed,)}

    @extend_schema(
        operation_id="listCategories",
        summary="List the categories",
        tags=["catalog"],
        responses={200: responses.CategoryList, 304: NOT_MODIFIED},
    )
    def list(self, request: Request) -> HttpResponse:
        """List all active categories with the number of assets on sale in each."""
        return json_response(browsing.list_categories())


class AssetViewSet(ApiViewSet):
    """Assets for sale."""

    access = {
        "list": PUBLIC,
        "retrieve": PUBLIC,
        "search": PUBLIC,
        "suggest": PUBLIC,
        "changes": PUBLIC,
        "manifest": api_key_only(Scope.CATALOG_READ),
    }
    problems = {
        "list": (InvalidInput, PreconditionFailed),
        "search": (InvalidInput, PreconditionFailed),
        "suggest": (InvalidInput, PreconditionFailed),
        "retrieve": (NotFound, PreconditionFailed),
        "changes": (InvalidInput, NotFound, PreconditionFailed),
        "manifest": (NotFound, PreconditionFailed),
    }
    queries = {
        "list": browsing.BrowseQuery,
        "search": browsing.CatalogSearchQuery,
        "suggest": browsing.SuggestQuery,
        "changes": browsing.ChangesQuery,
    }

    def query_parameter_names(self) -> Collection[str]:
        names = super().query_parameter_names()
        return {*names, *ListingFilter.base_filters} if self.action in {"list", "search"} else names

    @extend_schema(
        operation_id="listAssets",
        summary="Browse assets",
        tags=["catalog"],
        parameters=FILTERS,
        responses={200: responses.AssetPage, 304: NOT_MODIFIED},
    )
    def list(self, request: Request) -> HttpResponse:
        """List the assets on sale, page by page, with filters and sorting."""
        with parameter_errors():
            listings, given = browsing.filter_listings(request.query_params)
        query = self.query()
        with parameter_errors():
            return json_response(browsing.browse(listings, given, query))

    @extend_schema(
        operation_id="searchAssets",
        summary="Search assets",
        tags=["catalog"],
        parameters=FILTERS,
        responses={200: responses.SearchResults, 304: NOT_MODIFIED},
    )
    def search(self, request: Request) -> HttpResponse:
        """Search titles, tags and descriptions; misspelt and partial words match too."""
        query = self.query()
        with parameter_errors():
            listings, given = browsing.filter_listings(request.query_params)
        return json_response(browsing.search_assets(listings, given, query))

    @extend_schema(
        operation_id="suggestAssets",
        summary="Suggest assets",
        tags=["catalog"],
        responses={200: responses.SuggestResponse, 304: NOT_MODIFIED},
    )
    def suggest(self, request: Request) -> HttpResponse:
        """Suggest assets for the beginning of a name, for search fields."""
        q = self.query()["q"]
        return json_response(responses.SuggestResponse.model_validate({"query": q, "suggestions": suggest(q)}))

    @extend_schema(
        operation_id="getAsset",
        summary="Get an asset",
        tags=["catalog"],
        parameters=[ASSET_ID],
        responses={200: responses.AssetDetail, 304: NOT_MODIFIED},
    )
    def retrieve(self, request: Request, asset_id: str) -> HttpResponse:
        """Return all details of one asset on sale."""
        return json_response(browsing.asset_detail(asset_id))

    @extend_schema(
        operation_id="getAssetChanges",
        summary="Get what changed in an asset",
        tags=["catalog"],
        parameters=[ASSET_ID],
        responses={200: AssetChanges, 304: NOT_MODIFIED},
    )
    def changes(self, request: Request, asset_id: str) -> HttpResponse:
        """Return what changed between two published versions of an asset on sale."""
        query = self.query()
        return json_response(changes_of(listing_on_sale(asset_id), since=query.get("from"), until=query.get("to")))

    @extend_schema(
        operation_id="getAssetManifest",
        summary="Get the AI manifest of an asset",
        tags=["catalog"],
        parameters=[ASSET_ID],
        responses={200: PublicManifest, 304: NOT_MODIFIED},
    )
    def manifest(self, request: Request, asset_id: str) -> HttpResponse:
        """Return the AI manifest of an asset on sale."""
        return json_response(browsing.asset_manifest(asset_id))

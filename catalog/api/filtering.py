"""How the filters and pages of the catalog are part of its viewsets."""

from typing import Any

from django.http import HttpResponse
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.views import APIView

from marketplace.core.api.answers import Answer
from marketplace.core.api.serializers import parse_query

from ..answers import AssetPage
from ..filters import ListingFilter, Listings
from ..queries import BrowseQuery, browse, filter_listings

FILTERS = [
    OpenApiParameter(name, shape, OpenApiParameter.QUERY, description=shape["description"])
    for name, shape in ListingFilter.json_schema().items()
]


class ListingFilterBackend(DjangoFilterBackend):  # type: ignore[misc]  # django-filter ships no types
    """Keeps the listings that the request asks for; the view remembers the filters that were given as `given`."""

    def filter_queryset(self, request: Request, queryset: Listings, view: Any) -> Listings:
        """Return what the filters keep.

        Raises:
            ValidationError: a parameter is bad, named `?parameter`.
        """
        try:
            listings, view.given = filter_listings(request.query_params)
        except serializers.ValidationError as error:
            raise in_query(error) from error
        return listings


class ListingPagination(BasePagination):
    """Pages by number or after a cursor."""

    answer: AssetPage

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> Any:
        """Return the items of a page.

        Raises:
            ValidationError: a parameter is bad, named `?parameter`.
        """
        query = parse_query(BrowseQuery, request)
        try:
            self.answer = browse(queryset, getattr(view, "given", {}), query)
        except serializers.ValidationError as error:
            raise in_query(error) from error
        return self.answer.items

    def get_paginated_response(self, data: Any) -> Any:
        """Return the answer with the page."""
        return json(self.answer)


def json(answer: Answer) -> HttpResponse:
    """Return an answer as JSON."""
    return HttpResponse(answer.json_bytes(), content_type="application/json")


def in_query(error: serializers.ValidationError) -> serializers.ValidationError:
    """Return what is wrong with parameters, each named `?parameter`."""
    return serializers.ValidationError({f"?{name}": details for name, details in error.detail.items()})  # type: ignore[union-attr]  # by field

"""Conditional changes (RFC 9110): each state of a listing has an entity tag, and a change may require one in If-Match."""

from django.http import HttpRequest
from django.utils.http import parse_etags
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import Listing

ETAG = OpenApiParameter(
    "ETag",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    response=[200],
    description="Names the present state of the listing. Each change of the listing, its files or its previews gives it another ETag.",
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    required=False,
    description="An ETag of the listing: if it has changed since, nothing is done and the response is 412. Without it, the change is made in any case.",
)
# For operations that change or return a listing. These only document the headers; `listing_to_change` makes the check.
documents_if_match = extend_schema(parameters=[IF_MATCH])
documents_etag = extend_schema(parameters=[ETAG])


def required_etags(request: Request | HttpRequest) -> list[str] | None:
    """Return the entity tags in If-Match, `*` among them for any state; None where there is no such header.

    A weak tag counts like a strong one: responses that are compressed on their way carry weak ones.
    """
    header = request.headers.get("If-Match")
    return None if header is None else [tag.removeprefix("W/") for tag in parse_etags(header)]


def with_etag(listing: Listing, body: object) -> Response:
    """Return the response with the entity tag of the listing's present state."""
    return Response(body, headers={"ETag": listing.etag})

"""A fast path for anonymous GETs of the public catalog: they are answered before sessions, URL routing and viewsets are reached."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from developers.throttling import count_and_read
from marketplace.core.api.problems import http_response, logged_problem
from marketplace.core.api.serializers import refuse_unknown_parameters
from marketplace.core.observing.middleware import ROUTE_KEY

from ..services import generation
from .builders import Builder, builder_at
from .caching import PUBLIC, Answer, address_of, built, find, key_of, respond
from .cors import is_public

_VIEWS_JUDGE = ("HTTP_AUTHORIZATION", "HTTP_X_API_KEY", "HTTP_TRANSFER_ENCODING")


class PublicAnswersMiddleware:
    """Answers GETs of the public catalog that carry no credential, from the cache where the answer is there.

    The call is counted like any other. What the viewsets would answer is made by the same builders; they are asked by callers
    with a credential.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        if not _is_short(request):
            return self.get_response(request)
        # Refuses a host that is not ours, as CommonMiddleware would.
        request.get_host()
        builder = builder_at(request.path_info)
        request.META[ROUTE_KEY] = builder.route
        try:
            return respond(request, _answer(request, builder), PUBLIC)
        except Exception as error:  # noqa: BLE001 - what DRF does for the viewsets
            return http_response(logged_problem(error, request), request)


def _is_short(request: HttpRequest) -> bool:
    """Tell whether it is an anonymous GET of the public catalog without a body in chunks, which views refuse."""
    return request.method in {"GET", "HEAD"} and request.META.keys().isdisjoint(_VIEWS_JUDGE) and is_public(request.path_info)


def _answer(request: HttpRequest, builder: Builder) -> Answer:
    """Count the call and return its answer."""
    address = address_of(request)
    key = key_of(address)
    found = count_and_read(request, generation.read_along([key]))
    at, answer = find(key, found)
    if answer is None:
        refuse_unknown_parameters(request, builder.parameters)
        return built(address, builder.build(request.GET), at)
    request.META[ROUTE_KEY] = "catalog-cached"
    return answer

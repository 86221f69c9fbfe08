"""The short way of the public catalog: GETs without a credential are answered past sessions, routes and viewsets."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from rest_framework.exceptions import ValidationError

from developers.throttling import count_and_read
from marketplace.core.api.problems import as_problem, http_response
from marketplace.core.errors import Problem, RateLimited
from marketplace.core.observing.middleware import ROUTE_KEY

from ..services import generation
from .builders import builder_at
from .caching import LOOKED_UP, PUBLIC, address_of, answer_key, built, find, respond
from .cors import is_public


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
        key = answer_key(request)
        try:
            found = count_and_read(request, generation.read_along([key]))
        except RateLimited as refusal:
            return http_response(refusal, request)
        answer = find(request, key, found)
        if answer is not None:
            request.META[ROUTE_KEY] = "catalog-cached"
            return respond(request, answer, PUBLIC)
        builder = builder_at(request.path_info)
        request.META[ROUTE_KEY] = builder.route
        try:
            answer = built(address_of(request), builder.build(request.GET), request.META[LOOKED_UP])
        except (Problem, ValidationError) as refusal:
            return http_response(as_problem(refusal), request)
        return respond(request, answer, PUBLIC)


def _is_short(request: HttpRequest) -> bool:
    credential = "HTTP_AUTHORIZATION" in request.META or "HTTP_X_API_KEY" in request.META
    return request.method in {"GET", "HEAD"} and not credential and is_public(request.path_info)

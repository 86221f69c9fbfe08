"""The base of every API view: it states its access and its problems, operation by operation."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.viewsets import ViewSet

from marketplace.core.access import Access
from marketplace.core.errors import Problem

from .rendering import refuse_by_headers
from .serializers import parameter_names, parse_query, refuse_unknown_parameters

METHODS = ("get", "head", "post", "put", "patch", "delete")


class ApiViewSet(ViewSet):
    """A viewset whose operations each declare who may call them.

    `access` maps each action to what it demands; the permission class and the OpenAPI document read it, and the
    service does not start when an action is missing. `problems` lists the refusals beyond the usual ones. `queries` maps
    actions to the serializers of their query parameters, which are documented, and refused where they are unknown.
    """

    access: ClassVar[Mapping[str, Access]] = {}
    problems: ClassVar[Mapping[str, tuple[type[Problem], ...]]] = {}
    queries: ClassVar[Mapping[str, type[Serializer[Any]]]] = {}
    # Not for links that others pass on, who may add parameters of their own.
    refuses_unknown_parameters: ClassVar[bool] = True
    # WrongMethodMiddleware answers OPTIONS.
    metadata_class = None
    http_method_names = list(METHODS)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Judge the caller, then the names of the query's parameters and what can be judged of the body without reading it."""
        super().initial(request, *args, **kwargs)
        if self.action and self.refuses_unknown_parameters:
            refuse_unknown_parameters(request, self.query_parameters())
        refuse_by_headers(request.META)

    def query_parameters(self) -> Collection[str]:
        """Return the names of the action's query parameters."""
        serializer = self.queries.get(self.action or "")
        return parameter_names(serializer) if serializer else ()

    def query(self) -> dict[str, Any]:
        """Return the validated query parameters of the action; an error's pointer is `?name`."""
        return parse_query(self.queries[self.action or ""], self.request)

    def check_permissions(self, request: Request) -> None:
        """Count the call, then judge it: a refused call is a call too."""
        super().check_throttles(request)
        super().check_permissions(request)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """Keep the answers to credentials out of every cache, unless the operation tells how they may be kept.

        A cache on the way does not know that `X-Api-Key` makes answers differ.
        """
        answer = super().finalize_response(request, response, *args, **kwargs)
        access = self.access.get(self.action or "")
        if access is None or not access.public:
            answer.setdefault("Cache-Control", "private, no-store")
        return answer

    def check_throttles(self, request: Request) -> None:
        """Nothing is left to do: DRF asks this after the permissions."""

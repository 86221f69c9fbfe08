"""The base of every API view: it states its access and its problems, operation by operation."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from ..access import Access
from ..errors import Problem
from .rendering import refuse_by_headers

METHODS = ("get", "head", "post", "put", "patch", "delete")


class ApiViewSet(ViewSet):
    """A viewset whose operations each declare who may call them.

    `access` maps each action to what it demands; the permission class and the OpenAPI document read it, and the
    service does not start when an action is missing. `problems` lists the refusals beyond the usual ones.
    """

    access: ClassVar[Mapping[str, Access]] = {}
    problems: ClassVar[Mapping[str, tuple[type[Problem], ...]]] = {}
    # WrongMethodMiddleware answers OPTIONS.
    metadata_class = None
    http_method_names = list(METHODS)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Judge the caller, then what can be judged of the body without reading it."""
        super().initial(request, *args, **kwargs)
        refuse_by_headers(request.META)

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

"""The base of API views, which declare access rules, problems and query parameters for each action."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from django.db.models import QuerySet
from django_filters import FilterSet
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.viewsets import ViewSet

from marketplace.core.access import Access
from marketplace.core.errors import Problem

from .rendering import refuse_encoded_body
from .serializers import query_serializer, unknown_names


class ApiViewSet(ViewSet):
    """Base of viewsets, whose actions declare who may call them.

    `access` maps each action to its access rule, for the permission class and the OpenAPI document; a system check reports a missing action.
    `problems` maps actions to the problems that the document names beside those of every operation; `common_problems` are those of all actions.
    `queries` maps actions to the serializers of their query parameters, `filters` to their further parameters; unknown parameters are refused.
    """

    access: ClassVar[Mapping[str, Access]] = {}
    problems: ClassVar[Mapping[str, tuple[type[Problem], ...]]] = {}
    common_problems: ClassVar[tuple[type[Problem], ...]] = ()
    queries: ClassVar[Mapping[str, type[Serializer[Any]]]] = {}
    filters: ClassVar[Mapping[str, type[FilterSet]]] = {}
    # False for links to which other sites may add parameters.
    refuses_unknown_parameters: ClassVar[bool] = True
    # WrongMethodMiddleware answers OPTIONS.
    metadata_class = None
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the caller, then the names of query parameters and the headers of the body."""
        super().initial(request, *args, **kwargs)
        if self.action and self.refuses_unknown_parameters:
            known = self.query_parameter_names()
            unknown = unknown_names((name for name in request.query_params if name not in known), known, kind="parameter")
            if unknown:
                raise ValidationError({f"?{name}": messages for name, messages in unknown.items()}, code="unknown_parameter")
        refuse_encoded_body(request.META)

    def query_parameter_names(self) -> Collection[str]:
        """Return the names of the action's query parameters."""
        serializer, filters = self.queries.get(self.action or ""), self.filters.get(self.action or "")
        return [*(query_serializer(serializer).fields if serializer else ()), *(filters.base_filters if filters else ())]

    def query(self) -> dict[str, Any]:
        """Return the validated query parameters of the action; errors have pointers of the form `?name`.

        Of repeated parameters the last counts; empty ones other than `q` count as left out.
        """
        given = {name: value for name, value in self.request.query_params.items() if value != "" or name == "q"}
        try:
            validated: dict[str, Any] = query_serializer(self.queries[self.action or ""]).run_validation(given)
        except ValidationError as error:
            raise ValidationError({f"?{name}": details for name, details in error.detail.items()}) from error  # type: ignore[union-attr]  # by field
        return validated

    def filtered(self, *querysets: "QuerySet[Any, Any]") -> list[Any]:
        """Return the querysets with the action's filters; errors have pointers of the form `?name`."""
        filterset = self.filters[self.action or ""](self.request.query_params)
        if not filterset.is_valid():
            found = {
                f"?{name}": [ErrorDetail(each["message"], code=each["code"] or "invalid") for each in errors]
                for name, errors in filterset.errors.get_json_data().items()
            }
            raise ValidationError(found)
        return [filterset.filter_queryset(rows) for rows in querysets]

    def check_permissions(self, request: Request) -> None:
        """Check the rate limits, then the permissions: refused calls count too."""
        super().check_throttles(request)
        super().check_permissions(request)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """Forbid caching of responses that depend on a credential, unless the action has set Cache-Control.

        Shared caches do not know that responses depend on `X-Api-Key`.
        """
        response = super().finalize_response(request, response, *args, **kwargs)
        access = self.access.get(self.action or "")
        if access is None or not access.public:
            response.setdefault("Cache-Control", "private, no-store")
        return response

    def check_throttles(self, request: Request) -> None:
        """Do nothing: `check_permissions` has checked the rate limits."""

"""The OpenAPI document: security from each view's access, problems from its declared refusals."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.openapi import AutoSchema

from .. import errors
from ..access import Access, CredentialKind
from ..errors import Problem
from .problems import MEDIA_TYPE
from .views import ApiViewSet

PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "An RFC 9457 problem document.",
    "required": ["type", "title", "status", "detail", "instance", "code", "requestId"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"type": "string", "description": "Stable; switch on it."},
        "requestId": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "code", "detail"],
                "properties": {"pointer": {"type": "string"}, "code": {"type": "string"}, "detail": {"type": "string"}},
            },
        },
    },
    "additionalProperties": True,
}
SECURITY_SCHEMES: dict[str, Any] = {
    "ApiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    "Bearer": {"type": "http", "scheme": "bearer"},
}


class OperationSchema(AutoSchema):
    """Adds what `ApiViewSet` declares to each operation."""

    def _is_list_view(self, serializer: Any = None) -> bool:
        """Tell that an answer is an array: never, whatever the action is called; lists are objects with `items`."""
        return False

    def _access(self) -> Access | None:
        access: Mapping[str, Access] = getattr(self.view, "access", {})
        return access.get(getattr(self.view, "action", "") or "")

    def get_auth(self) -> list[dict[str, list[str]]]:
        """Return the security requirements: each entry is one way in."""
        access = self._access()
        if access is None or access.scope is None:
            return [{}]
        ways: list[dict[str, list[str]]] = []
        if CredentialKind.API_KEY in access.kinds:
            ways.append({"ApiKey": [access.scope.value]})
        if access.kinds - {CredentialKind.API_KEY}:
            ways.append({"Bearer": [access.scope.value]})
        return ways

    def _problems(self) -> dict[int, list[type[Problem]]]:
        declared: set[type[Problem]] = {
            errors.InvalidCredential,
            errors.AmbiguousCredentials,
            errors.RateLimited,
            errors.InternalError,
            errors.DependencyUnavailable,
        }
        access = self._access()
        if access is not None and not access.public:
            declared |= {errors.NotAuthenticated, errors.InsufficientScope}
        if "{" in self.path:
            declared.add(errors.NotFound)
        if self.method in {"POST", "PATCH", "PUT"}:
            declared |= {errors.InvalidInput, errors.MalformedBody, errors.BodyTooLarge, errors.UnsupportedType}
        if isinstance(self.view, ApiViewSet):
            declared |= set(self.view.problems.get(self.view.action or "", ()))
        by_status: dict[int, list[type[Problem]]] = {}
        for problem in sorted(declared, key=lambda p: (p.status, p.code)):
            by_status.setdefault(problem.status, []).append(problem)
        return by_status

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """Return the operation with a response for each status a problem may have."""
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        if "multipart/form-data" in operation.get("requestBody", {}).get("content", {}):
            # Its shape is written by hand, of which the generator cannot tell that the file must be there.
            operation["requestBody"]["required"] = True
        for status, problems in self._problems().items():
            lines = [f"- `{problem.code}`: {problem.title}" for problem in problems]
            operation["responses"].setdefault(
                str(status),
                {
                    "description": "\n".join(lines),
                    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
                },
            )
        operation["responses"] = dict(sorted(operation["responses"].items()))
        return operation


def add_components(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """Add the problem schema and the security schemes to the document (a post-processing hook)."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM_SCHEMA
    components["securitySchemes"] = SECURITY_SCHEMES
    return result

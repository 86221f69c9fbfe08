"""Extensions of drf-spectacular: security from each view's access rules, error responses from its problems."""

from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction

from marketplace.core import bounds, errors
from marketplace.core.access import BEARER_KINDS, Access, CredentialKind
from marketplace.core.errors import Problem
from marketplace.core.scopes import APP_SCOPES, SCOPE_LABELS, Scope

from .filters import filter_parameters
from .idempotency import IDEMPOTENCY_PARAMETER
from .problems import MEDIA_TYPE
from .views import ApiViewSet

PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "An RFC 9457 problem document.",
    "required": ["type", "title", "status", "detail", "instance", "code", "requestId"],
    "properties": {
        "type": {"type": "string", "format": "uri", "description": "Address of a page about this problem."},
        "title": {"type": "string", "description": "The problem in a few words, always the same for a code."},
        "status": {"type": "integer", "description": "The HTTP status."},
        "detail": {"type": "string", "description": "What happened in this case and what to do next, for people."},
        "instance": {"type": "string", "description": "Path of the request."},
        "code": {"type": "string", "description": "Stable error code; branch on this."},
        "requestId": {"type": "string", "description": "Id of the request, also in X-Request-Id; quote it when you ask for help."},
        "errors": {
            "type": "array",
            "description": f"For invalid_input: the invalid fields, at most {bounds.MAX_FIELD_ERRORS}. `pointer` is a JSON Pointer, `?name` for a query parameter, or a header's name.",
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
# The maximum length of path parameters; longer ones are not found.
_PATH_CHARS = {"asset_id": bounds.SLUG_CHARS, "token": 100}
_ID_CHARS = 36


class TextShape(OpenApiSerializerFieldExtension):
    """Documents the length of a text and, in requests, its characters."""

    target_class = "marketplace.api.fields.CleanText"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        shape: dict[str, Any] = {"type": "string"}
        if self.target.max_length is not None:
            shape["maxLength"] = self.target.max_length
        if not self.target.allow_blank:
            shape["minLength"] = 1
        if direction == "request":
            shape["pattern"] = self.target.pattern
        return shape


class BodyShape(OpenApiSerializerExtension):
    """Documents a `Body`: no additional properties, except for the ignored read-only ones."""

    target_class = "marketplace.api.serializers.Body"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        shape: dict[str, Any] = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        ignored = sorted(self.target.ignored_fields - set(shape.get("properties", ())))
        if ignored:
            # Not as properties, which generated clients would offer to set.
            shape["patternProperties"] = {f"^({'|'.join(ignored)})$": {"description": "Ignored, so that what was read can be sent back."}}
        return shape | {"additionalProperties": False}


class OperationSchema(AutoSchema):
    """Adds what `ApiViewSet` declares to each operation; other views are not in the document."""

    view: ApiViewSet  # type: ignore[override]  # the base class accepts any view

    def _is_list_view(self, serializer: Any = None) -> bool:
        """Return False: lists are objects with `items`, never arrays."""
        return False

    @property
    def _access(self) -> Access:
        return self.view.access[self.view.action]

    @property
    def _takes_key(self) -> bool:
        return getattr(getattr(self.view, self.view.action), "takes_idempotency_key", False)

    def get_override_parameters(self) -> list[Any]:
        """Return the query parameters that the view declares for the action, and the header with the idempotency key."""
        if not hasattr(self.view, "queries"):
            # The library documents a webhook by a view of its own.
            return []
        query, filters = self.view.queries.get(self.view.action), self.view.filters.get(self.view.action)
        header = [IDEMPOTENCY_PARAMETER] if self._takes_key else []
        return [*([query] if query else ()), *(filter_parameters(filters) if filters else ()), *header]

    def get_auth(self) -> list[dict[str, list[str]]]:
        """Return the alternative security requirements."""
        access = self._access
        if access.public:
            return []
        scopes = [] if access.scope is None else [access.scope.value]
        ways: list[dict[str, list[str]]] = []
        if CredentialKind.API_KEY in access.kinds:
            ways.append({"ApiKey": scopes})
        if access.kinds & BEARER_KINDS:
            ways.append({"Bearer": scopes})
        if CredentialKind.OAUTH in access.kinds and APP_SCOPES.issuperset(scopes):
            ways.append({"OAuth": scopes})
        return ways

    def _problems(self) -> dict[int, list[type[Problem]]]:
        declared: set[type[Problem]] = {
            errors.InvalidCredential,
            errors.AmbiguousCredentials,
            errors.AddressTooLong,
            errors.HeadersTooLarge,
            errors.LengthRequired,
            errors.UnsupportedType,
            errors.RateLimited,
            errors.InternalError,
            errors.DependencyUnavailable,
            errors.Overloaded,
        }
        if not self._access.public:
            declared.add(errors.NotAuthenticated)
        if self._access.scope is not None:
            declared.add(errors.InsufficientScope)
        if self._takes_key:
            declared |= {errors.IdempotencyConflict, errors.IdempotencyKeyReused}
        if "{" in self.path:
            declared.add(errors.NotFound)
        if self.method in {"POST", "PATCH", "PUT", "DELETE"}:
            declared |= {errors.InvalidInput, errors.MalformedBody, errors.RequestTimeout, errors.BodyTooLarge}
        if self.view.refuses_unknown_parameters:
            declared |= {errors.InvalidInput, errors.MalformedRequest}
        declared |= {*self.view.common_problems, *self.view.problems.get(self.view.action, ())}
        by_status: dict[int, list[type[Problem]]] = {}
        for problem in sorted(declared, key=lambda p: (p.status, p.code)):
            by_status.setdefault(problem.status, []).append(problem)
        return by_status

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """Return the operation with a response for each status of its problems."""
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        if "multipart/form-data" in operation.get("requestBody", {}).get("content", {}):
            # Its schema is written by hand, from which the generator does not see that it is required.
            operation["requestBody"]["required"] = True
        # An empty list; with a list of an empty requirement, generated clients would ask for a credential.
        operation.setdefault("security", [])
        for status, problems in self._problems().items():
            lines = [f"- `{problem.code}`: {problem.title}" for problem in problems]
            response: dict[str, Any] = {
                "description": "\n".join(lines),
                "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            }
            operation["responses"].setdefault(str(status), response)
        operation["responses"] = dict(sorted(operation["responses"].items()))
        for parameter in operation.get("parameters", ()):
            _complete(parameter)
        return operation

    def _insert_field_validators(self, field: Any, schema: dict[str, Any]) -> None:
        """Add the field's bounds, without the alternative for an empty text, which the patterns allow themselves."""
        had_alternatives = "oneOf" in schema
        super()._insert_field_validators(field, schema)  # type: ignore[no-untyped-call]  # the library states no types here
        if "oneOf" in schema and not had_alternatives:
            schema |= schema.pop("oneOf")[0]


def _complete(parameter: dict[str, Any]) -> None:
    """Add the length of a path parameter, and that an empty query parameter counts as left out."""
    if parameter["in"] == "path":
        parameter["schema"] |= {"minLength": 1, "maxLength": _PATH_CHARS.get(parameter["name"], _ID_CHARS)}
    elif parameter["in"] == "query" and not parameter.get("required"):
        parameter["allowEmptyValue"] = True


def add_components(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """Add the problem schema and the security schemes to the document (a post-processing hook)."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM_SCHEMA
    components["securitySchemes"] = SECURITY_SCHEMES | {"OAuth": _oauth()}
    return result


def _oauth() -> dict[str, Any]:
    """Return the OAuth security scheme, for apps that act for other users."""
    flow = {
        "authorizationUrl": f"{settings.BASE_URL}/oauth/authorize",
        "tokenUrl": f"{settings.BASE_URL}/oauth/token",
        "refreshUrl": f"{settings.BASE_URL}/oauth/token",
        "scopes": {scope.value: SCOPE_LABELS[scope] for scope in Scope if scope in APP_SCOPES},
    }
    metadata = f"{settings.BASE_URL}/.well-known/oauth-authorization-server"
    description = f"OAuth 2.1 for approved apps: authorization code with PKCE (S256), no client secret. Metadata: {metadata}"
    return {"type": "oauth2", "description": description, "flows": {"authorizationCode": flow}}

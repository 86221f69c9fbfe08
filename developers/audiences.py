"""The audiences of OAuth tokens: our two resources (RFC 8707), whose identifiers are built from `settings.BASE_URL` only."""

from collections.abc import Sequence
from enum import StrEnum

from django.conf import settings

from .models.credentials import TokenKind
from .secrets import Prefix


class Audience(StrEnum):
    """An OAuth resource of this service."""

    API = "api"
    MCP = "mcp"

    @property
    def path(self) -> str:
        """The path of the resource."""
        return _PATHS[self]

    @property
    def uri(self) -> str:
        """The resource identifier."""
        return f"{settings.BASE_URL}{self.path}"

    @property
    def kind(self) -> TokenKind:
        """The kind of token that the resource accepts."""
        return _KINDS[self]

    @property
    def prefix(self) -> Prefix:
        """The prefix of these tokens."""
        return _PREFIXES[self]

    @property
    def label(self) -> str:
        """The name that users see."""
        return _LABELS[self]


_PATHS = {Audience.API: "/api/v1", Audience.MCP: "/mcp"}
_KINDS = {Audience.API: TokenKind.OAUTH, Audience.MCP: TokenKind.MCP}
_PREFIXES = {Audience.API: Prefix.ACCESS_TOKEN, Audience.MCP: Prefix.MCP_TOKEN}
_LABELS = {Audience.API: "the API", Audience.MCP: "the tools for AI assistants"}


def audience_of(resources: Sequence[str]) -> Audience | None:
    """Return the audience that a request names; the API when it names none, None when it is not one of ours, or several."""
    if not resources:
        return Audience.API
    named = {_canonical(resource) for resource in resources}
    return next((audience for audience in Audience if named == {_canonical(audience.uri)}), None)


def _canonical(resource: str) -> str:
    """Return the address with scheme and host, but not the path, in lower case."""
    scheme, mark, rest = resource.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}{mark}{host.lower()}{slash}{path}"

"""The audiences of OAuth tokens: our two resources (RFC 8707), whose identifiers are built from `settings.BASE_URL` only."""

from collections.abc import Sequence

from django.conf import settings
from django.db import models

from .models.credentials import TokenKind
from .secrets import Prefix


class Audience(models.TextChoices):
    """An OAuth resource of this service, with the name that users see."""

    API = "api", "the API"
    MCP = "mcp", "the tools for AI assistants"

    @property
    def path(self) -> str:
        """The path of the resource."""
        return "/mcp" if self == Audience.MCP else "/api/v1"

    @property
    def uri(self) -> str:
        """The resource identifier."""
        return f"{settings.BASE_URL}{self.path}"

    @property
    def kind(self) -> TokenKind:
        """The kind of token that the resource accepts."""
        return TokenKind.MCP if self == Audience.MCP else TokenKind.OAUTH

    @property
    def prefix(self) -> Prefix:
        """The prefix of the tokens that the resource accepts."""
        return Prefix.MCP_TOKEN if self == Audience.MCP else Prefix.ACCESS_TOKEN


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

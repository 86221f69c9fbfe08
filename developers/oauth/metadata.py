"""Discovery documents: authorization server metadata (RFC 8414) and protected resource metadata (RFC 9728).

Every address comes from `settings.BASE_URL`, never from the Host header.
"""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, JsonResponse

from marketplace.core.scopes import APP_SCOPES, format_scopes

from ..audiences import Audience
from .cors import allow_any_origin
from .server import GRANT_TYPES

_DOCUMENTATION = {Audience.API: "/api/v1/docs", Audience.MCP: "/docs/agents"}
_NAMES = {Audience.API: "Creative Asset Marketplace API", Audience.MCP: "Creative Asset Marketplace tools"}


@allow_any_origin("GET", "HEAD")
def authorization_server(request: HttpRequest) -> JsonResponse:
    """Describe the authorization server."""
    return _public(
        {
            "issuer": settings.BASE_URL,
            "authorization_endpoint": f"{settings.BASE_URL}/oauth/authorize",
            "token_endpoint": f"{settings.BASE_URL}/oauth/token",
            "revocation_endpoint": f"{settings.BASE_URL}/oauth/revoke",
            "scopes_supported": format_scopes(APP_SCOPES).split(),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": list(GRANT_TYPES),
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": bool(settings.CLIENT_METADATA_HOSTS),
            "service_documentation": f"{settings.BASE_URL}/api/v1/docs",
        }
    )


@allow_any_origin("GET", "HEAD")
def protected_resource(request: HttpRequest, audience: Audience) -> JsonResponse:
    """Describe one of our resources."""
    return _public(
        {
            "resource": audience.uri,
            "resource_name": _NAMES[audience],
            "authorization_servers": [settings.BASE_URL],
            "scopes_supported": format_scopes(APP_SCOPES).split(),
            "bearer_methods_supported": ["header"],
            "resource_documentation": f"{settings.BASE_URL}{_DOCUMENTATION[audience]}",
        }
    )


def _public(document: dict[str, Any]) -> JsonResponse:
    return JsonResponse(document, headers={"Cache-Control": "public, max-age=3600"})

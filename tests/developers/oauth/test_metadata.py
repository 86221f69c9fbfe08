"""What clients discover, and the challenges that send them there."""

from collections.abc import Callable

import pytest
from django.test import Client
from rest_framework.test import APIClient

from marketplace.core.scopes import Scope

from .parties import API, BASE, MCP, Party, call

pytestmark = pytest.mark.django_db


def test_authorization_server_is_described_whatever_host_asks(client: Client) -> None:
    response = client.get("/.well-known/oauth-authorization-server", headers={"host": "localhost"})
    body = response.json()
    assert body == {
        "issuer": BASE,
        "authorization_endpoint": f"{BASE}/oauth/authorize",
        "token_endpoint": f"{BASE}/oauth/token",
        "revocation_endpoint": f"{BASE}/oauth/revoke",
        "scopes_supported": ["catalog:read", "library:read", "library:download", "account:read", "wallet:spend", "wallet:fund"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": False,
        "service_documentation": f"{API}/docs",
    }
    assert response["Access-Control-Allow-Origin"] == "*"
    assert client.post("/.well-known/oauth-authorization-server").status_code == 405


@pytest.mark.parametrize(("suffix", "resource"), [("", API), ("/api/v1", API), ("/mcp", MCP)])
def test_protected_resource_metadata_describes_each_resource(client: Client, suffix: str, resource: str) -> None:
    body = client.get(f"/.well-known/oauth-protected-resource{suffix}").json()
    assert (body["resource"], body["authorization_servers"], body["bearer_methods_supported"]) == (resource, [BASE], ["header"])


def test_missing_and_bad_credentials_are_sent_to_the_description() -> None:
    metadata = f'resource_metadata="{BASE}/.well-known/oauth-protected-resource/api/v1"'
    assert Client().get("/api/v1/wallet")["WWW-Authenticate"] == f'Bearer realm="marketplace", {metadata}, ApiKey realm="marketplace"'
    challenge = call("cam_at_nonsense")["WWW-Authenticate"]
    assert challenge == f'Bearer realm="marketplace", error="invalid_token", {metadata}, ApiKey realm="marketplace"'


def test_operations_for_keys_only_send_no_oauth_challenge(party: Party) -> None:
    path = "/api/v1/assets/x/manifest"
    for response in (Client().get(path), call(party.tokens()["access_token"], path)):
        assert (response.status_code, response["WWW-Authenticate"]) == (401, 'ApiKey realm="marketplace"')


def test_missing_scope_is_named_in_the_challenge(bearer_client: Callable[..., APIClient], party: Party) -> None:
    for response in (
        bearer_client(scopes={Scope.LIBRARY_READ}).get("/api/v1/wallet"),
        call(party.tokens(scope="catalog:read")["access_token"]),
    ):
        assert response.status_code == 403
        assert 'error="insufficient_scope", scope="account:read", resource_metadata=' in response["WWW-Authenticate"]

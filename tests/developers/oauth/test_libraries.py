"""A client library against a running server: what it does by default when scopes are narrowed and tokens are renewed."""

from typing import Any

import pytest
from oauthlib.oauth2 import OAuth2Error
from requests_oauthlib import OAuth2Session

from developers.services.scopes import narrow_scopes
from marketplace.core.scopes import Scope
from tests.factories import UserFactory

from .parties import CALLBACK, Party, end_grace

pytestmark = pytest.mark.django_db(transaction=True)


def test_oauth_library_gets_what_is_granted_and_an_invalid_grant_for_a_refresh_token_used_again(
    live_server: Any, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server of a test has no certificate.
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    # Without it, the library takes fewer scopes than it asked for as an error of its own.
    monkeypatch.setenv("OAUTHLIB_RELAX_TOKEN_SCOPE", "1")
    endpoint, client_id = f"{live_server.url}/oauth/token", party.app.client_id
    scope = ["catalog:read", "account:read", "library:read"]
    library, late = (OAuth2Session(client_id, scope=scope, redirect_uri=CALLBACK, pkce="S256") for _ in range(2))

    def wallet() -> int:
        return int(library.get(f"{live_server.url}/api/v1/wallet").status_code)

    address, _ = library.authorization_url(f"{live_server.url}/oauth/authorize")
    answer = party.browser.post(address, {"decision": "allow", "shown": "catalog:read account:read"})["Location"]
    tokens = library.fetch_token(endpoint, authorization_response=answer, include_client_id=True)
    assert (set(tokens["scope"]), tokens["token_type"], tokens["expires_in"]) == ({"catalog:read", "account:read"}, "Bearer", 3600)
    assert wallet() == 200
    # Libraries repeat the scopes that they asked for.
    narrow_scopes(app=party.app, scopes={Scope.CATALOG_READ}, reason="Misused", actor=UserFactory())
    first = tokens["refresh_token"]
    renewed = library.refresh_token(endpoint, refresh_token=first, client_id=client_id)
    assert set(renewed["scope"]) == {"account:read"}
    assert renewed["refresh_token"] != first
    assert wallet() == 200
    end_grace()
    with pytest.raises(OAuth2Error) as refusal:
        late.refresh_token(endpoint, refresh_token=first, client_id=client_id)
    assert refusal.value.error == "invalid_grant"
    assert refusal.value.description
    assert wallet() == 401

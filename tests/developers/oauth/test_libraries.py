"""Two client libraries against a running server: what they do by default when scopes are narrowed, tokens are renewed and tabs compete."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from django.db import connection
from oauthlib.oauth2 import OAuth2Error
from requests_oauthlib import OAuth2Session as RequestsOauthlibSession

from developers.services.scopes import narrow_scopes
from marketplace.core.scopes import Scope
from tests.factories import UserFactory
from tests.races import at_once

from .parties import CALLBACK, Party, end_grace

pytestmark = pytest.mark.django_db(transaction=True)

SCOPE = "catalog:read account:read library:read"


class Library:
    """A public client of the app."""

    session: Any

    def __init__(self, server: str, client_id: str) -> None:
        self.server, self.client_id = server, client_id
        self.authorize, self.token = f"{server}/oauth/authorize", f"{server}/oauth/token"

    def wallet(self) -> int:
        """Call the API and return the status of the answer."""
        return int(self.session.get(f"{self.server}/api/v1/wallet").status_code)


class Authlib(Library):
    """The client that authlib makes."""

    def __init__(self, server: str, client_id: str) -> None:
        super().__init__(server, client_id)
        self.verifier = "v" * 43
        self.session = AuthlibSession(
            client_id, scope=SCOPE, redirect_uri=CALLBACK, code_challenge_method="S256", token_endpoint_auth_method="none"
        )

    def begin(self) -> str:
        """Return the address that the user's browser is sent to."""
        return str(self.session.create_authorization_url(self.authorize, code_verifier=self.verifier)[0])

    def finish(self, answer: str) -> dict[str, Any]:
        """Exchange the code in the address that the browser came back to."""
        return dict(self.session.fetch_token(self.token, authorization_response=answer, code_verifier=self.verifier))

    def refresh(self, refresh_token: str) -> dict[str, Any]:
        """Renew the tokens."""
        return dict(self.session.refresh_token(self.token, refresh_token=refresh_token))


class RequestsOauthlib(Library):
    """The client that requests-oauthlib makes."""

    def __init__(self, server: str, client_id: str) -> None:
        super().__init__(server, client_id)
        self.session = RequestsOauthlibSession(client_id, scope=SCOPE.split(), redirect_uri=CALLBACK, pkce="S256")

    def begin(self) -> str:
        """Return the address that the user's browser is sent to."""
        return str(self.session.authorization_url(self.authorize)[0])

    def finish(self, answer: str) -> dict[str, Any]:
        """Exchange the code in the address that the browser came back to."""
        return dict(self.session.fetch_token(self.token, authorization_response=answer, include_client_id=True))

    def refresh(self, refresh_token: str) -> dict[str, Any]:
        """Renew the tokens."""
        return dict(self.session.refresh_token(self.token, refresh_token=refresh_token, client_id=self.client_id))


Program = Callable[[], Authlib | RequestsOauthlib]


@pytest.fixture(params=[Authlib, RequestsOauthlib], ids=["authlib", "requests-oauthlib"])
def program(request: pytest.FixtureRequest, live_server: Any, party: Party, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Return what makes a program of the app: one for each tab."""
    # The server of a test has no certificate.
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    # Without it, oauthlib's client takes fewer scopes than it asked for as an error of its own.
    monkeypatch.setenv("OAUTHLIB_RELAX_TOKEN_SCOPE", "1")
    return partial(request.param, live_server.url, party.app.client_id)


def consented(library: Authlib | RequestsOauthlib, party: Party) -> dict[str, Any]:
    """Let the user consent, and return the tokens."""
    address = library.begin()
    answer = party.browser.post(address, {"decision": "allow", "shown": "catalog:read account:read"})["Location"]
    return library.finish(answer)


def test_oauth_library_gets_what_is_granted_and_an_invalid_grant_for_a_refresh_token_used_again(program: Program, party: Party) -> None:
    library, late = program(), program()
    tokens = consented(library, party)
    assert scopes_of(tokens) == {"catalog:read", "account:read"}
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3600)
    assert library.wallet() == 200
    # Libraries repeat the scopes that they asked for.
    narrow_scopes(app=party.app, scopes={Scope.CATALOG_READ}, reason="Misused", actor=UserFactory())
    renewed = library.refresh(tokens["refresh_token"])
    assert scopes_of(renewed) == {"account:read"}
    assert renewed["refresh_token"] != tokens["refresh_token"]
    assert library.wallet() == 200
    end_grace()
    with pytest.raises((OAuthError, OAuth2Error)) as refusal:
        late.refresh(tokens["refresh_token"])
    assert refusal.value.error == "invalid_grant"
    assert refusal.value.description
    assert library.wallet() == 401


@pytest.mark.database
def test_concurrent_refreshes_of_two_tabs_get_the_same_tokens(program: Program, party: Party) -> None:
    tokens, tabs = consented(program(), party), [program(), program()]
    if connection.vendor == "postgresql":
        answers = at_once(*(partial(tab.refresh, tokens["refresh_token"]) for tab in tabs))
    else:
        answers = [tab.refresh(tokens["refresh_token"]) for tab in tabs]
    assert answers[0]["refresh_token"] == answers[1]["refresh_token"] != tokens["refresh_token"]
    assert [tab.wallet() for tab in tabs] == [200, 200]


def scopes_of(tokens: dict[str, Any]) -> set[str]:
    """Return the scopes of an answer; one library splits them."""
    scope = tokens["scope"]
    return set(scope.split() if isinstance(scope, str) else scope)

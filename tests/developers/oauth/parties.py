"""Who takes part in a flow, over Django's test client."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from authlib.common.security import generate_token
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from bs4 import BeautifulSoup
from django.db.models import F
from django.test import Client

from developers.models import App, MetadataReview, RefreshToken
from developers.models.credentials import REFRESH_GRACE
from developers.services.clients import decide_metadata, set_redirect_uris
from tests.factories import PASSWORD, UserFactory

BASE = "http://testserver"

API, MCP = f"{BASE}/api/v1", f"{BASE}/mcp"
CALLBACK = "https://app.example/callback?tenant=1"
LOOPBACK = "http://127.0.0.1/done"


def query_of(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query, keep_blank_values=True))


@dataclass
class Party:
    """An app with its user's browser."""

    app: App
    browser: Client
    redirect_uri: str = CALLBACK
    verifier: str = field(default_factory=lambda: generate_token(48))

    def parameters(self, **changes: Any) -> dict[str, Any]:
        """Return a good authorization request with changes; None leaves a parameter out."""
        good = {
            "response_type": "code",
            "client_id": self.app.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": "catalog:read account:read",
            "state": "s t&te",
            "code_challenge": create_s256_code_challenge(self.verifier),
            "code_challenge_method": "S256",
        }
        return {name: value for name, value in (good | changes).items() if value is not None}

    def ask(self, **changes: Any) -> Any:
        """Open the consent page."""
        return self.browser.get("/oauth/authorize", self.parameters(**changes))

    def decide(self, decision: str = "allow", **changes: Any) -> Any:
        """Open the consent page and press a button on it."""
        address = f"/oauth/authorize?{urlencode(self.parameters(**changes), doseq=True)}"
        page = BeautifulSoup(self.browser.get(address).content, "html.parser")
        shown = page.select_one("input[name=shown]")
        assert shown is not None
        # Where the app asks to spend, the limits that the page proposes.
        limits = {str(field["name"]): str(field.get("value", "")) for field in page.select("input[type=number]")}
        password = {"password": PASSWORD} if page.select_one("input[name=password]") else {}
        return self.browser.post(address, {"decision": decision, "shown": shown["value"], **limits, **password})

    def code(self, **changes: Any) -> str:
        """Return a code that the user has allowed."""
        return query_of(self.decide(**changes)["Location"])["code"]

    def exchange(self, code: str, /, **changes: Any) -> Any:
        """Send a token request by hand."""
        good = {
            "grant_type": "authorization_code",
            "client_id": self.app.client_id,
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
        }
        return post_form("/oauth/token", {name: value for name, value in (good | changes).items() if value is not None})

    def refresh(self, refresh_token: str, /, **changes: Any) -> Any:
        """Send a refresh request by hand."""
        good = {"grant_type": "refresh_token", "client_id": self.app.client_id, "refresh_token": refresh_token}
        return post_form("/oauth/token", good | changes)

    def tokens(self, **changes: Any) -> dict[str, Any]:
        """Go through the whole flow."""
        body: dict[str, Any] = json.loads(self.exchange(self.code(**changes)).content)
        return body


def post_form(path: str, parameters: Mapping[str, Any], **extra: Any) -> Any:
    return Client().post(path, urlencode(parameters, doseq=True), content_type="application/x-www-form-urlencoded", **extra)


def call(token: str, path: str = "/api/v1/wallet") -> Any:
    return Client().get(path, headers={"Authorization": f"Bearer {token}"})


def end_grace() -> None:
    """Let the time pass in which a refresh token that was replaced still answers."""
    RefreshToken.objects.filter(revoked__isnull=False).update(revoked=F("revoked") - REFRESH_GRACE)


def assert_error(response: Any, error: str, status: int = 400) -> None:
    """Check a refusal of the token endpoint."""
    assert (response.status_code, response.json().get("error")) == (status, error)
    assert response.json()["error_description"]
    assert response["Cache-Control"] == "no-store"


def assert_sent_back(response: Any, error: str) -> None:
    """Check that the app is told of an error, by us, where it is registered and nowhere else."""
    assert response.status_code == 303
    assert response["Location"].startswith(CALLBACK)
    answer = query_of(response["Location"])
    assert (answer["error"], answer["state"], answer["iss"]) == (error, "s t&te", BASE)
    assert answer["error_description"]
    assert "code" not in answer


def move(app: App, *uris: str) -> None:
    """Give an app these redirect URIs; a reviewer accepts what is new."""
    if set_redirect_uris(app=app, uris=uris, actor=app.developer):
        document = MetadataReview.objects.get(app=app)
        decide_metadata(metadata_review=document, accept=True, shown=document.latest, reason="It is their site.", actor=UserFactory())

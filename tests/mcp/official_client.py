"""The protocol's official client: connects it, and takes it through OAuth as a person in a browser would."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Any

import httpx2
import requests
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client as Browser
from mcp import Client
from mcp.client.auth import TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthToken
from mcp_types import CallToolResult, TextContent
from pydantic import AnyUrl

from developers.models import App
from marketplace.accounts.models import User
from tests.developers.oauth.parties import query_of
from tests.factories import PASSWORD
from tests.waiting import PATIENCE_SECONDS

CALLBACK = "http://127.0.0.1/done"


@asynccontextmanager
async def connected(address: str, mode: str, asked: Any = None, **http: Any) -> AsyncIterator[Client]:
    """Yield a connected client; `asked` answers what the server asks its user."""
    async with (
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS, **http) as client,
        Client(
            streamable_http_client(address, http_client=client),
            mode=mode,
            read_timeout_seconds=PATIENCE_SECONDS,
            elicitation_callback=asked,
        ) as connection,
    ):
        yield connection


def data_of(result: CallToolResult) -> dict[str, Any]:
    """Return what a tool answered; the text is the same, and so is what it promised in its schema: the client checks that."""
    assert not result.is_error, result.content
    summary, text = result.content[:2]
    assert isinstance(summary, TextContent)
    assert isinstance(text, TextContent)
    assert json.loads(text.text) == result.structured_content
    answer: dict[str, Any] = result.structured_content
    return answer


async def grant(app: App, scopes: str) -> None:
    """Change what an app is granted; in a thread that leaves no connection to the database behind."""

    def write() -> None:
        with closing(connection):
            App.objects.filter(pk=app.pk).update(granted_scopes=scopes)

    await asyncio.to_thread(write)


class Storage(TokenStorage):
    """What a client keeps, here in memory: who it is, where it was registered by hand, and its tokens."""

    def __init__(self, client_id: str = "") -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None
        if client_id:
            self.client = OAuthClientInformationFull(
                client_id=client_id, redirect_uris=[AnyUrl(CALLBACK)], token_endpoint_auth_method="none"
            )

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class TurnedAway(Exception):
    """The consent page is not to be had; its text."""


class Person:
    """Someone at a browser who is signed in and agrees, or is turned away where there is nothing to agree to."""

    def __init__(self, user: User, base: str) -> None:
        browser = Browser()
        browser.force_login(user)
        self.cookies = {"sessionid": browser.cookies["sessionid"].value}
        self.base, self.sent_to, self.visits = base, "", 0

    async def open(self, authorization_url: str) -> None:
        """Open the consent page and allow what it says."""
        assert authorization_url.startswith(f"{self.base}/oauth/authorize?")
        self.sent_to = await asyncio.to_thread(self._agree, authorization_url)

    def _agree(self, address: str) -> str:
        self.visits += 1
        # Closed at the end, so that the server's thread ends with it.
        with requests.Session() as session:
            session.cookies.update(self.cookies)
            found = session.get(address, timeout=PATIENCE_SECONDS)
            if found.status_code != 200:
                raise TurnedAway(found.text)
            page = BeautifulSoup(found.content, "html.parser")
            fields = {str(field["name"]): str(field.get("value", "")) for field in page.select("form input[name]:not([type=checkbox])")}
            form = {**fields, "password": PASSWORD, "decision": "allow"}
            answer = session.post(address, form, headers={"Referer": address}, allow_redirects=False, timeout=PATIENCE_SECONDS)
        assert answer.status_code == 303, answer.text
        return answer.headers["Location"]

    async def decide(self, address: str, *, allows: bool) -> str:
        """Open the page of an approval, allow the purchase once or decline it, and return the text of the page before."""
        return await asyncio.to_thread(self._decide, address, allows)

    def _decide(self, address: str, allows: bool) -> str:  # noqa: FBT001 - to_thread passes it on
        with requests.Session() as session:
            session.cookies.update(self.cookies)
            page = BeautifulSoup(session.get(address, timeout=PATIENCE_SECONDS).content, "html.parser")
            (token, *_), (declining,) = page.select("input[name=csrfmiddlewaretoken]"), page.select("form#decline")
            # Asked for above a sum.
            form = {"csrfmiddlewaretoken": str(token["value"]), "decision": "once", "password": "correct horse battery"}
            target = address if allows else f"{self.base}{declining['action']}"
            answer = session.post(target, form, headers={"Referer": address}, timeout=PATIENCE_SECONDS)
        assert answer.status_code == 200, answer.text
        return page.get_text()

    async def come_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(query_of(self.sent_to))

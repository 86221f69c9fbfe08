"""The official client by OAuth as one that nobody has registered, and as one that comes to need more than it asked for at first."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import orjson
import pytest
import requests
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata
from pydantic import AnyUrl

from developers.models import AccessToken, App, Consent, ScopeReview
from developers.services.scopes import ScopeDecision, decide_scopes
from marketplace.core.scopes import APP_SCOPES, Scope
from marketplace.http import outbound
from marketplace.http.outbound import Response
from tests.factories import AppFactory, UserFactory
from tests.shop import funded
from tests.waiting import PATIENCE_SECONDS

from .official_client import CALLBACK, Person, Storage, TurnedAway, connected, data_of, grant

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]

DOCUMENT = "https://assistant.example/client.json"


def provider_for(address: str, visitor: Person, storage: Storage, **more: Any) -> OAuthClientProvider:
    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], token_endpoint_auth_method="none")
    return OAuthClientProvider(address, metadata, storage, visitor.open, visitor.come_back, **more)


def talk(address: str, provider: OAuthClientProvider, do: Callable[[Client], Coroutine[Any, Any, Any]]) -> Any:
    async def run() -> Any:
        async with connected(address, "auto", auth=provider) as client:
            return await do(client)

    return asyncio.run(run())


async def wallet(client: Client) -> dict[str, Any]:
    return data_of(await client.call_tool("get_wallet", {}))


def reached(error: BaseException, kind: type[BaseException]) -> bool:
    """Tell whether an error, or one that it groups or came of, is of a kind."""
    inner = [*getattr(error, "exceptions", ()), error.__cause__, error.__context__]
    return isinstance(error, kind) or any(reached(one, kind) for one in inner if one is not None)


def test_unknown_mcp_client_is_admitted_after_its_review(address: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CLIENT_METADATA_HOSTS = ["assistant.example"]
    document = orjson.dumps({"client_id": DOCUMENT, "client_name": "Assistant", "redirect_uris": [CALLBACK]})
    monkeypatch.setattr(outbound, "request", lambda *_, **__: Response(200, {"Content-Type": "application/json"}, document))
    visitor = Person(funded(inr=100_00), address.removesuffix("/mcp"))
    assert requests.post(address, timeout=PATIENCE_SECONDS).status_code == 401
    provider = provider_for(address, visitor, Storage(), client_metadata_url=DOCUMENT)
    with pytest.raises(BaseException) as refusal:  # noqa: PT011 - the client wraps what its callback raises in groups of its own
        talk(address, provider, wallet)
    assert reached(refusal.value, TurnedAway)
    app = App.objects.get(client_id=DOCUMENT)
    assert (app.status, app.user) == ("Pending", None)
    decisions = {scope: ScopeDecision(granted=scope != Scope.WALLET_SPEND) for scope in APP_SCOPES}
    decide_scopes(review=ScopeReview.objects.get(app=app), decisions=decisions, note="Known to us.", actor=UserFactory())
    provider = provider_for(address, visitor, Storage(), client_metadata_url=DOCUMENT)
    assert talk(address, provider, wallet)["balanceINR"] == 100
    token = AccessToken.objects.get(kind="mcp")
    assert (token.application, Scope.WALLET_SPEND in token.scopes) == (app, False)


def test_client_that_lacks_a_scope_asks_its_user_again_and_goes_on(address: str) -> None:
    app = AppFactory(granted_scopes="catalog:read", redirect_uris=CALLBACK)
    visitor, storage = Person(funded(inr=100_00), address.removesuffix("/mcp")), Storage(app.client_id)
    provider = provider_for(address, visitor, storage)

    async def step_up(client: Client) -> dict[str, Any]:
        assert "get_wallet" not in [tool.name for tool in (await client.list_tools()).tools]
        await grant(app, "catalog:read account:read")
        return await wallet(client)

    assert talk(address, provider, step_up)["balanceINR"] == 100
    assert visitor.visits == 2
    assert Consent.objects.get(app=app).scopes == {Scope.CATALOG_READ, Scope.ACCOUNT_READ}

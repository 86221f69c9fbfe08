"""The official client against a running server: both generations of the protocol, every tool, and OAuth from nothing to a purchase."""

import asyncio
import uuid
from collections.abc import Callable, Coroutine
from contextlib import closing
from typing import Any

import pytest
import requests
from django.db import connection
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata
from mcp_types import ElicitResult
from pydantic import AnyUrl

from catalog.models import Listing
from developers.models import AccessToken, SpendingLimit
from marketplace.core.scopes import Scope, format_scopes
from marketplace.mcp.tools.calling import TOOLS
from tests.factories import AppFactory
from tests.shop import funded
from tests.waiting import PATIENCE_SECONDS
from wallet.models import Approval, Order
from wallet.services.approvals import approve_purchase

from .official_client import CALLBACK, Person, Storage, connected, data_of
from .speaking import NEWEST, WITH_HANDSHAKE, mcp_token

pytestmark = pytest.mark.django_db(transaction=True)

MODES = {"auto": NEWEST, "legacy": WITH_HANDSHAKE[0]}


def speak(address: str, mode: str, secret: str, do: Callable[[Client], Coroutine[Any, Any, Any]], asked: Any = None) -> Any:
    """Do something with a client that has a token."""

    async def talk() -> Any:
        async with connected(address, mode, asked, headers={"Authorization": f"Bearer {secret}"}) as client:
            return await do(client)

    return asyncio.run(talk())


@pytest.mark.slow
def test_client_that_answers_requests_shows_its_user_the_page_of_the_approval(address: str, listing: Listing) -> None:
    _, secret, app = mcp_token(funded(inr=100_000))
    user = app.developer
    SpendingLimit.objects.create(owner=user, app=app, currency="INR", per_purchase_minor=100, set_by=user)
    shown = []

    def approve() -> None:
        with closing(connection):
            approve_purchase(approval=Approval.objects.get(), actor=user)

    async def asked(_context: Any, params: Any) -> ElicitResult:
        shown.append(params.url)
        await asyncio.to_thread(approve)
        return ElicitResult(action="accept")

    async def buy(client: Client) -> dict[str, Any]:
        purchase = {"assetId": "harbor-grotesk", "currency": "INR", "idempotencyKey": "one", "onLimit": "ask", "reason": "For the poster"}
        return data_of(await client.call_tool("buy_asset", purchase))

    receipt = speak(address, "auto", secret, buy, asked)
    approval = Approval.objects.get()
    assert receipt["orderId"] == str(approval.order_id)
    assert [address.rpartition("/dashboard")[2] for address in shown] == [f"/approvals/{approval.pk}"]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_client_discovers_and_calls_every_tool(address: str, listing: Listing, mode: str) -> None:
    user = funded(inr=100_000)
    _, secret, _ = mcp_token(user)

    async def shop(client: Client) -> None:
        assert client.protocol_version == MODES[mode]
        assert "shop for creative assets" in (client.instructions or "") or mode == NEWEST
        assert [tool.name for tool in (await client.list_tools()).tools] == list(TOOLS)
        done = set()

        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            done.add(name)
            return data_of(await client.call_tool(name, arguments))

        categories = await call("list_categories")
        assert categories["total"] == 5
        found = await call("search_assets", q="harbour grotesk", category=listing.category.slug, maxPrice=499.0)
        asset = (await call("list_assets", sort="newest", limit=1))["items"][0]
        assert found["results"][0]["id"] == asset["id"] == str(listing.id)
        assert (await call("get_asset", assetId="harbor-grotesk"))["priceINR"] == 499
        rights = await call("check_rights", assetId=asset["id"], use="print_run", quantity=500)
        assert (rights["decision"], rights["licenseSlug"]) == ("buy", "commercial")
        assert (await call("get_asset_manifest", assetId=asset["id"]))["slug"] == "harbor-grotesk"
        assert (await call("who_am_i"))["environment"] == "production"
        assert (await call("get_wallet"))["balanceINR"] == 1000
        quote = await call("quote_purchase", assetId=asset["id"], currency="INR")
        asked = await call("request_top_up", amount=100, currency="INR", idempotencyKey=str(uuid.uuid4()))
        assert asked["status"] == "Pending"
        key = str(uuid.uuid4())
        receipt = await call("buy_asset", assetId=asset["id"], quoteId=quote["quoteId"], idempotencyKey=key)
        assert receipt["newBalanceINR"] == 501
        assert await call("buy_asset", assetId=asset["id"], quoteId=quote["quoteId"], idempotencyKey=key) == receipt
        assert (await call("list_library"))["items"][0]["orderId"] == receipt["orderId"]
        link = await call("get_download_link", assetId=asset["id"])
        package = await asyncio.to_thread(requests.get, link["downloadUrl"], timeout=PATIENCE_SECONDS)
        assert len(package.content) == link["size"]
        assert done == set(TOOLS)

    speak(address, mode, secret, shop)


@pytest.mark.slow
def test_mcp_client_gets_from_a_401_to_a_purchase_by_oauth(address: str, listing: Listing) -> None:
    buyer = funded(inr=100_000)
    scopes = format_scopes({Scope.LIBRARY_READ, Scope.WALLET_SPEND})
    app = AppFactory(granted_scopes=scopes, redirect_uris=CALLBACK)
    person, storage = Person(buyer, address.removesuffix("/mcp")), Storage(app.client_id)
    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], token_endpoint_auth_method="none", scope=scopes)
    provider = OAuthClientProvider(address, metadata, storage, person.open, person.come_back)

    async def buy() -> tuple[list[str], dict[str, Any]]:
        async with connected(address, "auto", auth=provider) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            return names, data_of(await client.call_tool("buy_asset", {"assetId": "harbor-grotesk", "idempotencyKey": "one"}))

    assert requests.post(address, timeout=PATIENCE_SECONDS).status_code == 401
    names, receipt = asyncio.run(buy())
    assert {"list_library", "buy_asset"} < set(names)
    assert "get_wallet" not in names
    assert storage.tokens is not None
    assert storage.tokens.access_token.startswith("cam_mcp_")
    order = Order.objects.get(pk=receipt["orderId"])
    assert (order.buyer, order.app_id, order.credential_kind) == (buyer, app.id, "mcp")
    assert order.credential_id == AccessToken.objects.get(kind="mcp").id

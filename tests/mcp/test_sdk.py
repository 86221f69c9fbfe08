"""The official client against a running server: both generations of the protocol, every tool, and OAuth from nothing to a purchase."""

import asyncio
import json
import uuid
from collections.abc import Callable, Coroutine
from contextlib import closing
from typing import Any

import pytest
import requests
from django.db import connection
from mcp import Client, MCPError
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata
from mcp_types import ElicitResult, TextResourceContents
from pydantic import AnyUrl

from catalog.models import Listing
from developers.models import AccessToken, App, SpendingLimit
from marketplace.core.scopes import Scope, format_scopes
from marketplace.mcp.tools.calling import TOOLS
from tests.factories import AppFactory, UserFactory
from tests.shop import archive, funded, on_sale
from tests.waiting import PATIENCE_SECONDS
from wallet.models import Approval, Order
from wallet.services.approvals import approve_purchase

from .official_client import CALLBACK, Person, Storage, connected, data_of, grant
from .speaking import NEWEST, WITH_HANDSHAKE, mcp_token

pytestmark = pytest.mark.django_db(transaction=True)

MODES = {"auto": NEWEST, NEWEST: NEWEST, "legacy": WITH_HANDSHAKE[0]}


@pytest.fixture
def address(live_server: Any, settings: Any) -> str:
    """Serve, under the name that everything is told."""
    settings.BASE_URL = live_server.url
    return f"{live_server.url}/mcp"


@pytest.fixture
def listing(db: None) -> Listing:
    """Something to buy whose file is there."""
    return on_sale(archive(), title="Harbor Grotesk", slug="harbor-grotesk", readme="# Harbor\n\nInstall it.")


def speak(address: str, mode: str, secret: str, do: Callable[[Client], Coroutine[Any, Any, Any]], asked: Any = None) -> Any:
    """Do something with a client that has a token."""

    async def talk() -> Any:
        async with connected(address, mode, asked, headers={"Authorization": f"Bearer {secret}"}) as client:
            return await do(client)

    return asyncio.run(talk())


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_client_that_answers_requests_shows_its_user_the_payment_page(address: str, mode: str) -> None:
    shown = []

    async def asked(_context: Any, params: Any) -> ElicitResult:
        shown.append(params.url)
        return ElicitResult(action="accept")

    async def ask(client: Client) -> Any:
        return data_of(await client.call_tool("request_top_up", {"amount": 100, "currency": "INR", "idempotencyKey": "a"}))

    answer = speak(address, mode, mcp_token()[1], ask, asked)
    # Older revisions tell what a client can do only once, and this server remembers nothing.
    assert shown == ([answer["paymentUrl"]] if MODES[mode] == NEWEST else [])


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_purchase_above_a_limit_is_made_after_the_user_has_approved_it(address: str, listing: Listing, mode: str) -> None:
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
        answer = data_of(await client.call_tool("buy_asset", purchase))
        if not answer["success"]:
            shown.append(answer["approvalUrl"])
            await asyncio.to_thread(approve)
            answer = data_of(await client.call_tool("buy_asset", purchase))
        return answer

    receipt = speak(address, mode, secret, buy, asked)
    approval = Approval.objects.get()
    assert (receipt["orderId"], len(shown)) == (str(approval.order_id), 1)
    assert shown[0].endswith(f"/dashboard/approvals/{approval.pk}")


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
@pytest.mark.parametrize("mode", MODES)
def test_client_reads_resources_and_prompts(address: str, listing: Listing, mode: str) -> None:
    user = funded(inr=100_000)
    _, secret, _ = mcp_token(user)

    async def read(client: Client) -> None:
        detail = await client.call_tool("get_asset", {"assetId": "harbor-grotesk"})
        uri = detail.content[2].uri  # type: ignore[union-attr]  # a resource link, as asserted by reading it
        manifest = (await client.read_resource(uri)).contents[0]
        assert isinstance(manifest, TextResourceContents)
        assert json.loads(manifest.text) == (await client.call_tool("get_asset_manifest", {"assetId": "harbor-grotesk"})).structured_content
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == [
            "asset://{slug}/manifest",
            "asset://{slug}/readme",
            "asset://{slug}/certificate",
        ]
        with pytest.raises(MCPError, match="do not own"):
            await client.read_resource("asset://harbor-grotesk/readme")
        assert not (await client.list_resources()).resources
        await client.call_tool("buy_asset", {"assetId": "harbor-grotesk", "idempotencyKey": "one"})
        owned = (await client.list_resources()).resources
        assert [str(resource.uri) for resource in owned] == ["asset://harbor-grotesk/readme"]
        readme = (await client.read_resource(str(owned[0].uri))).contents[0]
        assert isinstance(readme, TextResourceContents)
        assert readme.text == "# Harbor\n\nInstall it."
        (prompt,) = (await client.list_prompts()).prompts
        assert [argument.name for argument in prompt.arguments or [] if argument.required] == ["purpose"]
        asked = await client.get_prompt(prompt.name, {"purpose": "A harbour festival", "budget": "500", "currency": "INR"})
        assert "at most 500 INR" in asked.messages[0].content.text  # type: ignore[union-attr]  # prompts are text

    speak(address, mode, secret, read)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_refusals_reach_the_model_and_lacking_scopes_the_client(address: str, listing: Listing, mode: str) -> None:
    _, secret, app = mcp_token(UserFactory())

    async def fail(client: Client) -> None:
        poor = await client.call_tool("buy_asset", {"assetId": "harbor-grotesk", "idempotencyKey": "one"})
        assert poor.is_error
        assert "insufficient_balance: It costs 499.00 INR; the wallet holds 0.00 INR. Tell the user" in poor.content[0].text  # type: ignore[union-attr]  # text
        await grant(app, "catalog:read")
        assert "buy_asset" not in [tool.name for tool in (await client.list_tools()).tools]
        with pytest.raises(MCPError, match="needs the scope wallet:spend") as refusal:
            await client.call_tool("buy_asset", {"assetId": "harbor-grotesk", "idempotencyKey": "one"})
        assert refusal.value.error.data["requiredScope"] == "wallet:spend"
        refused.append(app)

    refused: list[App] = []
    speak(address, mode, secret, fail)
    assert refused == [app]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_mcp_client_gets_from_a_401_to_a_purchase_by_oauth(address: str, listing: Listing, mode: str) -> None:
    buyer = funded(inr=100_000)
    scopes = format_scopes({Scope.LIBRARY_READ, Scope.WALLET_SPEND})
    app = AppFactory(granted_scopes=scopes, redirect_uris=CALLBACK)
    person, storage = Person(buyer, address.removesuffix("/mcp")), Storage(app.client_id)
    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], token_endpoint_auth_method="none", scope=scopes)
    provider = OAuthClientProvider(address, metadata, storage, person.open, person.come_back)

    async def buy() -> tuple[list[str], dict[str, Any]]:
        async with connected(address, mode, auth=provider) as client:
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

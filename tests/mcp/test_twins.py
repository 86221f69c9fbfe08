"""A tool answers what its twin in the API answers, in no more queries: generated cases, each answer made anew."""

import json
import random
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.cache import caches
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from catalog.models import Listing
from marketplace.accounts.models import User
from marketplace.mcp.tools.calling import TOOLS
from tests.shop import archive, bought, funded, on_sale

from .speaking import Speaker, mcp_token

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unlimited"), pytest.mark.database_full]

CASES = 100
SEED = 42
WORDS = ["harbor", "harbour", "grotesk", "neon", "titles", "minimal", "deck", "grain", "xyzzy", "a"]
# What no two calls have in common.
_ONCE = ("requestId", "instance", "downloadUrl", "expiresAt", "quoteId", "paymentUrl")


@pytest.fixture
def listings(db: None) -> list[Listing]:
    """A shop window."""
    dice = random.Random(SEED)
    made = []
    for number in range(8):
        words = dice.sample(WORDS[:-2], 2)
        made.append(
            on_sale(
                archive(f"{number}"),
                title=f"{words[0]} {words[1]} {number}".title(),
                base_price_minor=dice.randrange(0, 5000, 250),
                price_inr_minor=dice.choice([None, 49_900, 99_900, dice.randrange(100_000)]),
                discount_bp=dice.choice([0, 0, 1000, 3333]),
                tags=dice.sample(WORDS, 3),
                file_type=dice.choice(["OTF", "MOGRT", ""]),
                supported_platforms=dice.choice(["Figma", "After Effects 2023+, Premiere Pro", ""]),
            )
        )
    return made


class Twins:
    """One user, with an MCP token and an API key of the same app."""

    def __init__(self, user: User, key_client: Callable[..., APIClient], bearer_client: Callable[..., APIClient]) -> None:
        _, secret, self.app = mcp_token(user)
        self.tools = Speaker(secret)
        self.keyed, self.bearer = key_client(app=self.app), bearer_client(user)

    def rest(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Call the twin of a tool."""
        asset, rest = arguments.get("assetId", ""), {name: value for name, value in arguments.items() if name != "assetId"}
        key = rest.pop("idempotencyKey", None)
        query = f"?{urlencode(rest)}" if rest else ""
        match tool:
            case "list_categories":
                return self.keyed.get("/api/v1/categories")
            case "list_assets":
                return self.keyed.get(f"/api/v1/assets{query}")
            case "search_assets":
                return self.keyed.get(f"/api/v1/assets/search{query}")
            case "get_asset" | "get_asset_manifest" | "check_rights":
                part = {"get_asset": "", "get_asset_manifest": "/manifest", "check_rights": f"/rights{query}"}[tool]
                return self.keyed.get(f"/api/v1/assets/{asset}{part}")
            case "list_library":
                return self.bearer.get(f"/api/v1/library{query}")
            case "get_download_link":
                return self.bearer.post(f"/api/v1/library/download/{asset}{query}")
            case "get_wallet" | "who_am_i":
                return self.bearer.get("/api/v1/wallet" if tool == "get_wallet" else "/api/v1/me")
            case "quote_purchase":
                return self.bearer.post("/api/v1/wallet/quote", arguments, format="json")
            case "request_top_up":
                return self.bearer.post("/api/v1/wallet/top-ups", rest, format="json", headers={"Idempotency-Key": key})
            case _:
                # With the key of the same app: that of another requester would be another purchase.
                body = {"assetId": asset, **rest}
                return self.keyed.post("/api/v1/wallet/spend", body, format="json", headers={"Idempotency-Key": key})


@pytest.fixture
def twins(listings: list[Listing], key_client: Callable[..., APIClient], bearer_client: Callable[..., APIClient]) -> Twins:
    """Someone who owns some of it and has money for more."""
    user = funded(inr=100_000_000, usd=100_000)
    for listing in listings[:4]:
        bought(listing, user, currency="USD")
    return Twins(user, key_client, bearer_client)


def case(dice: random.Random, listings: list[Listing]) -> tuple[str, dict[str, Any]]:
    """Return a tool and arguments, some of which it must refuse."""

    def asset() -> str:
        listing = dice.choice(listings)
        return dice.choice([str(listing.id), listing.slug, listing.slug, "no-such-asset"])

    def some(**given: Any) -> dict[str, Any]:
        return {name: dice.choice(values) for name, values in given.items() if dice.random() < 0.4}

    filters = {
        "category": [listing.category.slug for listing in listings] + ["none"],
        "tier": ["free", "pro", "gold"],
        "tag": WORDS,
        "fileType": ["otf", "mogrt"],
        "platform": ["figma", "premiere pro"],
        "license": ["personal", "commercial", "none"],
        "minPrice": [0, 100, 499.0, 5.555],
        "maxPrice": [500, 20.5],
        "currency": ["INR", "USD", "EUR", "GBP"],
        "limit": [1, 3, 50, 500, 0],
        "facets": ["category,tier", "license", "nothing"],
    }
    # A top-up is left out: after a few, the limit of open pages refuses all others. Twins are different callers.
    names = [name for name in TOOLS if name not in {"request_top_up", "who_am_i"}]
    tool = dice.choice([*names, "search_assets", "list_assets", "search_assets", "list_assets", "get_asset"])
    match tool:
        case "search_assets":
            return tool, {"q": " ".join(dice.sample(WORDS, dice.randint(1, 2))), **some(**filters)}
        case "list_assets":
            return tool, some(**filters, sort=["popular", "newest", "price_asc", "price_desc"], page=[1, 2, 9])
        case "list_library":
            return tool, some(limit=[1, 2, 100, 0], cursor=["bm90IG91cnM"])
        case "get_asset" | "get_asset_manifest":
            return tool, {"assetId": asset()}
        case "get_download_link" | "check_rights":
            rights = {"use": dice.choice(["team", "app", "war"]), **some(quantity=[1, 26, 0])}
            return tool, {"assetId": asset(), **(rights if tool == "check_rights" else some(version=["9.9"]))}
        case "quote_purchase":
            return tool, {"assetId": asset(), **some(currency=["INR", "USD"], licenseSlug=["commercial", "extended", "none"])}
        case "buy_asset":
            choices = some(currency=["INR", "USD"], licenseSlug=["commercial", "extended", "none"])
            return tool, {"assetId": asset(), "idempotencyKey": f"k{dice.random()}", **choices}
        case _:
            return tool, {}


def comparable(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without what belongs to one call only, its pointers in one form."""
    kept = {name: value for name, value in answer.items() if name not in _ONCE}
    if "errors" in kept:
        kept["errors"] = [error | {"pointer": error["pointer"].replace("?", "#/")} for error in kept["errors"]]
        kept["detail"] = kept["detail"].replace("?", "#/", 1)
    return kept


def forget() -> None:
    """Make what comes next be looked up."""
    for store in caches.all():
        store.clear()


@pytest.mark.slow
def test_tools_return_what_their_api_operations_return(twins: Twins, listings: list[Listing]) -> None:
    dice = random.Random(SEED)
    refused, called = 0, set()
    for number in range(CASES):
        tool, arguments = case(dice, listings)
        forget()
        result = twins.tools.call(tool, **arguments)
        forget()
        response = twins.rest(tool, arguments)
        about = (number, tool, arguments, response.content)
        called.add(tool)
        assert result["isError"] == (response.status_code != 200), about
        if result["isError"]:
            refused += 1
            assert comparable(json.loads(result["content"][1]["text"])) == comparable(response.json()), about
        else:
            assert result["structuredContent"] == json.loads(result["content"][1]["text"]), about
            assert comparable(result["structuredContent"]) == comparable(response.json()), about
    assert called == set(TOOLS) - {"request_top_up", "who_am_i"}
    assert CASES * 0.1 < refused < CASES * 0.6


def test_purchase_by_a_tool_repeated_through_the_api_with_its_idempotency_key_is_the_same_purchase(
    twins: Twins, listings: list[Listing]
) -> None:
    arguments = {"assetId": listings[-1].slug, "currency": "USD", "idempotencyKey": "one"}
    result = twins.tools.call("buy_asset", **arguments)["structuredContent"]
    response = twins.rest("buy_asset", arguments)
    assert (response.json(), response["Idempotent-Replayed"]) == (result, "true")


ARGUMENTS: dict[str, Callable[[Listing], dict[str, Any]]] = {
    "search_assets": lambda _listing: {"q": "harbor", "limit": 5},
    "list_assets": lambda _listing: {"sort": "newest", "tag": "neon"},
    "get_asset": lambda listing: {"assetId": listing.slug},
    "list_categories": lambda _listing: {},
    "check_rights": lambda listing: {"assetId": listing.slug, "use": "team", "quantity": 5},
    "get_asset_manifest": lambda listing: {"assetId": listing.slug},
    "list_library": lambda _listing: {"limit": 2},
    "get_download_link": lambda listing: {"assetId": listing.slug},
    "get_wallet": lambda _listing: {},
    "who_am_i": lambda _listing: {},
    "quote_purchase": lambda listing: {"assetId": listing.slug, "licenseSlug": "commercial"},
    "buy_asset": lambda listing: {"assetId": listing.slug, "licenseSlug": "commercial", "idempotencyKey": "one", "currency": "USD"},
    "request_top_up": lambda _listing: {"amount": 10, "currency": "USD", "idempotencyKey": "top-up"},
}


@pytest.mark.slow
def test_no_tool_sends_more_queries_than_its_api_operation(twins: Twins, listings: list[Listing], subtests: pytest.Subtests) -> None:
    assert ARGUMENTS.keys() == TOOLS.keys()
    # Each has been called before: the credential is noted as used, the manifest and the package are made, the vocabulary is read.
    twins.tools.call("get_wallet")
    twins.rest("get_wallet", {})
    twins.rest("get_asset_manifest", {"assetId": listings[0].slug})
    twins.rest("get_download_link", {"assetId": listings[0].slug})
    twins.tools.call("search_assets", q="harbor")
    for tool in TOOLS:
        with subtests.test(tool):
            _compare_queries(twins, tool, ARGUMENTS[tool](listings[0]))


def _compare_queries(twins: Twins, tool: str, arguments: dict[str, Any]) -> None:
    forget()
    with CaptureQueriesContext(connection) as by_tool:
        result = twins.tools.call(tool, **arguments)
    assert not result["isError"], result
    if tool == "buy_asset":
        arguments = arguments | {"licenseSlug": "extended", "idempotencyKey": "two"}
    if tool == "request_top_up":
        arguments = arguments | {"idempotencyKey": "another"}
    forget()
    with CaptureQueriesContext(connection) as by_twin:
        assert twins.rest(tool, arguments).status_code == 200
    assert 2 <= len(by_tool) <= len(by_twin), [query["sql"] for query in by_tool]
    if tool not in {"get_download_link", "quote_purchase", "buy_asset", "request_top_up"}:
        assert len(by_tool) <= 8


@pytest.mark.slow
def test_response_cached_for_a_tool_is_not_served_for_an_invalid_api_query(twins: Twins) -> None:
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("list_assets", "assets", {"limit": 5.0}),
        ("search_assets", "assets/search", {"q": "harbor", "limit": 5.0}),
    ]
    for tool, path, arguments in cases:
        assert twins.tools.call(tool, **arguments)["isError"] is False
        # 5.0 is a whole number in JSON; in an address it is none. Without a credential the cache is asked before anything else.
        response = APIClient().get(f"/api/v1/{path}", arguments)
        assert (response.status_code, response.json()["code"]) == (400, "invalid_input")

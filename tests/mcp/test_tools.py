"""The tools: their schemas, their arguments, and refusals that say what to do next."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from mcp_types.methods import validate_server_result

from catalog.api.views import AssetViewSet
from catalog.models import Listing
from developers.models import SpendingLimit
from developers.services.spending import LimitValues, replace_spending_limits
from library.api.views import LibraryViewSet
from marketplace.core.errors import PreconditionFailed, Problem, all_problems
from marketplace.core.money import Currency
from marketplace.mcp.revisions import SUPPORTED
from marketplace.mcp.tools.calling import ADVICE, TOOLS
from tests.shop import funded, on_sale
from tests.wallet.top_up_cases import deliver_event
from wallet.api.views import TopUpViewSet, WalletViewSet
from wallet.models import Approval, Order, TopUp
from wallet.models.top_ups import EventKind
from wallet.services.approvals import approve_purchase, decline_purchase

from .speaking import CAPABILITIES, NEWEST, Speaker, mcp_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def poor() -> Speaker:
    return Speaker(mcp_token()[1])


@pytest.fixture
def rich() -> Speaker:
    return Speaker(mcp_token(funded(inr=1_000_000))[1])


def problem_of(result: dict[str, Any]) -> dict[str, Any]:
    """Return the problem in a tool's refusal, whose first text is for the model."""
    assert result["isError"] is True
    assert "structuredContent" not in result
    sentence, document = result["content"]
    problem: dict[str, Any] = json.loads(document["text"])
    assert sentence["text"].startswith(f"{problem['code']}: {problem['detail']}")
    return problem


# --- what is listed


def fields_of(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the fields of an object, and of the objects in it."""
    assert schema["additionalProperties"] is False
    for name, field in schema["properties"].items():
        if field["type"] == "object":
            yield from fields_of(field)
        else:
            yield name, field


@pytest.mark.slow
@pytest.mark.parametrize("revision", SUPPORTED)
def test_definitions_are_valid_and_strict(revision: str) -> None:
    listed = Speaker(mcp_token()[1], revision).result("tools/list")
    assert [tool["name"] for tool in listed["tools"]] == list(TOOLS)
    for tool in listed["tools"]:
        for name in ("inputSchema", "outputSchema"):
            jsonschema.Draft202012Validator.check_schema(tool[name])
            assert "$ref" not in json.dumps(tool[name])
            assert tool[name]["type"] == "object"
        assert tool["inputSchema"]["additionalProperties"] is False
        assert tool["title"]
        assert len(tool["description"]) > 60
        for field, schema in fields_of(tool["inputSchema"]):
            bounded = {"minimum"} if schema["type"] in ("integer", "number") else {"maxLength", "enum", "pattern"}
            assert bounded & schema.keys(), (tool["name"], field)


def test_annotations_tell_what_a_call_does() -> None:
    listed = Speaker(mcp_token()[1]).result("tools/list")["tools"]
    hints = {tool["name"]: tool["annotations"] for tool in listed}
    assert {name for name, hint in hints.items() if not hint["readOnlyHint"]} == {
        "get_download_link",
        "quote_purchase",
        "buy_asset",
        "request_top_up",
    }
    assert {name for name, hint in hints.items() if hint["destructiveHint"]} == {"buy_asset"}
    assert {name for name, hint in hints.items() if not hint["idempotentHint"]} == {"get_download_link", "quote_purchase"}
    assert not any(hint["openWorldHint"] for hint in hints.values())


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/templates/list"])
def test_cursor_of_a_list_of_one_page_is_refused(poor: Speaker, method: str) -> None:
    response = poor.send(method, {"cursor": "MQ=="})
    assert (response.status_code, json.loads(response.content)["error"]["code"]) == (400, -32602)


@pytest.mark.parametrize("name", ["made_up", "GET_WALLET", "x" * 5000])
@pytest.mark.parametrize(("revision", "status"), [(NEWEST, 400), ("2025-11-25", 200)])
def test_unknown_tool_is_an_error_of_the_protocol(name: str, revision: str, status: int) -> None:
    response = Speaker(mcp_token()[1], revision).send("tools/call", {"name": name, "arguments": {}})
    error = json.loads(response.content)["error"]
    assert (response.status_code, error["code"]) == (status, -32602)
    assert len(error["message"]) < 200


# --- arguments


# Of what the serializers refuse, which the tools share with the API (`tests/contract`), one of each tool; all that the schemas decide.
@pytest.mark.parametrize(
    ("tool", "arguments", "pointer"),
    [
        ("search_assets", {}, "#/q"),
        ("search_assets", {"q": "   "}, "#/q"),
        ("search_assets", {"q": "x", "limit": True}, "#/limit"),
        ("search_assets", {"q": "x", "query": "y"}, "#/query"),
        ("list_assets", {"sort": "random"}, "#/sort"),
        ("list_assets", {"tier": [["free"]]}, "#/tier"),
        ("list_assets", {"cursor": "made-up"}, "#/cursor"),
        ("list_categories", {"x": 1}, "#/x"),
        ("get_download_link", {"assetId": "a", "version": "x" * 37}, "#/version"),
        ("quote_purchase", {"assetId": "a", "currency": "EUR"}, "#/currency"),
        ("buy_asset", {"assetId": "a"}, "#/idempotencyKey"),
        ("buy_asset", {"assetId": "a", "idempotencyKey": "two words"}, "#/idempotencyKey"),
        ("buy_asset", {"assetId": "a", "idempotencyKey": "line\n"}, "#/idempotencyKey"),
        ("buy_asset", {"assetId": "a", "idempotencyKey": "k" * 256}, "#/idempotencyKey"),
    ],
)
def test_bad_argument_is_named(poor: Speaker, tool: str, arguments: dict[str, Any], pointer: str) -> None:
    problem = problem_of(poor.call(tool, **arguments))
    assert problem["code"] == "invalid_input"
    assert pointer in {error["pointer"] for error in problem["errors"]}


def test_filter_takes_several_values_and_excludes_some(poor: Speaker, listing: Listing) -> None:
    assert poor.call("list_assets", category=["fonts", "motion"], tag="!nothing")["structuredContent"]["total"] == 1
    assert poor.call("search_assets", q="harbor", category=["!fonts"])["structuredContent"]["count"] == 0
    assert problem_of(poor.call("list_assets", tag=["bold", 5]))["errors"][0]["pointer"] == "#/tag"


def test_search_tells_how_many_there_are_and_how_to_go_on(poor: Speaker, listing: Listing) -> None:
    on_sale(title=listing.title)
    (text, *_) = poor.call("search_assets", q=listing.title, limit=1)["content"]
    assert text["text"] == "1 of 2, best first. Send nextCursor as cursor for the next page."


@pytest.mark.parametrize("arguments", [[], "x"])
def test_call_whose_arguments_are_no_object_is_refused(poor: Speaker, arguments: Any) -> None:
    response = poor.send("tools/call", {"name": "list_categories", "arguments": arguments})
    assert (response.status_code, json.loads(response.content)["error"]["code"]) == (400, -32602)
    # The schema of the protocol has no null, its official types do.
    assert poor.result("tools/call", {"name": "list_categories", "arguments": None})["isError"] is False


# --- refusals that say what to do next


def test_every_problem_of_the_operation_of_a_tool_has_advice() -> None:
    declared: set[type[Problem]] = set()
    for view, actions in (
        (AssetViewSet, ("list", "search", "retrieve", "manifest")),
        (LibraryViewSet, ("list", "download")),
        (WalletViewSet, ("quote", "spend")),
        (TopUpViewSet, ("ask",)),
    ):
        for action in actions:
            declared |= set(view.problems.get(action, ()))
    assert len(declared) > 15
    # Tools send no conditions such as If-Match, and what only the service can mend is an error of the protocol.
    advised = {problem.code for problem in declared - {PreconditionFailed} if problem.status < 500}
    assert advised <= ADVICE.keys()
    assert [code for code in ADVICE if all_problems()[code].status >= 500] == []


def test_spending_limit_applies_to_the_buy_tool_and_is_named(listing: Listing) -> None:
    buyer = funded(inr=1_000_000)
    _, secret, app = mcp_token(buyer)
    replace_spending_limits(owner=buyer, spender=app, limits=[LimitValues(Currency.INR, per_purchase_minor=100_00)], actor=buyer)
    problem = problem_of(Speaker(secret).call("buy_asset", assetId=listing.slug, idempotencyKey="one"))
    assert (problem["code"], problem["limit"], problem["left"]) == ("spending_limit_exceeded", "perPurchase", 100.0)
    assert not Order.objects.exists()


def test_purchase_is_made_once_however_often_it_is_called(rich: Speaker, listing: Listing) -> None:
    arguments = {"assetId": listing.slug, "currency": "INR", "idempotencyKey": "one"}
    first, second = rich.call("buy_asset", **arguments), rich.call("buy_asset", **arguments)
    assert first["structuredContent"] == second["structuredContent"]
    assert "nothing was charged again" in second["content"][0]["text"]
    assert Order.objects.count() == 1
    assert problem_of(rich.call("buy_asset", **arguments | {"currency": "USD"}))["code"] == "idempotency_key_reused"
    assert problem_of(rich.call("buy_asset", **arguments | {"idempotencyKey": "two"}))["code"] == "already_owned"


TOP_UP: dict[str, Any] = {"name": "request_top_up", "arguments": {"amount": 100, "currency": "INR", "idempotencyKey": "once"}}
OPENS: dict[str, Any] = {"_meta": {CAPABILITIES: {"elicitation": {"url": {}}}}}


def test_client_that_can_open_addresses_is_asked_to_and_repeats_the_call_with_the_choice(poor: Speaker) -> None:
    asked = poor.result("tools/call", TOP_UP | OPENS)
    validate_server_result("tools/call", NEWEST, asked)
    top_up = TopUp.objects.get()
    ((name, request),) = asked["inputRequests"].items()
    assert (asked["resultType"], request["method"], request["params"]["mode"]) == ("input_required", "elicitation/create", "url")
    assert request["params"]["url"] == top_up.payment_url
    for action, told in (("accept", "Only the user can pay"), ("decline", "did not open"), ("cancel", "did not open")):
        done = poor.result("tools/call", TOP_UP | OPENS | {"inputResponses": {name: {"action": action}}})
        assert (done["resultType"], done["structuredContent"]["id"]) == ("complete", str(top_up.pk))
        assert told in done["content"][0]["text"]
    assert TopUp.objects.count() == 1


@pytest.mark.parametrize(
    ("revision", "meta"),
    [
        (NEWEST, {"_meta": {CAPABILITIES: {"elicitation": {"form": {}}}}}),
        ("2025-11-25", {"_meta": {CAPABILITIES: {"elicitation": {"url": {}}}}}),
        ("2025-11-25", {"inputResponses": 5}),
    ],
    ids=str,
)
def test_client_that_cannot_open_addresses_gets_the_address_at_once(revision: str, meta: dict[str, Any]) -> None:
    answer = Speaker(mcp_token()[1], revision).result("tools/call", TOP_UP | meta)
    assert answer["structuredContent"]["paymentUrl"] == TopUp.objects.get().payment_url


ASKS: dict[str, Any] = {"idempotencyKey": "once", "onLimit": "ask", "reason": "For the poster"}


@pytest.fixture
def bounded(listing: Listing) -> tuple[Speaker, dict[str, Any]]:
    """Someone with money whose MCP token may spend a rupee at once, and a purchase above that."""
    _, secret, app = mcp_token(funded(inr=1_000_000))
    limits = {"currency": "INR", "per_purchase_minor": 100}
    SpendingLimit.objects.create(owner=app.developer, app=app, set_by=app.developer, **limits)
    arguments = ASKS | {"assetId": listing.slug, "currency": "INR"}
    return Speaker(secret), {"name": "buy_asset", "arguments": arguments}


@pytest.mark.slow
def test_purchase_above_a_limit_sends_the_user_to_the_page_and_completes_by_the_same_call(
    bounded: tuple[Speaker, dict[str, Any]],
) -> None:
    speaker, purchase = bounded
    asked = speaker.result("tools/call", purchase | OPENS)
    validate_server_result("tools/call", NEWEST, asked)
    approval = Approval.objects.get()
    ((name, request),) = asked["inputRequests"].items()
    assert request["params"]["url"].endswith(f"/dashboard/approvals/{approval.pk}")
    accepted = purchase | OPENS | {"inputResponses": {name: {"action": "accept"}}}
    waiting = speaker.result("tools/call", accepted)["structuredContent"]
    assert (waiting["success"], waiting["approvalId"]) == (False, str(approval.pk))
    approve_purchase(approval=approval, actor=approval.owner)
    done = speaker.result("tools/call", accepted)["structuredContent"]
    assert (done["success"], done["debited"]) == (True, 499.0)


@pytest.mark.slow
def test_client_that_cannot_open_addresses_gets_the_approval_in_the_result(bounded: tuple[Speaker, dict[str, Any]]) -> None:
    speaker, purchase = bounded
    answer = speaker.result("tools/call", purchase)
    assert (answer["isError"], answer["structuredContent"]["success"]) == (False, False)
    assert answer["structuredContent"]["approvalUrl"].endswith(f"/dashboard/approvals/{Approval.objects.get().pk}")
    decline_purchase(approval=Approval.objects.get(), actor=Approval.objects.get().owner)
    assert problem_of(speaker.result("tools/call", purchase))["code"] == "approval_declined"


def test_paid_top_up_is_not_asked_for_again(poor: Speaker) -> None:
    poor.result("tools/call", TOP_UP | OPENS)
    deliver_event(TopUp.objects.get(), EventKind.SUCCEEDED)
    for choice in ({}, {"inputResponses": {"open": {"action": "decline"}}}):
        again = poor.result("tools/call", TOP_UP | OPENS | choice)
        assert again["structuredContent"]["status"] == "Succeeded"
        assert again["content"][0]["text"].startswith("An earlier call with this key asked for it, and it is Succeeded now")

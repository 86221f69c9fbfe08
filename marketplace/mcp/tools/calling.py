"""Lists and runs the tools. Errors that the model can correct are returned as results with advice; those that only the client can, as protocol errors."""

import re
from typing import Any

import orjson
from mcp_types import INVALID_PARAMS, ElicitRequest, ElicitRequestURLParams, InputRequiredResult
from rest_framework import serializers

from developers.usage.middleware import record_status
from marketplace.api.problems import as_problem, problem_document
from marketplace.core.errors import InvalidInput, Problem
from wallet.bounds import QUOTE_MINUTES

from ..method_calls import MethodCall
from ..responses import ProtocolError, as_json
from . import catalog, library, schemas, wallet
from .base import Arguments, Tool, ToolResult, json_of

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*catalog.TOOLS, *library.TOOLS, *wallet.TOOLS)}
NAME_CHARS = 100
# The name of the request to open an address.
_OPEN = "open"
# Advice for the model after a refusal, by its code; of others the message is enough.
ADVICE = {
    "invalid_input": "Correct the arguments named in errors; the tool's input schema has their types and bounds.",
    "not_found": "Get ids and slugs from search_assets or list_assets. Assets that are no longer on sale are not found.",
    "not_owned": "list_library shows the licences that the user has. If none is for this asset, ask the user whether to buy it with buy_asset.",
    "file_blocked": "There is nothing to download; tell the user.",
    "license_suspended": "Tell the user: a card payment behind it is disputed. The download works again once the dispute is over, if the licence stays.",
    "already_owned": "No purchase is needed: get_download_link gives the file, unless it was bought for someone else.",
    "own_listing": "Tell the user that this is their own listing, so they can't buy it.",
    "insufficient_balance": "Tell the user how much is missing, offer to ask for it with request_top_up, or look for something cheaper with "
    "list_assets and maxPrice.",
    "spending_limit_exceeded": "Tell the user. Unless you sent onLimit already, or staff set the limit, call again with onLimit ask and a reason, so that they can approve it; purchases within `left` are "
    "still possible.",
    "approval_declined": "Tell the user that nothing was bought, and don't ask again.",
    "approval_expired": "If the user still wants it, ask again with a new idempotencyKey.",
    "too_many_approvals": "Tell the user. Purchases within the spending limits are still possible.",
    "price_unavailable": "Call again with one of availableCurrencies, if the user agrees to pay in it.",
    "license_not_available": "Call again with one of availableLicenses; get_asset has their prices.",
    "discount_code_invalid": "Ask the user for the code's spelling, or call again without discountCode at the price that is then shown.",
    "discount_ended": "Tell the user; without discountCode the present price applies.",
    "upgrade_unavailable": "list_library shows the licences that the user has; get_asset those on sale. Without upgradeFrom a further licence "
    "is bought.",
    "upgrade_currency_differs": "If the user agrees to pay in `currency`, call again with it.",
    "license_not_upgradable": "list_library shows the licences that the user has now.",
    "tier_required": "Tell the user that their account's tier doesn't allow it; list_assets with tier finds assets that it allows.",
    "quote_expired": "Get a new one with quote_purchase, and tell the user its price.",
    "quote_used": "A purchase was already made with this quote; list_library shows it.",
    "quote_mismatch": "Use the quote for the asset, licence and currency that it was made for, or get a new one with quote_purchase.",
    "too_many_quotes": f"Use an open quote, or wait {QUOTE_MINUTES} minutes.",
    "invalid_amount": "Ask for a larger amount.",
    "top_up_unavailable": "If the user agrees, ask for one of availableCurrencies.",
    "top_up_limit_exceeded": "Ask for `left` or less, if the user agrees; only the operator can raise the limit.",
    "too_many_top_ups": "Let the user pay on a page that is open already, or wait until one closes.",
    "invalid_return_url": "Call again without returnUrl: the user then returns to a page of the marketplace.",
    "payment_page_closed": "Ask for a new payment page with another idempotencyKey.",
    "payment_refused": "The provider refuses this payment: ask for another amount, or tell the user to write to the marketplace.",
    "idempotency_key_required": "Send a new random idempotencyKey.",
    "idempotency_conflict": "Wait a second, then call again with the same arguments.",
    "idempotency_key_reused": "Use a new idempotencyKey for a new purchase; to repeat a call, send exactly the same arguments.",
}


def list_tools(call: MethodCall) -> dict[str, Any]:
    """Return the tools whose scope the token carries now, always in the same order."""
    call.refuse_cursor()
    return {"tools": [tool.definition for tool in TOOLS.values() if call.may(tool.scope)]}


def call_tool(call: MethodCall) -> dict[str, Any]:
    """Return the result of a tool.

    Raises:
        ProtocolError: there is no such tool.
        InsufficientScope: the token may not call it.
        Problem: a part of the service is down.
    """
    name = call.params["name"]
    tool = TOOLS.get(name)
    if tool is None:
        raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name[:NAME_CHARS]}")
    call.begin(f"tool {tool.name}", tool.scope)
    try:
        return _result_of(tool, call)
    except (Problem, serializers.ValidationError) as error:
        problem = as_problem(error)
        if problem.status >= 500:
            raise
        record_status(call.request, problem.status)
        return _failure(problem, call)


def _result_of(tool: Tool, call: MethodCall) -> dict[str, Any]:
    arguments: Arguments = call.params.get("arguments") or {}
    _check_arguments(tool, arguments)
    result = tool.run(call.principal, arguments)
    action = call.answer_to(_OPEN)
    if result.address and action is None and call.can_open_addresses:
        return _address_request(result)
    unopened = result.address and action not in {None, "accept"}
    text = f"The user did not open the address ({action}). {result.text}" if unopened else result.text
    content = [
        {"type": "text", "text": text},
        # For clients that show models nothing but text.
        {"type": "text", "text": result.body.decode()},
        *map(as_json, result.links),
    ]
    return {"content": content, "structuredContent": orjson.Fragment(result.body), "isError": False}


def _address_request(result: ToolResult) -> dict[str, Any]:
    """Return a request to show the user an address; the client then repeats the call with what the user chose."""
    asked = ElicitRequest(params=ElicitRequestURLParams(message=result.reason, url=result.address))
    return as_json(InputRequiredResult(input_requests={_OPEN: asked}))


def _check_arguments(tool: Tool, arguments: Arguments) -> None:
    found = schemas.validation_errors(tool.input_schema, arguments)
    errors = [{"pointer": f"#/{name}", "code": code, "detail": detail} for name, code, detail in found]
    if errors:
        raise InvalidInput(errors=errors)


def _failure(problem: Problem, call: MethodCall) -> dict[str, Any]:
    """Return a refusal as a sentence with advice, and as the problem document."""
    if isinstance(problem, InvalidInput) and (faults := problem.members.get("errors")):
        # Tools have arguments instead of query parameters.
        problem = InvalidInput(errors=[fault | {"pointer": re.sub(r"^\?", "#/", fault["pointer"])} for fault in faults])
    shown = problem_document(problem, call.request.path)
    sentences = [f"{problem.code}: {problem.message}", ADVICE.get(problem.code, "")]
    if seconds := problem.headers.get("Retry-After"):
        # Models do not see headers.
        sentences.append(f"Retry-After: {seconds} seconds.")
    texts = (" ".join(filter(None, sentences)), json_of(shown).decode())
    return {"content": [{"type": "text", "text": text} for text in texts], "isError": True}

"""Tools of the wallet."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from developers.principals import Principal
from marketplace.api.fields import Text
from marketplace.api.serializers import EmptyBody
from marketplace.core.bounds import IDEMPOTENCY_KEY_CHARS
from marketplace.core.scopes import Scope
from wallet.api import responses
from wallet.api.serializers.approvals import ApprovalRequestedResponse
from wallet.api.serializers.caller import CallerResponse
from wallet.api.serializers.top_ups import TopUpBody, TopUpResponse
from wallet.api.serializers.wallet import QuoteBody, QuoteResponse, SpendBody, SpendResponse, WalletResponse
from wallet.bounds import QUOTE_MINUTES
from wallet.models.top_ups import TopUpStatus
from wallet.selectors import wallet_of

from .. import resources
from .base import Arguments, Tool, ToolResult, json_of, validated


def _idempotency_key_field(help_text: str) -> serializers.RegexField:
    return serializers.RegexField(
        r"^[!-~]+\Z",
        max_length=IDEMPOTENCY_KEY_CHARS,
        trim_whitespace=False,
        error_messages=Text.default_error_messages | {"invalid": "A string of printable ASCII characters without spaces is required."},
        help_text=help_text,
    )


class PurchaseArguments(SpendBody):
    """The purchase, and its idempotency key."""

    idempotencyKey = _idempotency_key_field(
        "A new random text, such as a UUID, for each purchase that the user agreed to. Repeat a call that got no answer with the "
        "same one: it buys once at most."
    )


class TopUpArguments(TopUpBody):
    """The credit to add, and its idempotency key."""

    idempotencyKey = _idempotency_key_field(
        "A new random text, such as a UUID, for each top-up. Repeat a call that got no answer with the same one."
    )


def _who_am_i(principal: Principal, arguments: Arguments) -> ToolResult:
    body = CallerResponse(principal).data
    app = f" for the app {body['app']['name']}" if body["app"] else ""
    scopes = ", ".join(body["scopes"]) or "no scopes"
    return ToolResult(
        json_of(body), f"This token acts in the {body['environment']} environment{app}, with {scopes}. The limits are in the body."
    )


def _get_wallet(principal: Principal, arguments: Arguments) -> ToolResult:
    body = WalletResponse(wallet_of(principal.user)).data
    text = f"The wallet holds {body['balanceINR']:.2f} INR and {body['balanceUSD']:.2f} USD. Purchases that name no currency are paid in "
    return ToolResult(json_of(body), f"{text}{body['currencyPreference']}.")


def _reductions(body: Mapping[str, Any]) -> str:
    """Return what was taken off the list price, empty if nothing was."""
    parts = [f"{body['discount']:.2f} off by a discount"] if body["discount"] else []
    if body["upgradeFrom"]:
        parts.append(f"{body['upgradeCredit']:.2f} off for the {body['upgradeFrom']} licence that it replaces")
    return f" ({', '.join(parts)})" if parts else ""


def _quote_purchase(principal: Principal, arguments: Arguments) -> ToolResult:
    body = responses.quote(principal, validated(QuoteBody, arguments))
    price = f"{body['price']:.2f} {body['currency']} for the {body['licenseSlug']} licence, until {body['expiresAt']}{_reductions(body)}"
    if not body["withinLimits"]:
        limit = f"The spending limits do not allow it ({body['exceededLimit']}): "
        limit += "buy_asset with onLimit ask asks the user, unless staff set the limit"
        return ToolResult(json_of(body), f"{price}. Nothing was charged. {limit}; who_am_i shows the limits.")
    return ToolResult(json_of(body), f"{price}. Nothing was charged: ask the user, then send quoteId to buy_asset.")


def _buy_asset(principal: Principal, arguments: Arguments) -> ToolResult:
    values = validated(PurchaseArguments, arguments)
    body, replayed = responses.purchase(principal, values, idempotency_key=values["idempotencyKey"])
    if not body["success"]:
        text = f"Nothing was bought: the spending limits do not allow it, so the user must approve it at {body['approvalUrl']} "
        text += f"until {body['expiresAt']}. Ask the user to open that page, then call again with the same arguments."
        reason = "Your spending limits do not allow a purchase. Approve or decline it on this page."
        return ToolResult(json_of(body), text, address=body["approvalUrl"], reason=reason)
    paid = f"{body['debited']:.2f} {body['currency']} paid{_reductions(body)}, {body['newBalance']:.2f} left"
    text = f"Bought under the {body['licenseSlug']} licence: {paid}. "
    again = "It was bought by an earlier call with the same key; nothing was charged again. " if replayed else ""
    if body["licensee"]:
        return ToolResult(
            json_of(body), f"{text}{again}{body['licensee']['email']} got a link to claim the licence; only they can download it."
        )
    links = (resources.link(resources.CERTIFICATE, values["assetId"]),)
    return ToolResult(json_of(body), f"{text}{again}get_download_link gives the file.", links)


def _request_top_up(principal: Principal, arguments: Arguments) -> ToolResult:
    values = validated(TopUpArguments, arguments)
    body, _ = responses.top_up(principal, values, idempotency_key=values["idempotencyKey"])
    if body["status"] != TopUpStatus.PENDING:
        text = f"An earlier call with this key asked for it, and it is {body['status']} now, so there is nothing to pay for it. "
        return ToolResult(json_of(body), f"{text}get_wallet tells the balance; another top-up needs another idempotencyKey.")
    reason = f"Add {body['amount']:.2f} {body['currency']} of credit to your wallet on the page of the payment provider."
    text = f"Nothing was charged. Ask the user to open {body['paymentUrl']} before {body['expiresAt']} and to pay {body['amount']:.2f} "
    text += f"{body['currency']} there. Only the user can pay; get_wallet tells when the credit has arrived."
    return ToolResult(json_of(body), text, address=body["paymentUrl"], reason=reason)


TOOLS = (
    Tool(
        name="who_am_i",
        title="See who you are",
        description="The user that this token acts for, its scopes, and the limits of spending and of calls with what is used of them. "
        "Check it before you plan a purchase. In the sandbox environment nothing costs real money.",
        scope=None,
        arguments=EmptyBody,
        result=CallerResponse,
        run=_who_am_i,
    ),
    Tool(
        name="get_wallet",
        title="Read the wallet",
        description="The user's prepaid balances in INR and USD. Check them before you propose a purchase.",
        scope=Scope.ACCOUNT_READ,
        arguments=EmptyBody,
        result=WalletResponse,
        run=_get_wallet,
    ),
    Tool(
        name="quote_purchase",
        title="Hold a price",
        description=f"Holds the price of an asset for {QUOTE_MINUTES} minutes and tells the currency, the licence and the tax in it. "
        "Charges nothing. Show the user the quote, and buy with its quoteId.",
        scope=Scope.WALLET_SPEND,
        arguments=QuoteBody,
        result=QuoteResponse,
        run=_quote_purchase,
        read_only=False,
        idempotent=False,
    ),
    Tool(
        name="buy_asset",
        title="Buy an asset",
        description="Spends the user's money: debits the wallet and grants the licence at once. Call it only after the user has agreed to this "
        "asset at this price. With quoteId exactly the quoted price is charged, otherwise the current one. The user's spending limits apply; with "
        "onLimit ask and a reason, the user can approve a purchase above them. With licensee it is for someone else, such as the user's client.",
        scope=Scope.WALLET_SPEND,
        arguments=PurchaseArguments,
        result=(SpendResponse, ApprovalRequestedResponse),
        run=_buy_asset,
        # No tool returns money that was spent; the key makes a repeated call harmless.
        read_only=False,
        destructive=True,
    ),
    Tool(
        name="request_top_up",
        title="Ask for credit",
        description="Makes a payment page on which the user can add credit to the wallet, and returns its address. It pays nothing: show the "
        "address to the user, who decides and pays. Use it when the balance is too low for a purchase that the user wants.",
        scope=Scope.WALLET_FUND,
        arguments=TopUpArguments,
        result=TopUpResponse,
        run=_request_top_up,
        read_only=False,
    ),
)

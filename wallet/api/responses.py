"""The response bodies of the wallet's operations as JSON values, shared by the API and the MCP tools."""

from collections.abc import Mapping
from typing import Any

from developers.principals import Principal
from library.licensees import Licensee

from ..discount_codes import limit_guesses
from ..models import Approval
from ..services.limits import find_exceeded_limit
from ..services.offers import PurchaseRequest
from ..services.quotes import make_quote
from ..services.spending import Receipt, spend
from ..services.spending_requests import spend_or_request_approval
from ..services.top_ups import TopUpRequest, request_top_up
from .serializers.approvals import ApprovalRequestedResponse
from .serializers.top_ups import TopUpResponse
from .serializers.wallet import QuoteResponse, SpendResponse


def quote(principal: Principal, body: Mapping[str, Any]) -> dict[str, Any]:
    """Make a quote and return the response of POST wallet/quote; raises what `make_quote` raises."""
    wanted = _purchase_request(body)
    with limit_guesses(principal.user, wanted.discount_code):
        made = make_quote(buyer=principal.user, purchase=wanted)
    return dict(QuoteResponse(made, context={"exceeded": find_exceeded_limit(quote=made, principal=principal)}).data)


def purchase(principal: Principal, body: Mapping[str, Any], *, idempotency_key: str | None) -> tuple[dict[str, Any], bool]:
    """Buy, or ask the wallet's owner, and return the response of POST wallet/spend and whether it is a replayed one.

    Raises:
        Problem: one that `spend` or, with `onLimit: "ask"`, `spend_or_request_approval` raises.
    """
    wanted = _purchase_request(body)
    shared: dict[str, Any] = {
        "purchase": wanted,
        "quote_id": body.get("quoteId"),
        "idempotency_key": idempotency_key,
        "principal": principal,
    }
    result: Receipt | Approval
    with limit_guesses(principal.user, wanted.discount_code):
        if body.get("onLimit") == "ask":
            result, replayed = spend_or_request_approval(**shared, reason=body.get("reason", ""))
        else:
            result, replayed = spend(**shared, buyer=principal.user)
    response = SpendResponse(result) if isinstance(result, Receipt) else ApprovalRequestedResponse(result)
    return dict(response.data), replayed


def top_up(principal: Principal, body: Mapping[str, Any], *, idempotency_key: str | None) -> tuple[dict[str, Any], bool]:
    """Ask for a top-up, and return the response of POST wallet/top-ups and whether it is an earlier one; raises what `request_top_up` raises."""
    wanted = TopUpRequest(body["currency"], body["amount"], return_url=body.get("returnUrl", ""))
    made, replayed = request_top_up(user=principal.user, wanted=wanted, idempotency_key=idempotency_key, principal=principal)
    return dict(TopUpResponse(made).data), replayed


def _purchase_request(body: Mapping[str, Any]) -> PurchaseRequest:
    return PurchaseRequest(
        body["assetId"],
        currency=body.get("currency"),
        license_slug=body.get("licenseSlug"),
        discount_code=body.get("discountCode"),
        upgrade_from=body.get("upgradeFrom"),
        licensee=Licensee(**body["licensee"]) if "licensee" in body else None,
    )

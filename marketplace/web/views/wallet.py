"""The buyer's wallet: balances, journals, orders and receipts."""

import uuid

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect, render

from marketplace.accounts.pages import SignedInRequest, problems_as_messages, signed_in_page
from marketplace.api.pagination import newest_first
from marketplace.core.errors import Problem
from marketplace.core.money import WALLET_CURRENCIES
from wallet import receipts
from wallet.card_credit import unpaid_top_ups_of
from wallet.providers import top_up_currencies
from wallet.selectors import accounts_of, journals_of, open_wallet_payouts_of, order_of, owed_by, upgrade_of, wallet_of
from wallet.services.licensees import resend_claim_link
from wallet.services.preferences import set_currency_preference

from ..paging import cursor_context, cursor_of
from ..shop.currency import COOKIE, SESSION_KEY
from .billing import documents_of

ROWS = 25
SHOWN_UNPAID = 5


@signed_in_page("GET")
def wallet(request: SignedInRequest) -> HttpResponseBase:
    """Show the balances, and the journals, newest first."""
    journals = [
        journals_of(account).select_related(
            "wallet_payout", "closed_wallet_payout", "credit_reference", "top_up", "frozen_reversal", "closed_reversal"
        )
        for account in accounts_of(request.user)
    ]
    with cursor_of(request) as cursor:
        page = newest_first(journals, "at", limit=ROWS, cursor=cursor)
    context = {
        "wallet": wallet_of(request.user),
        "owed": owed_by(request.user.pk),
        "waiting": open_wallet_payouts_of(request.user.pk),
        "unpaid": unpaid_top_ups_of(request.user)[:SHOWN_UNPAID],
        "currencies": [code.value for code in WALLET_CURRENCIES],
        "journals": page.rows,
        "can_add": bool(top_up_currencies()),
        **cursor_context(request, page),
    }
    return render(request, "buyer/wallet.html", context)


@signed_in_page("POST")
def preference(request: SignedInRequest) -> HttpResponseBase:
    """Choose the currency that purchases are paid in unless they name another, instead of what was chosen on pages before."""
    response = redirect("wallet-page")
    try:
        chosen = set_currency_preference(user=request.user, currency=request.POST.get("currency", ""), actor=request.user)
    except Problem as problem:
        messages.error(request, problem.message)
    else:
        request.session[SESSION_KEY] = chosen.currency_preference
        response.delete_cookie(COOKIE)
        messages.success(request, f"Purchases are now paid in {chosen.currency_preference} unless you choose another currency.")
    return response


@signed_in_page("GET")
def order(request: SignedInRequest, order_id: uuid.UUID) -> HttpResponseBase:
    """Show an order."""
    found = order_of(request.user, str(order_id))
    context = {"net": found.price_minor - found.tax_minor, "documents": documents_of(found), "upgrade": upgrade_of(found)}
    return render(request, "buyer/order.html", {"order": found, **context})


@signed_in_page("POST")
def send_link(request: SignedInRequest, order_id: uuid.UUID) -> HttpResponseBase:
    """Send the licensee of an order a new claim link."""
    found = order_of(request.user, str(order_id))
    with problems_as_messages(request, "We sent a new link. The one before it no longer works."):
        resend_claim_link(order=found, actor=request.user)
    return redirect("order-page", order_id=order_id)


@signed_in_page("GET")
def receipt(request: SignedInRequest, order_id: uuid.UUID) -> HttpResponseBase:
    """Return the receipt as a PDF."""
    return receipts.pdf_response(order_of(request.user, str(order_id)))

"""Wallet payouts: request, show, cancel."""

import uuid

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect, render

from marketplace.accounts.pages import SignedInRequest, posted, problems_as_form_errors, render_form, signed_in_page
from marketplace.core.errors import Problem
from marketplace.review.claims import is_claimed
from marketplace.ui.formatting import money
from wallet.card_credit import payable_of
from wallet.errors import InsufficientBalance, InvalidAmount, PayoutOpen, ReturnsToCard, TooManyPayouts
from wallet.selectors import open_wallet_payouts_of, wallet_payout_of
from wallet.services.wallet_payouts import cancel_wallet_payout, request_wallet_payout

from ..forms import WalletPayoutForm

_ERROR_FIELDS: dict[type[Problem], str] = {
    InvalidAmount: "amount",
    InsufficientBalance: "amount",
    ReturnsToCard: "amount",
    PayoutOpen: "currency",
    TooManyPayouts: "currency",
}


@signed_in_page("GET", "POST")
def request_payout(request: SignedInRequest) -> HttpResponseBase:
    """Request a payout, which sets the amount aside."""
    waiting = list(open_wallet_payouts_of(request.user.pk))
    taken = {wallet_payout.currency for wallet_payout in waiting}
    wallets = payable_of(request.user).items()
    balances = {code: (balance, payable) for code, (balance, payable) in wallets if balance and code not in taken}
    form = WalletPayoutForm(posted(request), balances=balances, request=request)
    if form.is_valid():
        with problems_as_form_errors(form, _ERROR_FIELDS):
            wallet_payout = request_wallet_payout(
                user=request.user,
                currency=form.cleaned_data["currency"],
                amount_minor=form.wanted_minor(),
                payment_details=form.cleaned_data["payment_details"],
                actor=request.user,
                password_confirmed=form.password_confirmed,
            )
            messages.success(
                request, f"{money(wallet_payout.amount_minor, wallet_payout.currency)} is set aside. You get an email when it is paid."
            )
            return redirect("wallet-payout", wallet_payout_id=wallet_payout.pk)
    return render_form(request, "buyer/wallet_payout_form.html", form, balances=balances, waiting=waiting)


@signed_in_page("GET")
def wallet_payout(request: SignedInRequest, wallet_payout_id: uuid.UUID) -> HttpResponseBase:
    """Show a payout and its status."""
    found = wallet_payout_of(request.user, wallet_payout_id)
    return render(request, "buyer/wallet_payout.html", {"wallet_payout": found, "is_claimed": is_claimed(found)})


@signed_in_page("POST")
def cancel(request: SignedInRequest, wallet_payout_id: uuid.UUID) -> HttpResponseBase:
    """Cancel a payout, which returns the amount to the wallet."""
    found = wallet_payout_of(request.user, wallet_payout_id)
    try:
        cancel_wallet_payout(wallet_payout=found, actor=request.user)
    except Problem as problem:
        messages.error(request, f"It was not cancelled. {problem.message}")
    else:
        messages.success(
            request,
            f"{money(found.amount_minor, found.currency)} was returned to your wallet, less what you owed for a returned card payment, if anything.",
        )
    return redirect("wallet-payout", wallet_payout_id=wallet_payout_id)

"""Having the wallet paid out: asking for it, looking at what became of it, cancelling it."""

import uuid
from functools import partial

from django.contrib import messages
from django.http import Http404, HttpResponseBase
from django.shortcuts import redirect, render

from developers.dashboard.views.passwords import password_is_right
from marketplace.accounts.pages import SignedInRequest, problems_as_form_errors, render_form, signed_in_page
from marketplace.core.claims import is_claimed
from marketplace.core.errors import Problem
from marketplace.core.wording import money
from wallet.errors import InsufficientBalance, InvalidAmount, TooManyWithdrawals, WithdrawalOpen
from wallet.models import Withdrawal
from wallet.selectors import balances_of, open_withdrawals_of, withdrawal_of
from wallet.services.withdrawals import ask_withdrawal, cancel_withdrawal

from ..wallet_forms import WithdrawalForm

_BESIDE: dict[type[Problem], str] = {
    InvalidAmount: "amount",
    InsufficientBalance: "amount",
    WithdrawalOpen: "currency",
    TooManyWithdrawals: "currency",
}


@signed_in_page("GET", "POST")
def ask(request: SignedInRequest) -> HttpResponseBase:
    """Say what happens, ask how much and where to, and set it aside."""
    waiting = list(open_withdrawals_of(request.user.pk))
    taken = {withdrawal.currency for withdrawal in waiting}
    balances = {code: held for code, held in sorted(balances_of(request.user).items()) if held and code not in taken}
    sent = request.POST if request.method == "POST" else None
    form = WithdrawalForm(sent, balances=balances, password_is_right=partial(password_is_right, request))
    if form.is_valid():
        with problems_as_form_errors(form, _BESIDE):
            withdrawal = ask_withdrawal(
                user=request.user,
                currency=form.cleaned_data["currency"],
                amount_minor=form.wanted_minor(),
                payment_details=form.cleaned_data["payment_details"],
                actor=request.user,
                password_confirmed=form.password_confirmed,
            )
            messages.success(
                request, f"{money(withdrawal.amount_minor, withdrawal.currency)} is set aside. You get a mail when it is paid."
            )
            return redirect("wallet-withdrawal", withdrawal_id=withdrawal.pk)
    return render_form(request, "buyer/withdraw.html", form, balances=balances, waiting=waiting)


@signed_in_page("GET")
def withdrawal(request: SignedInRequest, withdrawal_id: uuid.UUID) -> HttpResponseBase:
    """Show what was asked for and what became of it."""
    found = _own(request, withdrawal_id)
    return render(request, "buyer/withdrawal.html", {"withdrawal": found, "being_paid": is_claimed(found)})


@signed_in_page("POST")
def cancel(request: SignedInRequest, withdrawal_id: uuid.UUID) -> HttpResponseBase:
    """Put the money back into the wallet."""
    found = _own(request, withdrawal_id)
    try:
        cancel_withdrawal(withdrawal=found, actor=request.user)
    except Problem as problem:
        messages.error(request, f"It was not cancelled. {problem.message}")
    else:
        messages.success(request, f"{money(found.amount_minor, found.currency)} is back in your wallet.")
    return redirect("wallet-withdrawal", withdrawal_id=withdrawal_id)


def _own(request: SignedInRequest, withdrawal_id: uuid.UUID) -> Withdrawal:
    found = withdrawal_of(request.user, withdrawal_id)
    if found is None:
        raise Http404
    return found

"""Top-ups: ask for a payment page, and show the result and its receipt."""

import uuid

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone

from marketplace.accounts.pages import SignedInRequest, posted, problems_as_form_errors, render_form, signed_in_page
from marketplace.core.errors import NotFound, Problem
from marketplace.core.money import to_minor
from marketplace.http.pages import POLICY_HEADER, REDIRECTING_FORM_POLICY
from marketplace.ui.formatting import money
from wallet.card_credit import top_up_of
from wallet.errors import InvalidAmount, PaymentRefused, TooManyTopUps, TopUpLimitExceeded, TopUpUnavailable
from wallet.invoice_documents import top_up_receipt_response
from wallet.models import Quote, TopUp
from wallet.models.top_ups import TopUpStatus
from wallet.providers import provider_named, top_up_currencies
from wallet.selectors import currency_preference_of, quote_of
from wallet.services.top_ups import TopUpRequest, request_top_up

from ..forms import TopUpForm

_ERROR_FIELDS: dict[type[Problem], str] = {
    InvalidAmount: "amount",
    TopUpLimitExceeded: "amount",
    TooManyTopUps: "amount",
    PaymentRefused: "amount",
    TopUpUnavailable: "currency",
}


@signed_in_page("GET", "POST")
def add(request: SignedInRequest) -> HttpResponseBase:
    """Ask for an amount, and redirect to the provider's page."""
    currencies = top_up_currencies()
    form = TopUpForm(posted(request), currencies=currencies, initial={"currency": currency_preference_of(request.user)})
    if currencies and form.is_valid():
        with problems_as_form_errors(form, _ERROR_FIELDS):
            quote_id = form.cleaned_data["quote"]
            quote = _waiting_quote(request, quote_id)
            if quote is None and quote_id is not None and quote_of(request.user, str(quote_id)) is not None:
                # The checkout says what became of the purchase that the credit was for, unless that was deleted.
                return redirect("checkout", quote_id=quote_id)
            quote_id = "" if quote is None else str(quote.pk)
            wanted = TopUpRequest(form.cleaned_data["currency"], to_minor(form.cleaned_data["amount"]), quote_id=quote_id)
            top_up, _ = request_top_up(user=request.user, wanted=wanted)
            return redirect(top_up.payment_url)
    response = render_form(request, "buyer/top_up_form.html", form, currencies=currencies)
    response[POLICY_HEADER] = REDIRECTING_FORM_POLICY
    return response


@signed_in_page("GET")
def top_up(request: SignedInRequest, top_up_id: uuid.UUID) -> HttpResponseBase:
    """Show a top-up; once it is paid, return to the purchase that waits for it."""
    found = top_up_of(request.user, str(top_up_id))
    quote = _waiting_quote(request, found.quote_id)
    if quote is not None and found.status == TopUpStatus.SUCCEEDED:
        messages.success(request, f"{money(found.amount_minor, found.currency)} was added to your wallet.")
        return redirect("checkout", quote_id=quote.pk)
    context = {"top_up": found, "quote": quote, "provider": _label(found)}
    return render(request, "buyer/top_up.html", context)


@signed_in_page("GET")
def receipt(request: SignedInRequest, top_up_id: uuid.UUID) -> HttpResponseBase:
    """Return the receipt of a paid top-up as a PDF."""
    found = top_up_of(request.user, str(top_up_id))
    if found.paid_at is None:
        raise NotFound
    return top_up_receipt_response(found)


def _waiting_quote(request: SignedInRequest, quote_id: uuid.UUID | None) -> Quote | None:
    """Return the user's quote if it can still be used, otherwise None."""
    quote = None if quote_id is None else quote_of(request.user, str(quote_id))
    return quote if quote is not None and getattr(quote, "used_by", None) is None and quote.expires_at > timezone.now() else None


def _label(found: TopUp) -> str:
    provider = provider_named(found.provider)
    return found.provider if provider is None else provider.label

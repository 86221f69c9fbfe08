"""The bank accounts for payouts: the form that changes one, and the page that undoes a change."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from marketplace.accounts.pages import SignedInRequest, posted, problems_as_form_errors, render_form
from marketplace.core.errors import NotFound
from marketplace.core.money import WALLET_CURRENCIES
from marketplace.http.refusals import allow_methods

from ...models import VendorProfile
from ...selectors import has_earlier_bank_account, payout_details_of
from ...services.payout_details import change_payout_details, payout_change_of, undo_payout_change
from ..access import vendor_page
from ..forms import PayoutDetailsForm


@vendor_page("GET", "POST")
def change(request: SignedInRequest, profile: VendorProfile, currency: str) -> HttpResponseBase:
    """Change the bank account for payouts in a currency."""
    if currency not in WALLET_CURRENCIES:
        raise Http404
    details = payout_details_of(profile).get(currency)
    form = PayoutDetailsForm(posted(request), currency=currency, request=request)
    if form.is_valid():
        with problems_as_form_errors(form):
            saved = change_payout_details(
                profile=profile,
                currency=currency,
                holder=form.cleaned_data["holder"],
                number=form.cleaned_data["number"],
                bank=form.cleaned_data["bank"],
                actor=request.user,
                password_confirmed=form.password_confirmed,
            )
            mailed = "The bank account is saved. You get an email with a link that undoes the change."
            messages.success(request, "This is your bank account already." if saved == details else mailed)
            return redirect("payouts")
    return render_form(request, "studio/payout_details.html", form, profile=profile, currency=currency, details=details)


@never_cache
@allow_methods("GET", "POST")
def undo(request: HttpRequest, token: str) -> HttpResponseBase:
    """Undo a change of a bank account, by the link in the mail; no sign-in, because the password may be in other hands."""
    try:
        details = payout_change_of(token=token)
        if request.method == "POST":
            details.profile = undo_payout_change(token=token)
    except NotFound as error:
        raise Http404 from error
    done = request.method == "POST" or details.withdrawn_at is not None
    context = {"details": details, "done": done, "has_earlier": not done and has_earlier_bank_account(details)}
    return render(request, "studio/payout_details_undo.html", context)

"""The checkout: a quote, its confirmation and the purchase."""

import re
import uuid
from http import HTTPStatus

from django.contrib import messages
from django.http import Http404, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone

from catalog.api.fields import DISCOUNT_CODE_ERROR, DISCOUNT_CODE_PATTERN
from catalog.selectors.cards import cards_of
from catalog.selectors.listings import listing_on_sale
from library.licensees import Licensee
from marketplace.accounts.models import User
from marketplace.accounts.pages import SignedInRequest, posted, problems_as_form_errors, render_form, signed_in_page
from marketplace.core import texts
from marketplace.core.bounds import SLUG_CHARS
from marketplace.core.errors import NotFound, Problem
from marketplace.core.money import WALLET_CURRENCIES, to_number
from marketplace.http.pages import POLICY_HEADER, REDIRECTING_FORM_POLICY
from wallet.bounds import MIN_TOP_UP_MINOR
from wallet.delivery_consent import IMMEDIATE_DELIVERY
from wallet.discount_codes import limit_guesses
from wallet.models import Quote
from wallet.providers import top_up_currencies
from wallet.selectors import balances_of, billing_details_of, owed_by, quote_of
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import QuotedTax, make_quote, tax_of_quote
from wallet.services.spending import spend

from ..licensee_forms import LicenseeForm
from ..shop.currency import paying_currency
from ..shop.offer import offer_of


@signed_in_page("GET", "POST")
def begin(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Create a quote and redirect to its confirmation; a GET, as after signing in, returns to the listing."""
    if request.method != "POST":
        return redirect("asset-page", slug=slug)
    sent = {
        name: request.POST.get(name, "")[:SLUG_CHARS].strip() or None for name in ("currency", "license", "discount_code", "upgrade_from")
    }
    code = sent["discount_code"]
    if code is not None and not re.match(DISCOUNT_CODE_PATTERN, code):
        messages.error(request, DISCOUNT_CODE_ERROR)
        return redirect("asset-page", slug=slug)
    currency = sent["currency"] if sent["currency"] in WALLET_CURRENCIES else None
    purchase = PurchaseRequest(slug, currency, sent["license"], code, sent["upgrade_from"])
    try:
        with limit_guesses(request.user, code):
            quote = make_quote(buyer=request.user, purchase=purchase)
    except NotFound:
        raise
    except Problem as problem:
        messages.error(request, problem.message)
        return redirect("asset-page", slug=slug)
    return redirect("checkout", quote_id=quote.pk)


@signed_in_page("GET", "POST")
def begin_for_other(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Ask whom a licence is for; a POST creates a quote and redirects to its confirmation."""
    offer = offer_of(listing_on_sale(slug), None)
    form = LicenseeForm(posted(request), offer=offer, initial={"currency": paying_currency(request)})
    if form.is_valid():
        sent = form.cleaned_data
        code = sent["discount_code"] or None
        with problems_as_form_errors(form), limit_guesses(request.user, code):
            licensee = Licensee(texts.clean_line(sent["name"], "name"), sent["email"])
            purchase = PurchaseRequest(slug, sent["currency"], sent["license"], code, licensee=licensee)
            return redirect("checkout", quote_id=make_quote(buyer=request.user, purchase=purchase).pk)
    return render_form(request, "shop/for_someone_else.html", form, listing=offer.listing)


@signed_in_page("GET", "POST")
def confirm(request: SignedInRequest, quote_id: uuid.UUID) -> HttpResponseBase:
    """Show what will be charged; a POST buys it, only once even if it is sent twice."""
    quote = quote_of(request.user, str(quote_id))
    if quote is None:
        raise Http404
    used_by = getattr(quote, "used_by", None)
    if used_by is not None:
        return redirect("order-page", order_id=used_by)
    if request.method == "POST":
        return _buy(request, quote)
    balance = balances_of(request.user).get(quote.currency, 0)
    owed = owed_by(request.user.pk).get(quote.currency, 0)
    missing = _missing(quote, balance - owed)
    listing_card = next(iter(cards_of([quote.listing_id])), None)
    tax = _tax_of(request.user, quote)
    context = {
        "quote": quote,
        "tax": tax.amount_minor,
        "billing": billing_details_of(request.user),
        "invoiced": quote.price_minor > 0 and tax.has_seller,
        "listing": quote.listing,
        "listing_card": listing_card,
        "balance": balance,
        "left": balance - quote.price_minor,
        "list_price": quote.price_minor + quote.discount_minor + quote.upgrade_credit_minor,
        "expired": quote.expires_at <= timezone.now(),
        "owed": owed,
        "missing": missing,
        "delivery_consent": IMMEDIATE_DELIVERY,
        "missing_amount": f"{to_number(missing):.2f}",
    }
    response = render(request, "shop/checkout.html", context, status=HTTPStatus.OK if listing_card else HTTPStatus.NOT_FOUND)
    response[POLICY_HEADER] = REDIRECTING_FORM_POLICY
    return response


def _missing(quote: Quote, available_minor: int) -> int:
    """Return the amount to add for the purchase, 0 if the credit is enough or cannot be added in this currency."""
    missing = quote.price_minor - available_minor
    if missing < 1 or quote.currency not in top_up_currencies():
        return 0
    return max(missing, MIN_TOP_UP_MINOR)


def _tax_of(buyer: User, quote: Quote) -> QuotedTax:
    """Return how much of the price is tax, as quoted if the buyer may not buy the listing any more."""
    try:
        return tax_of_quote(buyer=buyer, quote=quote)
    except Problem:
        return QuotedTax(quote.tax_minor, has_seller=False)


def _buy(request: SignedInRequest, quote: Quote) -> HttpResponseBase:
    if request.POST.get("consent") != IMMEDIATE_DELIVERY.version:
        messages.warning(request, "The terms of delivery on this page have changed. Read them, then pay.")
        return redirect("checkout", quote_id=quote.pk)
    purchase = PurchaseRequest(str(quote.listing_id), quote.currency, quote.license_slug)
    key = f"checkout-{quote.pk}"
    try:
        receipt, _ = spend(
            buyer=request.user, purchase=purchase, quote_id=str(quote.pk), idempotency_key=key, delivery_consent=IMMEDIATE_DELIVERY
        )
    except NotFound:
        # The page says that the asset is no longer on sale.
        return redirect("checkout", quote_id=quote.pk)
    except Problem as problem:
        messages.error(request, problem.message)
        return redirect("checkout", quote_id=quote.pk)
    sold = f"We send {quote.licensee_email} a link to claim it." if quote.licensee_email else f"{quote.listing.title} is yours."
    messages.success(request, sold)
    return redirect("order-page", order_id=receipt.order_id)

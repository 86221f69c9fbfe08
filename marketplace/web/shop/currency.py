"""The currency in which a viewer sees prices: the one just chosen, else the one chosen before, else the wallet's, else dollars."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from catalog.pricing import Prices
from marketplace.accounts.models import User
from marketplace.core.money import WALLET_CURRENCIES, Currency
from wallet.selectors import currency_preference_of

COOKIE = "currency"
SESSION_KEY = "currency"
_YEAR_SECONDS = 365 * 24 * 60 * 60


def currency_of(request: HttpRequest) -> Currency:
    """Return the currency to show prices in, without a query of its own."""
    chosen = (request.GET.get("currency"), request.COOKIES.get(COOKIE), request.session.get(SESSION_KEY))
    return next((Currency(code) for code in chosen if code in set(Currency)), Currency.USD)


def paying_currency(request: HttpRequest) -> str:
    """Return the currency that a purchase form begins with: the shown one, or, as no wallet holds euros, the wallet's."""
    shown = currency_of(request)
    return shown if shown in WALLET_CURRENCIES else request.session.get(SESSION_KEY, "")


def remember_currency(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return the response with a cookie for the currency in the query string."""
    chosen = request.GET.get("currency")
    if chosen in set(Currency) and chosen != request.COOKIES.get(COOKIE):
        response.set_cookie(COOKIE, str(chosen), max_age=_YEAR_SECONDS, samesite="Lax", secure=request.is_secure(), httponly=True)
    return response


def amount_in(prices: Prices, currency: Currency) -> tuple[int | None, Currency]:
    """Return a price in the currency, or in dollars where the vendor set none: every listing has one in dollars."""
    amount = prices.by_currency[currency]
    return (prices.usd, Currency.USD) if amount is None else (amount, currency)


@receiver(user_logged_in)
def note_preference(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    """Store the wallet's currency in the new session, so that pages need no query for it, and say so if prices change to it."""
    before = currency_of(request)
    request.session[SESSION_KEY] = currency_preference_of(user)
    now = currency_of(request)
    if now != before:
        messages.info(
            request, f"Prices are now in {now}, the currency of your wallet. Before, you saw them in {before}.", fail_silently=True
        )

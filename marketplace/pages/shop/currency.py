"""The currency in which a viewer sees prices: the one just chosen, else the one chosen before, else the wallet's, else dollars."""

from django.http import HttpRequest, HttpResponse

from catalog.pricing import Prices
from marketplace.core.money import Currency

COOKIE = "currency"
# In the session.
PREFERENCE = "currency"
_YEAR = 365 * 24 * 60 * 60


def currency_of(request: HttpRequest) -> Currency:
    """Return the currency to show prices in, without a query of its own."""
    said = (request.GET.get("currency"), request.COOKIES.get(COOKIE), request.session.get(PREFERENCE))
    return next((Currency(code) for code in said if code in set(Currency)), Currency.USD)


def remember(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Keep the currency that the address chose for the pages to come."""
    chosen = request.GET.get("currency")
    if chosen in set(Currency) and chosen != request.COOKIES.get(COOKIE):
        response.set_cookie(COOKIE, str(chosen), max_age=_YEAR, samesite="Lax", secure=request.is_secure(), httponly=True)
    return response


def amount_in(prices: Prices, currency: Currency) -> tuple[int | None, Currency]:
    """Return a price in the currency, or in dollars where the vendor set none: every listing has one in dollars."""
    amount = {Currency.USD: prices.usd, Currency.INR: prices.inr, Currency.EUR: prices.eur}[currency]
    return (prices.usd, Currency.USD) if amount is None else (amount, currency)

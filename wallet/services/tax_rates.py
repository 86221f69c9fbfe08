"""The rates of tax and of exchange, which the operator enters."""

from datetime import date
from decimal import Decimal

from django.db import transaction
from django.db.models import Q
from django_countries.data import COUNTRIES

from marketplace.accounts.models import User
from marketplace.core import audit, texts

from ..models import ExchangeRate, TaxRate
from ..places import INDIA, INDIAN_STATES
from ..tax import Rates


def rates_in_force(*, countries: set[str], day: date) -> Rates:
    """Return the rates that apply in these countries on a day: the newest of each place that has not ended."""
    rows = TaxRate.objects.filter(Q(valid_to__isnull=True) | Q(valid_to__gte=day), country__in=countries, valid_from__lte=day)
    return {(country, region): rate for country, region, rate in rows.order_by("valid_from").values_list("country", "region", "rate_bp")}


def exchange_rate_on(*, currency: str, tax_currency: str, day: date) -> Decimal | None:
    """Return what a unit of a currency was worth in a tax currency, None if no rate had been entered for that day."""
    rows = ExchangeRate.objects.filter(currency=currency, tax_currency=tax_currency, valid_from__lte=day)
    return rows.order_by("-valid_from").values_list("rate", flat=True).first()


@transaction.atomic
def save_tax_rate(*, rate: TaxRate, changed: list[str], actor: User) -> None:
    """Save a new or changed rate; sales from now on use it. Raises what `clean_tax_rate` raises."""
    clean_tax_rate(rate=rate)
    audit.save_and_record(rate, changed=changed, actor=actor)


def clean_tax_rate(*, rate: TaxRate) -> None:
    """Normalise the place of a rate.

    Raises:
        InvalidInput: the country or the state of India is unknown.
    """
    rate.country, rate.region = rate.country.strip().upper(), rate.region.strip()
    if rate.country not in COUNTRIES:
        raise texts.invalid("country", "invalid", "Enter the two letters of a country, such as DE.")
    if rate.country == INDIA and rate.region and rate.region not in INDIAN_STATES:
        raise texts.invalid("region", "invalid", "Enter the two digits of the state's GST code, or nothing for all of India.")


@transaction.atomic
def save_exchange_rate(*, rate: ExchangeRate, changed: list[str], actor: User) -> None:
    """Save a new or changed rate of exchange; invoices from now on use it. Raises what `clean_exchange_rate` raises."""
    clean_exchange_rate(rate=rate)
    audit.save_and_record(rate, changed=changed, actor=actor)


def clean_exchange_rate(*, rate: ExchangeRate) -> None:
    """Normalise the currency of a rate of exchange.

    Raises:
        InvalidInput: both currencies are the same, or the second is not three letters.
    """
    rate.tax_currency = clean_tax_currency(rate.tax_currency)
    if rate.tax_currency in {"", rate.currency}:
        raise texts.invalid("tax_currency", "invalid", "Enter another currency.")


def clean_tax_currency(code: str) -> str:
    """Return the code of a currency in capitals; it may be empty.

    Raises:
        InvalidInput: it is not three letters.
    """
    code = code.strip().upper()
    if code and not (len(code) == 3 and code.isascii() and code.isalpha()):
        raise texts.invalid("tax_currency", "invalid", "Enter the three letters of a currency, such as EUR.")
    return code

"""Payment providers: who takes the money for a currency."""

from django.conf import settings
from django.db import connection

from marketplace.core.money import WALLET_CURRENCIES, Currency

from ..models import TopUp
from .base import PaymentEvent, Provider
from .razorpay import RazorpayProvider
from .simulated import SimulatedProvider
from .stripe import StripeProvider

__all__ = [
    "PaymentEvent",
    "Provider",
    "SimulatedProvider",
    "has_top_ups_of_real_providers",
    "provider_for",
    "provider_named",
    "providers",
    "top_up_currencies",
]


def providers() -> dict[str, Provider]:
    """Return the providers that are set up, by name."""
    found: list[Provider] = []
    if settings.STRIPE:
        found.append(StripeProvider(settings.STRIPE, timeout=settings.PAYMENT_TIMEOUT_SECONDS))
    if settings.RAZORPAY:
        found.append(RazorpayProvider(settings.RAZORPAY, timeout=settings.PAYMENT_TIMEOUT_SECONDS))
    if settings.TEST_PAYMENTS and settings.TEST_PAYMENTS_ALLOWED:
        found.append(SimulatedProvider())
    return {provider.name: provider for provider in found}


def provider_named(name: str) -> Provider | None:
    """Return a provider, None if it is not set up."""
    return providers().get(name)


def provider_for(currency: str) -> Provider | None:
    """Return the provider of a currency, None if there is none; the test provider comes last."""
    return next((provider for provider in providers().values() if currency in provider.currencies), None)


def top_up_currencies() -> list[Currency]:
    """Return the currencies in which credit can be added."""
    return [currency for currency in WALLET_CURRENCIES if provider_for(currency) is not None]


def has_top_ups_of_real_providers() -> bool:
    """Tell whether a top-up was requested from a real provider, paid or not; False while the database has no tables."""
    if TopUp._meta.db_table not in connection.introspection.table_names():
        return False
    return TopUp.objects.exclude(provider=SimulatedProvider.name).exists()

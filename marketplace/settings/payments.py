"""Payment providers, and the limits of top-ups."""

from typing import TypedDict

from django.core.exceptions import ImproperlyConfigured

from . import environment as read


class TopUpLimits(TypedDict):
    """The most that a top-up may add, that a user may add in 24 hours, and that a top-up may leave in a wallet, in minor units."""

    once: int
    day: int
    balance: int


def _credentials(prefix: str, *names: str) -> dict[str, str]:
    """Return a provider's credentials by name, empty if none is set; raise an error if only some are."""
    values = {name: read.text(f"{prefix}_{name}") for name in names}
    missing = [f"{prefix}_{name}" for name, value in values.items() if not value]
    if missing and any(values.values()):
        raise ImproperlyConfigured(f"{prefix.title()} is half set: set {' and '.join(missing)}, or unset every {prefix}_ variable.")
    return {} if missing else values


def _limits(currency: str, once: int, day: int, balance: int) -> TopUpLimits:
    """Return the limits of a currency, which are set in whole units."""
    return {
        "once": 100 * read.integer(f"TOP_UP_MAXIMUM_{currency}", default=once, minimum=1),
        "day": 100 * read.integer(f"TOP_UP_DAILY_{currency}", default=day, minimum=1),
        "balance": 100 * read.integer(f"TOP_UP_BALANCE_{currency}", default=balance, minimum=1),
    }


STRIPE = _credentials("STRIPE", "SECRET_KEY", "WEBHOOK_SECRET")
RAZORPAY = _credentials("RAZORPAY", "KEY_ID", "KEY_SECRET", "WEBHOOK_SECRET")
# A provider that moves no money, for trying the service.
TEST_PAYMENTS = read.boolean("TEST_PAYMENTS", default=False)
# Whether the test provider may be on.
TEST_PAYMENTS_ALLOWED = True
PAYMENT_TIMEOUT_SECONDS = 10
TOP_UP_LIMITS: dict[str, TopUpLimits] = {
    "INR": _limits("INR", 50_000, 100_000, 500_000),
    "USD": _limits("USD", 500, 1_000, 5_000),
}

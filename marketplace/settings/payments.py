"""Payment providers, and the limits of top-ups."""

from collections.abc import Mapping

from django.core.exceptions import ImproperlyConfigured

from . import environment as read
from .sandbox import SANDBOX


def _credentials(values: Mapping[str, str]) -> dict[str, str]:
    """Return a provider's credentials, empty if none is set; raise an error if only some are."""
    missing = [name for name, value in values.items() if not value]
    if missing and any(values.values()):
        raise ImproperlyConfigured(
            f"A payment provider is only partly configured: set {' and '.join(missing)}, or unset {' and '.join(values)}."
        )
    return {} if missing else dict(values)


STRIPE = _credentials({"STRIPE_SECRET_KEY": read.text("STRIPE_SECRET_KEY"), "STRIPE_WEBHOOK_SECRET": read.text("STRIPE_WEBHOOK_SECRET")})
RAZORPAY = _credentials(
    {
        "RAZORPAY_KEY_ID": read.text("RAZORPAY_KEY_ID"),
        "RAZORPAY_KEY_SECRET": read.text("RAZORPAY_KEY_SECRET"),
        "RAZORPAY_WEBHOOK_SECRET": read.text("RAZORPAY_WEBHOOK_SECRET"),
    }
)
# A provider that moves no money, for trying the service.
TEST_PAYMENTS = read.boolean("TEST_PAYMENTS", default=SANDBOX)
# Whether the test provider may be on.
TEST_PAYMENTS_ALLOWED = True
PAYMENT_TIMEOUT_SECONDS = 10
# Approving a purchase above a spending limit requires the owner's password if it costs more than this, in minor units.
APPROVAL_PASSWORD_ABOVE: dict[str, int] = {
    "INR": 100 * read.integer("APPROVAL_PASSWORD_ABOVE_INR", default=5_000),
    "USD": 100 * read.integer("APPROVAL_PASSWORD_ABOVE_USD", default=50),
}
# The most that a top-up may add, that a user may add in 24 hours, and that a top-up may leave in a wallet, in minor units.
TOP_UP_LIMITS: dict[str, dict[str, int]] = {
    "INR": {
        "once": 100 * read.integer("TOP_UP_MAXIMUM_INR", default=50_000, minimum=1),
        "day": 100 * read.integer("TOP_UP_DAILY_INR", default=100_000, minimum=1),
        "balance": 100 * read.integer("TOP_UP_BALANCE_INR", default=500_000, minimum=1),
    },
    "USD": {
        "once": 100 * read.integer("TOP_UP_MAXIMUM_USD", default=500, minimum=1),
        "day": 100 * read.integer("TOP_UP_DAILY_USD", default=1_000, minimum=1),
        "balance": 100 * read.integer("TOP_UP_BALANCE_USD", default=5_000, minimum=1),
    },
}

"""System checks of the wallet."""

from typing import Any

from django.conf import settings
from django.core.checks import WARNING, CheckMessage, Error, Info, Tags, register


@register("payments")
def check_simulated_payments(**_kwargs: Any) -> list[CheckMessage]:
    """Return an error if the test provider is on where credit is worth money."""
    if not settings.TEST_PAYMENTS or settings.TEST_PAYMENTS_ALLOWED:
        return []
    sentence = "TEST_PAYMENTS is on: anyone could add credit without paying."
    return [Error(sentence, hint="Unset TEST_PAYMENTS, and set up Stripe or Razorpay.", id="wallet.E001")]


@register(Tags.security, deploy=True)
def check_provider_mode(**_kwargs: Any) -> list[CheckMessage]:
    """Return a warning if a provider is in its test mode, in which test cards add credit."""
    if not any(key.startswith(("sk_test_", "rk_test_", "rzp_test_")) for key in (*settings.STRIPE.values(), *settings.RAZORPAY.values())):
        return []
    sentence = "A payment provider is in test mode: anyone could add credit without paying."
    return [CheckMessage(WARNING, sentence, hint="Set its live keys.", id="wallet.W001")]


@register(Tags.security, deploy=True)
def check_sandbox(**_kwargs: Any) -> list[CheckMessage]:
    """Return a note that the deployment is a sandbox."""
    if not settings.SANDBOX:
        return []
    note = "SANDBOX is on: no real money moves, no email is sent, applications are approved at once, and sandbox_reset deletes all data."
    return [Info(note, hint="Unset SANDBOX for a real marketplace.", id="wallet.I001")]

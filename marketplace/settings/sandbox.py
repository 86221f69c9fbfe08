"""A sandbox: the same service for trying it out, which moves no money, sends no mail and approves applications at once."""

from django.core.exceptions import ImproperlyConfigured

from . import environment as read

SANDBOX = read.boolean("SANDBOX", default=False)
# Credentials of payment providers, and the mail server.
_REFUSED = ("STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", "RAZORPAY_KEY_ID", "RAZORPAY_KEY_SECRET", "RAZORPAY_WEBHOOK_SECRET", "EMAIL_URL")

if SANDBOX and (given := [name for name in _REFUSED if read.text(name)]):
    raise ImproperlyConfigured(f"A sandbox moves no money and sends no mail: unset {' and '.join(given)}, or unset SANDBOX.")

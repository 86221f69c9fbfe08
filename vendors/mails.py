"""Plain mails about decisions on vendors. One template is one mail: its first line is the subject."""

from functools import partial

from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string

from .models import VendorProfile


def mail_vendor(profile: VendorProfile, template: str, *, reason: str) -> None:
    """Write to the vendor once the transaction stands; a mail server that is down is logged and undoes nothing."""
    context = {"user": profile.user, "store": profile.store, "reason": reason, "dashboard": f"{settings.BASE_URL}/dashboard"}
    subject, _, body = render_to_string(f"mail/vendors/{template}.txt", context).partition("\n")
    transaction.on_commit(partial(profile.user.email_user, subject.strip(), body.strip() + "\n"), robust=True)

"""Plain mails about decisions on listings. One template is one mail: its first line is the subject."""

from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string

from .models import Listing


def mail_vendor(listing: Listing, template: str, **context: Any) -> None:
    """Write to the listing's vendor once the transaction stands; a mail server that is down is logged and undoes nothing."""
    vendor = listing.store.owner
    text = render_to_string(
        f"mail/catalog/{template}.txt",
        {"user": vendor, "listing": listing, "page": f"{settings.BASE_URL}/assets/{listing.slug}", **context},
    )
    subject, _, body = text.partition("\n")
    transaction.on_commit(partial(vendor.email_user, subject.strip(), body.strip() + "\n"), robust=True)

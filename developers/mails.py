"""Plain mails about decisions. One template is one mail: its first line is the subject."""

from typing import Any

from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string

from marketplace.accounts.models import User


def mail(user: User, template: str, **context: Any) -> None:
    """Send a mail once the transaction stands; a mail server that is down is logged and undoes nothing."""
    text = render_to_string(
        f"mail/developers/{template}.txt",
        {"user": user, "dashboard": f"{settings.BASE_URL}/dashboard", **context},
    )
    subject, _, body = text.partition("\n")

    # A named function: Django's log of a robust callback's failure asks for its name.
    def send() -> None:
        user.email_user(subject.strip(), body.strip() + "\n")

    transaction.on_commit(send, robust=True)

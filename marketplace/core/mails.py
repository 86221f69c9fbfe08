"""Plain mails about decisions. One template is one mail: its first line is the subject."""

import logging
from typing import Any, Protocol

from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string

logger = logging.getLogger(__name__)


class Reader(Protocol):
    """Who a mail is for. Core does not know the user model."""

    pk: Any

    def email_user(self, subject: str, message: str) -> Any:
        """Send the mail."""


def mail(user: Reader, template: str, **context: Any) -> None:
    """Send `templates/mail/<template>.txt` once the transaction stands; a mail server that is down undoes nothing.

    Args:
        user: Who reads it.
        template: Such as `vendors/approved`.
        **context: What the template names, beside `user` and `base_url`, which are always there.
    """
    text = render_to_string(f"mail/{template}.txt", {"user": user, "base_url": settings.BASE_URL, **context})
    subject, _, body = text.partition("\n")

    def send() -> None:
        try:
            user.email_user(subject.strip(), body.strip() + "\n")
        except Exception as error:  # noqa: BLE001 - the change stands already: nothing that a mail server does may undo the answer
            # The error's own words hold addresses, and a trace holds the words of the mail.
            logger.error("The mail %s to user %s could not be sent: %s", template, user.pk, type(error).__name__)  # noqa: TRY400

    transaction.on_commit(send)

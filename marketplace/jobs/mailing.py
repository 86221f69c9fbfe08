"""Sends mail through the job queue: no request waits for the mail server, and when it is down, mails are delayed, not lost.

A mail's content, such as a link that sets a password, is encrypted in the queue and wiped once it is sent.
"""

import json
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends import console
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.message import EmailMessage, make_msgid

from marketplace.core.encryption import decrypt, encrypt

from .policy import Retries, job

PURPOSE = "mail"
# A mail server may be down for about a day.
RETRIES = Retries(attempts=24, first_seconds=10, longest_seconds=3 * 3600)
_FIELDS = ("subject", "body", "from_email", "to", "cc", "bcc", "reply_to", "extra_headers")


class QueuedBackend(BaseEmailBackend):
    """An email backend that enqueues each mail as a job, in the transaction of the change."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        for message in email_messages:
            send_mail.enqueue(encrypt(_to_json(message), purpose=PURPOSE))
        return len(email_messages)


@job(retries=RETRIES, private=True)
def send_mail(encrypted: str) -> None:
    """Hand one mail to the mail server."""
    message = _from_json(decrypt(encrypted, purpose=PURPOSE))
    message.connection = get_connection(settings.MAIL_TRANSPORT)
    message.send()


def _to_json(message: EmailMessage) -> str:
    if message.attachments:
        raise TypeError("mails with attachments are not queued")
    # A fixed id: many mail programs show a mail once even if it is sent twice.
    message.extra_headers.setdefault("Message-ID", make_msgid(domain=settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].rstrip(">")))
    parts = [[str(part[0]), str(part[1])] for part in getattr(message, "alternatives", [])]
    return json.dumps({name: getattr(message, name) for name in _FIELDS} | {"subtype": message.content_subtype, "alternatives": parts})


def _from_json(text: str) -> EmailMultiAlternatives:
    given = json.loads(text)
    headers = given.pop("extra_headers")
    subtype, alternatives = given.pop("subtype"), given.pop("alternatives")
    message = EmailMultiAlternatives(headers=headers, **given)
    message.content_subtype = subtype
    for content, mimetype in alternatives:
        message.attach_alternative(content, mimetype)
    return message


class ConsoleBackend(console.EmailBackend):
    """Prints recipients, subject and text."""

    stream: Any

    def write_message(self, message: EmailMessage) -> None:
        self.stream.write(
            f"\nMail to {', '.join(message.recipients())}\nSubject: {message.subject}\n\n{message.body.strip()}\n\n{'-' * 79}\n"
        )

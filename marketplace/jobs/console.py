"""Mails on the terminal, where there is no mail server: what a person reads of them, without the markup for mail programs."""

from typing import Any

from django.core.mail.backends import console
from django.core.mail.message import EmailMessage


class EmailBackend(console.EmailBackend):
    """Prints recipients, subject and text."""

    stream: Any

    def write_message(self, message: EmailMessage) -> None:
        """Print one mail."""
        self.stream.write(
            f"\nMail to {', '.join(message.recipients())}\nSubject: {message.subject}\n\n{message.body.strip()}\n\n{'-' * 79}\n"
        )

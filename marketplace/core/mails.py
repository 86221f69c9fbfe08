"""Mails about decisions. One template is one mail: its first line is the subject, the rest its text, plain and once more as HTML."""

from typing import Any, Protocol

from django.conf import settings
from django.template.loader import render_to_string


class Reader(Protocol):
    """Who a mail is for. Core does not know the user model."""

    def email_user(self, subject: str, message: str, *, html_message: str) -> Any:
        """Send the mail."""


def mail(user: Reader, template: str, **context: Any) -> None:
    """Put `templates/mail/<template>.txt` into the queue of mails, in the transaction of the change: it goes out once the change stands.

    Args:
        user: Who reads it.
        template: Such as `vendors/approved`.
        **context: What the template names, beside `user` and `base_url`, which are always there.
    """
    text = render_to_string(f"mail/{template}.txt", {"user": user, "base_url": settings.BASE_URL, **context})
    subject, _, body = text.partition("\n")
    user.email_user(subject.strip(), body.strip() + "\n", html_message=_html(subject.strip(), body.strip()))


def _html(subject: str, body: str) -> str:
    """Return the text as a page. Only a line of its own that leads to us is a link: a name or a reason is never made one."""
    paragraphs = [
        {"text": text.strip(), "link": text.strip().startswith(f"{settings.BASE_URL}/") and len(text.split()) == 1}
        for text in body.split("\n\n")
        if text.strip()
    ]
    return render_to_string("mail/frame.html", {"subject": subject, "paragraphs": paragraphs})

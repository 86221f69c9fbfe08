"""Sends mails from templates: the first line is the subject, the rest the body, sent as plain text and as HTML."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from django.conf import settings
from django.template.loader import render_to_string

# Marks our own URLs until the mail is complete, so that no others become links. It is random: nobody can write it into a text.
LINK_MARK = secrets.token_hex(16)
_BULLET = "- "
# The longest button text, which fits on a phone.
_BUTTON_CHARS = 40


class Recipient(Protocol):
    """The recipient of a mail; this package does not import the user model."""

    def email_user(self, subject: str, message: str, *, html_message: str, headers: Mapping[str, str]) -> Any:
        """Send the mail."""

    def unsubscribe_url(self, topic: str) -> str | None:
        """Return the URL that unsubscribes from a topic, None if the recipient has unsubscribed."""


@dataclass
class Part:
    """A part of a mail: a paragraph, a list with its points as lines, or a link with the label of its button."""

    kind: Literal["text", "list", "link"]
    lines: list[str]
    label: str = "Open the page"

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def mail(user: Recipient, template: str, *, topic: str = "", **context: Any) -> None:
    """Enqueue a mail from `templates/mail/<template>.txt`; it is sent once the current transaction is committed.

    Args:
        user: The recipient.
        template: The template's name, such as `vendors/approved`.
        topic: What the mail is about, which the recipient can unsubscribe from (RFC 8058); empty for a mail that is always sent.
        **context: The template's context, in addition to `user` and `base_url`.
    """
    unsubscribe_url = user.unsubscribe_url(topic) if topic else ""
    if unsubscribe_url is None:
        return
    text = render_to_string(f"mail/{template}.txt", {"user": user, "base_url": LINK_MARK + settings.BASE_URL, **context})
    # Text typed into a form has CRLF line breaks.
    subject, _, body = text.replace("\r\n", "\n").partition("\n")
    subject, body = as_text(subject.strip()), with_signature(body, unsubscribe_url)
    headers = {"List-Unsubscribe": f"<{unsubscribe_url}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"} if unsubscribe_url else {}
    user.email_user(subject, as_text(body), html_message=as_html(subject, body, unsubscribe_url), headers=headers)


def with_signature(body: str, unsubscribe_url: str = "") -> str:
    """Return a mail's text without empty parts, followed by the signature, which says how to unsubscribe."""
    parts = [part.strip("\n").rstrip() for part in body.split("\n\n") if part.strip()]
    end = f"\nUnsubscribe from emails of this kind: {unsubscribe_url}" if unsubscribe_url else ""
    return "\n\n".join([*parts, f"Creative Asset Marketplace\n{settings.BASE_URL}/{end}"]) + "\n"


def as_text(body: str) -> str:
    """Return a text without the marks of our own links."""
    return body.replace(LINK_MARK, "")


def as_html(subject: str, body: str, unsubscribe_url: str = "") -> str:
    """Return a text that ends with its signature as HTML; the template has a signature of its own. Only marked URLs on a separate line become links, so that user input never does."""
    *parts, _ = body.split("\n\n")
    home = f"{settings.BASE_URL}/"
    shown = [each for part in parts for each in _parts(part)]
    return render_to_string("mail/base.html", {"subject": subject, "parts": shown, "home": home, "unsubscribe_url": unsubscribe_url})


def _parts(block: str) -> list[Part]:
    """Return the parts of a block of text between two empty lines: a list or a link may follow a sentence directly."""
    parts: list[Part] = []
    for line in block.split("\n"):
        text, last = as_text(line).strip(), parts[-1].kind if parts else ""
        if line.startswith(_BULLET):
            if last != "list":
                parts.append(Part("list", []))
            parts[-1].lines.append(text.removeprefix(_BULLET))
        elif last == "list" and line.startswith("  "):
            parts[-1].lines[-1] += f"\n{text}"
        elif line.startswith(f"{LINK_MARK}{settings.BASE_URL}/") and len(line.split()) == 1:
            before = parts[0].text if len(parts) == 1 and last == "text" else ""
            if before.endswith(":") and "\n" not in before and len(before) <= _BUTTON_CHARS:
                parts = [Part("link", [text], label=before.removesuffix(":"))]
            else:
                parts.append(Part("link", [text]))
        elif last == "text":
            parts[-1].lines.append(text)
        elif text:
            parts.append(Part("text", [text]))
    return parts

"""Sends mails from templates: the first line is the subject, the rest the body, sent as plain text and as HTML."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings
from django.template.loader import render_to_string

# Marks our own URLs until the mail is complete, so that no others become links. It is random: nobody can write it into a text.
LINK_MARK = secrets.token_hex(16)
_POINT = "- "
# The longest button text, which fits on a phone.
_BUTTON_CHARS = 40


class Recipient(Protocol):
    """The recipient of a mail; this package does not import the user model."""

    def email_user(self, subject: str, message: str, *, html_message: str, headers: Mapping[str, str]) -> Any:
        """Send the mail."""

    def unsubscribe_url(self, topic: str) -> str | None:
        """Return the URL that unsubscribes from a topic, None if the recipient has unsubscribed."""


@dataclass(frozen=True)
class Part:
    """A part of a mail: a paragraph, a link with the text of its button, or a list."""

    text: str = ""
    link: bool = False
    points: tuple[str, ...] = ()
    label: str = "Open the page"


def mail(user: Recipient, template: str, *, topic: str = "", **context: Any) -> None:
    """Enqueue a mail from `templates/mail/<template>.txt`; it is sent once the current transaction is committed.

    Args:
        user: The recipient.
        template: The template's name, such as `vendors/approved`.
        topic: What the mail is about, which the recipient can unsubscribe from (RFC 8058); empty for a mail that is always sent.
        **context: The template's context, in addition to `user` and `base_url`.
    """
    unsubscribe = user.unsubscribe_url(topic) if topic else ""
    if unsubscribe is None:
        return
    text = render_to_string(f"mail/{template}.txt", {"user": user, "base_url": LINK_MARK + settings.BASE_URL, **context})
    # Text typed into a form has CRLF line breaks.
    subject, _, body = text.replace("\r\n", "\n").partition("\n")
    subject, body = as_text(subject.strip()), with_signature(body, unsubscribe)
    headers = {"List-Unsubscribe": f"<{unsubscribe}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"} if unsubscribe else {}
    user.email_user(subject, as_text(body), html_message=as_html(subject, body, unsubscribe), headers=headers)


def with_signature(body: str, unsubscribe: str = "") -> str:
    """Return a mail's text without empty parts, followed by the signature, which says how to unsubscribe."""
    parts = [part.strip("\n").rstrip() for part in body.split("\n\n") if part.strip()]
    end = f"\nUnsubscribe from emails of this kind: {unsubscribe}" if unsubscribe else ""
    return "\n\n".join([*parts, f"Creative Asset Marketplace\n{settings.BASE_URL}/{end}"]) + "\n"


def as_text(body: str) -> str:
    """Return a text without the marks of our own links."""
    return body.replace(LINK_MARK, "")


def as_html(subject: str, body: str, unsubscribe: str = "") -> str:
    """Return a text that ends with its signature as HTML; the template has a signature of its own. Only marked URLs on a separate line become links, so that user input never does."""
    *parts, _ = body.split("\n\n")
    home = f"{settings.BASE_URL}/"
    shown = [each for part in parts for each in _parts(part)]
    return render_to_string("mail/base.html", {"subject": subject, "parts": shown, "home": home, "unsubscribe": unsubscribe})


def _parts(text: str) -> list[Part]:
    """Return the parts of a block of text between two empty lines: a list or a link may follow a sentence directly."""
    parts: list[Part] = []
    for line in text.split("\n"):
        parts = _with_line(parts, line)
    return parts


def _with_line(parts: list[Part], line: str) -> list[Part]:
    """Return the parts with the next line added, to the last part if it continues it, otherwise as a new one."""
    last = parts[-1] if parts else Part()
    is_link = line.startswith(f"{LINK_MARK}{settings.BASE_URL}/") and len(line.split()) == 1
    line = as_text(line)
    if line.startswith(_POINT):
        point = Part(points=(*last.points, line.removeprefix(_POINT)))
        return [*(parts[:-1] if last.points else parts), point]
    if last.points and line.startswith("  "):
        *points, point_text = last.points
        return [*parts[:-1], Part(points=(*points, f"{point_text}\n{line.strip()}"))]
    if is_link:
        label = _button_label(parts)
        return [Part(line.strip(), link=True, label=label)] if label else [*parts, Part(line.strip(), link=True)]
    if last.text and not last.link:
        return [*parts[:-1], Part(f"{last.text}\n{line.strip()}")]
    return [*parts, Part(line.strip())] if line.strip() else parts


def _button_label(parts: list[Part]) -> str:
    """Return a link's button label: the only part before it, if that is one short line ending in a colon, else an empty string."""
    match parts:
        case [Part(text=text, link=False)] if text.endswith(":") and "\n" not in text and len(text) <= _BUTTON_CHARS:
            return text.removesuffix(":")
    return ""

"""Mails. One template is one mail: its first line is the subject, the rest its text, which goes out plain and once more as HTML."""

from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings
from django.template.loader import render_to_string

_POINT = "- "
# What a button says is short enough for a phone.
_BUTTON_CHARS = 40


class Recipient(Protocol):
    """Who a mail is for. Core does not know the user model."""

    def email_user(self, subject: str, message: str, *, html_message: str) -> Any:
        """Send the mail."""


@dataclass(frozen=True)
class Part:
    """A piece of a mail: a link, points, or else a paragraph.

    Args:
        text: A paragraph, or the address that a link leads to.
        link: Whether it is a link.
        points: The points of a list.
        words: What the link's button says.
    """

    text: str = ""
    link: bool = False
    points: tuple[str, ...] = ()
    words: str = "Open the page"


def mail(user: Recipient, template: str, **context: Any) -> None:
    """Put `templates/mail/<template>.txt` into the queue of mails, in the transaction of the change: it goes out once the change stands.

    Args:
        user: Who reads it.
        template: Such as `vendors/approved`.
        **context: What the template names, beside `user` and `base_url`, which are always there.
    """
    text = render_to_string(f"mail/{template}.txt", {"user": user, "base_url": settings.BASE_URL, **context})
    # A reason that was typed into a page breaks its lines as browsers do.
    subject, _, body = text.replace("\r\n", "\n").partition("\n")
    subject, body = subject.strip(), with_signature(body)
    user.email_user(subject, body, html_message=as_html(subject, body))


def with_signature(body: str) -> str:
    """Return a mail's text, closed up where parts of it were left out, with who sends it beneath."""
    parts = [part.strip("\n").rstrip() for part in body.split("\n\n") if part.strip()]
    return "\n\n".join([*parts, f"Creative Asset Marketplace\n{settings.BASE_URL}/"]) + "\n"


def as_html(subject: str, body: str) -> str:
    """Return a signed text as HTML. Only a line of its own that leads to us is a link: a name or a reason is never made one."""
    *parts, _ = body.split("\n\n")
    home = f"{settings.BASE_URL}/"
    return render_to_string(
        "mail/frame.html", {"subject": subject, "parts": [each for part in parts for each in _parts(part)], "home": home}
    )


def _parts(text: str) -> list[Part]:
    """Return the pieces of a block of text between two empty lines: a list or a link may follow its first sentence directly."""
    parts: list[Part] = []
    for line in text.split("\n"):
        parts = _with_line(parts, line)
    return parts


def _with_line(parts: list[Part], line: str) -> list[Part]:
    """Return the parts with the next line added: to the last one where it continues that, otherwise as a new one."""
    last = parts[-1] if parts else Part()
    if line.startswith(_POINT):
        point = Part(points=(*last.points, line.removeprefix(_POINT)))
        return [*(parts[:-1] if last.points else parts), point]
    if last.points and line.startswith("  "):
        *points, point_text = last.points
        return [*parts[:-1], Part(points=(*points, f"{point_text}\n{line.strip()}"))]
    if line.startswith(f"{settings.BASE_URL}/") and len(line.split()) == 1:
        label = _button_label(parts)
        return [Part(line.strip(), link=True, words=label)] if label else [*parts, Part(line.strip(), link=True)]
    if last.text and not last.link:
        return [*parts[:-1], Part(f"{last.text}\n{line.strip()}")]
    return [*parts, Part(line.strip())] if line.strip() else parts


def _button_label(parts: list[Part]) -> str:
    """Return a link's button label: the only part before it, where that is one short line ending in a colon, else an empty string."""
    match parts:
        case [Part(text=text, link=False)] if text.endswith(":") and "\n" not in text and len(text) <= _BUTTON_CHARS:
            return text.removesuffix(":")
    return ""

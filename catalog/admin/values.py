"""Text for the values of snapshots and technical data."""

import re
from typing import Any

from ..comparison.listings import changes_between
from ..models import Listing
from ..selectors.reviews import approvals_of
from ..services.snapshots import snapshot_of

# Characters that are invisible or change the direction of the text, so that it reads differently from what it contains.
_INVISIBLE = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")

_CAMEL_CASE_BREAK = re.compile("(?<=[a-z0-9])(?=[A-Z])")


def visible_characters(text: str) -> str:
    """Return the text with its invisible characters replaced by their code points."""
    return _INVISIBLE.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def name_label(name: str) -> str:
    """Return a name in technical data as words: `entryCount` as `Entry count`."""
    return _CAMEL_CASE_BREAK.sub(" ", name).replace("_", " ").capitalize()


def value_label(value: Any) -> str:
    """Return a JSON value as text for people."""
    match value:
        case None:
            return "not set"
        case bool():
            return "yes" if value else "no"
        case dict():
            return "\n".join(f"{name}: {value_label(inner)}" for name, inner in value.items())
        case list():
            separator = "\n" if any(isinstance(inner, dict) for inner in value) else ", "
            return separator.join(value_label(inner).replace("\n", ", ") for inner in value) or "none"
        case _:
            return visible_characters(str(value)) or "empty"


def changes_since_approval(listing: Listing) -> list[tuple[str, str, str]]:
    """Return name, approved and current value of each field changed since the last approval; empty before the first approval."""
    approved = approvals_of(listing).only("snapshot").first()
    changes = [] if approved is None else changes_between(approved.snapshot, snapshot_of(listing))
    return [(change.name, value_label(change.before), value_label(change.after)) for change in changes]

"""Puts the values of snapshots and technical data into words."""

from typing import Any

from ..models import Listing
from ..services.snapshots import changes_between, last_approved_snapshot, snapshot_of


def in_words(value: Any) -> str:
    """Return a JSON value as people read it."""
    match value:
        case None:
            return "not set"
        case bool():
            return "yes" if value else "no"
        case dict():
            return "\n".join(f"{name}: {in_words(inner)}" for name, inner in value.items())
        case list():
            separator = "\n" if any(isinstance(inner, dict) for inner in value) else ", "
            return separator.join(in_words(inner).replace("\n", ", ") for inner in value) or "none"
        case _:
            return str(value) or "empty"


def changes_in_words(listing: Listing) -> list[tuple[str, str, str]]:
    """Return field, approved value and present value of what is different since the last approval; nothing before the first."""
    approved = last_approved_snapshot(listing)
    if approved is None:
        return []
    changes = changes_between(approved, snapshot_of(listing))
    return [(change.field, in_words(change.before), in_words(change.after)) for change in changes]

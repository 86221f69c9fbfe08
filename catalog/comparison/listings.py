"""Compares two submissions of a listing: its fields, and its file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..models import Listing
from ..selectors.reviews import facts_of_files
from .facts import parse_facts
from .files import Difference, FileChanges, compare_files


class FileState(StrEnum):
    """How the files of two submissions compare."""

    SAME = "same"
    CHANGED = "changed"
    # The bytes differ, but the facts of one of the files are missing or cannot be read, or do not tell what differs.
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class ListingChanges:
    """What differs between two submissions; `file` is None unless its state is `changed`."""

    fields: Sequence[Difference]
    file_state: FileState
    file: FileChanges | None = None


def compare_snapshots(listing: Listing, before: Mapping[str, Any], after: Mapping[str, Any]) -> ListingChanges:
    """Return what differs between two snapshots of a listing."""
    fields = changes_between(before, after)
    old, new = _checksum(before), _checksum(after)
    if old == new:
        return ListingChanges(fields, FileState.SAME)
    recorded = facts_of_files(listing, old, new)
    earlier, later = parse_facts(recorded.get(old)), parse_facts(recorded.get(new))
    if earlier is None or later is None or (earlier == later and not later.are_exhaustive):
        return ListingChanges(fields, FileState.UNKNOWN)
    return ListingChanges(fields, FileState.CHANGED, compare_files(earlier, later))


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Return the changed fields, by their names in the API, in the order of `after`; fields that older snapshots lack are left out."""
    return [Difference(field, before[field], value) for field, value in after.items() if field in before and before[field] != value]


def _checksum(snapshot: Mapping[str, Any]) -> str:
    return str((snapshot.get("file") or {}).get("checksum", ""))

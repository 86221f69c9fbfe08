"""The data of the page on which a submission is reviewed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from ..models import Deliverable, Listing, ListingReview, Preview, Store
from ..models.files import PreviewKind
from ..models.reviews import ReviewStatus
from ..selectors.reviews import (
    approvals_of,
    cases_of_store,
    files_under_review,
    listings_with_the_bytes_of,
    previews_of,
    record_of,
    with_copies,
    with_record,
)
from ..services.snapshots import changes_between, snapshot_of
from .differences import TextPart, mark_differences
from .labels import value_label, visible_characters
from .samples import samples_for

VENDOR_CASES = 10
SAME_BYTES = 10
# Fields with a section of their own on the page.
SHOWN_SEPARATELY = {"file", "previews"}
# Technical details with a table of their own, or of no use to a reviewer.
TECHNICAL_SHOWN_SEPARATELY = {"members", "skill", "warnings", "axes", "contentsByExtension"}


@dataclass(frozen=True)
class FieldChange:
    """A changed field, for a side-by-side view."""

    field: str
    before: Sequence[TextPart]
    after: Sequence[TextPart]


def review_context(review: ListingReview) -> dict[str, Any]:
    """Return the context of the page."""
    listing, files = review.listing, files_under_review(review)
    deliverable = with_copies(files).first()
    previews = list(previews_of(listing))
    pending = review.status == ReviewStatus.PENDING
    approved, now = approvals_of(listing).values_list("snapshot", flat=True).first(), snapshot_of(listing, previews)
    return {
        "review": review,
        "listing": listing,
        "pending": pending,
        "fields": [(name, value_label(value)) for name, value in _submitted_fields(review, now).items() if name not in SHOWN_SEPARATELY],
        "first": approved is None,
        "changes": [] if approved is None else _field_changes(approved, now),
        **_file(listing, deliverable, list(listings_with_the_bytes_of(files)[:SAME_BYTES])),
        **_previews(previews),
        "record": record_of(with_record(Store.objects.all()).get(pk=listing.store_id)),
        "cases": cases_of_store(listing.store).exclude(pk=review.pk)[:VENDOR_CASES],
    }


def _submitted_fields(review: ListingReview, now: dict[str, Any]) -> Mapping[str, Any]:
    """Return the listing's fields: the current ones while the review is pending or where it has no snapshot, else the submitted ones."""
    snapshot: dict[str, Any] = review.snapshot
    return now if review.status == ReviewStatus.PENDING else snapshot or now


def _field_changes(approved: Mapping[str, Any], now: Mapping[str, Any]) -> list[FieldChange]:
    changes = []
    for change in changes_between(approved, now):
        match change.field:
            case "previews":
                before, after = _preview_text(change.before, change.after), _preview_text(change.after, change.before)
            case "file":
                before, after = _file_text(change.before), _file_text(change.after)
            case _:
                before, after = value_label(change.before), value_label(change.after)
        changes.append(FieldChange(change.field, *mark_differences(before, after)))
    return changes


def _file_text(file: Mapping[str, Any] | None) -> str:
    """Return the text that compares a file, without its id."""
    return value_label(None if file is None else {name: value for name, value in file.items() if name != "id"})


def _preview_text(previews: Sequence[Mapping[str, Any]] | None, others: Sequence[Mapping[str, Any]] | None) -> str:
    """Return one line for each preview: kind, slot and alt text, with the checksum where it is not at the same place in `others`."""
    known = {(preview["kind"], preview["slot"], preview["checksum"]) for preview in others or ()}
    lines = []
    for preview in previews or ():
        place = (preview["kind"], preview["slot"], preview["checksum"])
        text = f", “{preview['altText']}”" if "altText" in preview else ""
        lines.append(f"{preview['kind']} {preview['slot']}" + ("" if place in known else f": {preview['checksum'][:12]}…") + text)
    return "\n".join(lines) or "none"


def _file(listing: Listing, deliverable: Any, copies: Sequence[Listing]) -> dict[str, Any]:
    if deliverable is None:
        return {"deliverable": None}
    technical: Mapping[str, Any] = deliverable.technical
    live = listing.live_deliverable if listing.live_deliverable_id != deliverable.pk else None
    return {
        "deliverable": deliverable,
        "technical": [(name, value_label(value)) for name, value in technical.items() if name not in TECHNICAL_SHOWN_SEPARATELY],
        "extensions": sorted(technical.get("contentsByExtension", {}).items(), key=lambda item: (-item[1], item[0])),
        "warnings": technical.get("warnings", []),
        "skill": _skill(technical.get("skill")),
        "axes": technical.get("axes", []),
        "members": [(member.get("path", ""), value_label(_plain(member))) for member in technical.get("members", [])],
        "entries": deliverable.entries,
        "entries_left_out": max(sum(technical.get("contentsByExtension", {}).values()) - len(deliverable.entries), 0)
        if deliverable.entries
        else 0,
        "live": live,
        "entry_changes": [] if live is None else list(_entry_changes(live.entries, deliverable.entries)),
        **_copies(deliverable, copies),
    }


def block_context(files: QuerySet[Deliverable], *, pending: bool) -> dict[str, Any]:
    """Return the context of the page that blocks the file of this queryset: the file and the other listings with the same bytes."""
    file = with_copies(files.select_related("listing__store")).first()
    if file is None:
        return {"deliverable": None}
    copies = list(listings_with_the_bytes_of(files)[:SAME_BYTES])
    return {"deliverable": file, "listing": file.listing, "pending": pending, **_copies(file, copies)}


def _copies(deliverable: Any, copies: Sequence[Listing]) -> dict[str, Any]:
    """Return the other listings with the same bytes, and how many more there are."""
    return {"same_bytes": copies, "same_bytes_left_out": deliverable.copies - len(copies)}


def _skill(skill: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the skill with invisible characters made visible, so that the reviewer sees what an agent reads."""
    if skill is None:
        return None
    return {name: visible_characters(value) if isinstance(value, str) else value for name, value in skill.items()}


def _plain(member: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in member.items() if name not in {"path", "axes"}}


def _entry_changes(before: Sequence[Sequence[Any]], after: Sequence[Sequence[Any]]) -> list[tuple[str, str, int]]:
    """Return the entries that were added, removed or resized: kind of change, path, size in bytes."""
    old, new = dict(map(tuple, before)), dict(map(tuple, after))
    added = [("new", path, size) for path, size in new.items() if path not in old]
    gone = [("gone", path, size) for path, size in old.items() if path not in new]
    changed = [("changed", path, size) for path, size in new.items() if path in old and old[path] != size]
    return [*added, *changed, *gone]


def _previews(previews: Iterable[Preview]) -> dict[str, Any]:
    by_kind: dict[str, list[Preview]] = {kind: [] for kind in PreviewKind.values}
    for preview in previews:
        by_kind[preview.kind].append(preview)
    specimen = next(iter(by_kind[PreviewKind.FONT_SPECIMEN]), None)
    return {
        "gallery": by_kind[PreviewKind.GALLERY],
        "sounds": by_kind[PreviewKind.AUDIO_PREVIEW],
        "specimen": specimen,
        "samples": [] if specimen is None else samples_for(specimen.details.get("unicodeRanges", [])),
    }

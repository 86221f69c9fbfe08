"""What changed since an earlier submission, as the review page shows it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse

from ..comparison.files import Difference, FontChanges
from ..comparison.listings import ListingChanges, compare_snapshots
from ..comparison.words import mark_differences
from ..models import Deliverable, Listing, ListingReview, Preview
from ..models.files import PreviewKind
from ..models.reviews import ReviewStatus
from ..selectors.reviews import former_pictures_of
from .values import value_label

# Limits of the pictures in which reviewers compare the changed glyphs of a font.
GLYPHS_PER_PICTURE = 24
PICTURES_PER_FONT = 40


def compare_with_earlier(
    review: ListingReview, decisions: Sequence[ListingReview], submitted: Mapping[str, Any], previews: Sequence[Preview], against: str
) -> dict[str, Any] | None:
    """Return the template context of the changes since an earlier submission that was decided; None if there is none.

    Reviews that a takedown or an appeal created are no submissions: nobody may have looked at their files.

    Args:
        review: The submission.
        decisions: The decisions on the listing before it, latest first.
        submitted: Its fields.
        previews: The previews of the listing.
        against: The id of the earlier submission; any other text for the last one.
    """
    # A submission that an appeal reopened has the time of the one that was rejected.
    submissions = [each for each in decisions if each.is_vendor_submission and each.submitted_at != review.submitted_at]
    if not submissions:
        return None
    base = next((each for each in submissions if str(each.pk) == against), submissions[0])
    changes = compare_snapshots(review.listing, base.snapshot, submitted)
    approved = next((each for each in submissions if each.status == ReviewStatus.APPROVED), None)
    # A rejected submission may contain a change that its reviewer missed, so the last approved one is compared as well.
    if approved is not None and approved.pk >= base.pk:
        approved = None
    fonts = changes.file.fonts if changes.file else ()
    return {
        "base": base,
        "others": [each for each in submissions if each != base],
        "changes": changes,
        "fields": _field_changes(changes),
        "pictures": list(_picture_changes(review, base.snapshot, submitted, previews)),
        # Each with the query strings of its pictures before and now.
        "fonts": [(font, list(_drawing_queries(font))) for font in fonts],
        "findings": _earlier_findings(decisions, submitted),
        "before_file_id": _kept_file_id(review.listing, base.submitted_file_id),
        "approved": approved,
        "since_approved": approved and compare_snapshots(review.listing, approved.snapshot, submitted),
    }


def _field_changes(changes: ListingChanges) -> list[Difference]:
    found = []
    for change in changes.fields:
        match change.name:
            case "previews":
                before, after = _preview_text(change.before, change.after), _preview_text(change.after, change.before)
            case "file":
                before, after = _file_text(change.before), _file_text(change.after)
            case _:
                before, after = value_label(change.before), value_label(change.after)
        found.append(Difference(change.name, *mark_differences(before, after)))
    return found


def _file_text(file: Mapping[str, Any] | None) -> str:
    """Return a file as text to be compared, without its id."""
    return value_label(None if file is None else {name: value for name, value in file.items() if name != "id"})


def _preview_text(previews: Sequence[Mapping[str, Any]] | None, others: Sequence[Mapping[str, Any]] | None) -> str:
    """Return one line for each preview: kind, slot and alt text, and the checksum unless `others` has the same picture in that slot."""
    known = {(preview["kind"], preview["slot"], preview["checksum"]) for preview in others or ()}
    lines = []
    for preview in previews or ():
        place = (preview["kind"], preview["slot"], preview["checksum"])
        alt_text = f", “{preview['altText']}”" if "altText" in preview else ""
        lines.append(f"{preview['kind']} {preview['slot']}" + ("" if place in known else f": {preview['checksum'][:12]}…") + alt_text)
    return "\n".join(lines) or "none"


def _picture_changes(
    review: ListingReview, before: Mapping[str, Any], after: Mapping[str, Any], previews: Sequence[Preview]
) -> Iterable[dict[str, Any]]:
    """Yield the gallery images that were added, replaced or removed, with their addresses; an address is empty without a picture that is still stored."""
    old, new = _gallery(before), _gallery(after)
    if old == new:
        return
    present = {preview.sha256: preview.url for preview in previews}
    former = former_pictures_of(review.listing) if set(old.values()) - present.keys() else {}
    addresses = {digest: reverse("admin:catalog_listingreview_picture", args=[review.pk, digest]) for digest in former} | present
    for slot in sorted(old.keys() | new.keys()):
        if old.get(slot) != new.get(slot):
            old_address, new_address = (addresses.get(gallery.get(slot, ""), "") for gallery in (old, new))
            yield {"slot": slot, "before": old_address, "after": new_address, "had_picture": slot in old}


def _gallery(snapshot: Mapping[str, Any]) -> dict[int, str]:
    return {each["slot"]: each["checksum"] for each in snapshot.get("previews", ()) if each["kind"] == PreviewKind.GALLERY}


def _drawing_queries(font: FontChanges) -> Iterable[tuple[str, str]]:
    """Yield the query strings of each picture of the changed glyphs: that of the font before, and that of the font now."""
    names = [glyph.name for glyph in (*font.redrawn, *font.added, *font.removed)]
    for start in range(0, min(len(names), GLYPHS_PER_PICTURE * PICTURES_PER_FONT), GLYPHS_PER_PICTURE):
        glyphs = names[start : start + GLYPHS_PER_PICTURE]
        former, now = (urlencode({"path": path, "face": font.face, "glyph": glyphs}, doseq=True) for path in (font.former_path, font.path))
        yield former, now


def _earlier_findings(decisions: Sequence[ListingReview], submitted: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the findings since the last approval, each with `answered`: whether its field has changed since; None if it names no field."""
    found: list[Mapping[str, Any]] = []
    for decision in decisions:
        if decision.status == ReviewStatus.APPROVED:
            break
        before = decision.snapshot
        for finding in decision.findings:
            field = finding.get("field", "")
            found.append(finding | {"answered": before[field] != submitted.get(field) if field in before else None})
    return found


def _kept_file_id(listing: Listing, file_id: str) -> UUID | None:
    """Return the id of an earlier file, None if its bytes are no longer stored; the approved one by default."""
    if not file_id or str(listing.approved_deliverable_id) == file_id:
        return listing.approved_deliverable_id
    return Deliverable.objects.filter(listing=listing, pk=file_id).values_list("pk", flat=True).first()

"""The data of the page on which a submission is reviewed."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from ..font_samples import samples_for
from ..models import Deliverable, ListingReview, Preview
from ..models.files import PreviewKind
from ..models.reviews import ReviewStatus
from ..selectors.listings import requests_of_skill
from ..selectors.reviews import (
    MAX_DECISIONS,
    decisions_before,
    is_in_review,
    listings_with_the_bytes_of,
    reviews_of_store,
    store_with_record,
    submitted_files_of,
)
from ..services.snapshots import snapshot_of
from .changes import compare_with_earlier
from .values import name_label, value_label, visible_characters

MAX_VENDOR_REVIEWS = 10
MAX_COPIES = 10
# Fields with a section of their own on the page.
SHOWN_SEPARATELY = {"file", "previews"}
# Technical details with a table of their own, or of no use to a reviewer.
TECHNICAL_SHOWN_SEPARATELY = {"members", "skill", "warnings", "axes", "contentsByExtension"}


def review_context(review: ListingReview, *, against: str = "") -> dict[str, Any]:
    """Return the context of the page; `against` is the id of the earlier submission to compare with, the last decided one by default."""
    listing, files = review.listing, submitted_files_of(review)
    deliverable = _submitted_file(review) or files.first()
    previews = list(listing.previews.all())
    pending = review.status == ReviewStatus.PENDING
    submitted = _submitted_fields(review, previews)
    decisions = list(decisions_before(review)[:MAX_DECISIONS])
    return {
        "review": review,
        "listing": listing,
        "pending": pending,
        "fields": [(name, value_label(value)) for name, value in submitted.items() if name not in SHOWN_SEPARATELY],
        "comparison": compare_with_earlier(review, decisions, submitted, previews, against),
        "decisions": decisions,
        **_file_context(deliverable, list(listings_with_the_bytes_of(files)[:MAX_COPIES])),
        **_previews_context(previews),
        "record": store_with_record(listing.store_id),
        "others": reviews_of_store(listing.store).exclude(pk=review.pk)[:MAX_VENDOR_REVIEWS],
    }


def _submitted_file(review: ListingReview) -> Deliverable | None:
    """Return the submitted file if it is one of the listing's present ones, without a query."""
    present = (review.listing.candidate_deliverable, review.listing.approved_deliverable)
    return next((file for file in present if file is not None and str(file.pk) == review.submitted_file_id), None)


def _submitted_fields(review: ListingReview, previews: Sequence[Preview]) -> Mapping[str, Any]:
    """Return the listing's fields: the current ones while the review is pending or where it has no snapshot, else the submitted ones."""
    submitted: dict[str, Any] = review.snapshot
    if submitted and review.status != ReviewStatus.PENDING:
        return submitted
    return snapshot_of(review.listing, previews, manifest=submitted.get("manifest"))


def _file_context(deliverable: Deliverable | None, copies: Sequence[Any]) -> dict[str, Any]:
    if deliverable is None:
        return {"deliverable": None}
    technical: Mapping[str, Any] = deliverable.technical
    return {
        "deliverable": deliverable,
        "technical": [
            (name_label(name), value_label(value)) for name, value in technical.items() if name not in TECHNICAL_SHOWN_SEPARATELY
        ],
        "extensions": sorted(technical.get("contentsByExtension", {}).items(), key=lambda item: (-item[1], item[0])),
        "warnings": technical.get("warnings", []),
        "skill": _visible_skill(technical.get("skill")),
        "requests": requests_of_skill(deliverable) if "skill" in technical else None,
        "axes": technical.get("axes", []),
        "members": [
            (member.get("path", ""), value_label({name: value for name, value in member.items() if name not in {"path", "axes"}}))
            for member in technical.get("members", [])
        ],
        "entries": deliverable.entries,
        "entries_left_out": max(sum(technical.get("contentsByExtension", {}).values()) - len(deliverable.entries), 0)
        if deliverable.entries
        else 0,
        **_copies_context(copies),
    }


def block_context(files: QuerySet[Deliverable]) -> dict[str, Any]:
    """Return the context of the page that blocks the file of this queryset: the file and the other listings with the same bytes."""
    file = files.select_related("listing__store").first()
    if file is None:
        return {"deliverable": None}
    copies = list(listings_with_the_bytes_of(files)[:MAX_COPIES])
    return {"deliverable": file, "listing": file.listing, "pending": is_in_review(file), **_copies_context(copies)}


def _copies_context(copies: Sequence[Any]) -> dict[str, Any]:
    """Return the other listings with the same bytes, and how many more there are."""
    return {"same_bytes": copies, "same_bytes_left_out": copies[0].total - len(copies) if copies else 0}


def _visible_skill(skill: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the skill with invisible characters made visible, so that the reviewer sees what an agent reads."""
    if skill is None:
        return None
    return {name: visible_characters(value) if isinstance(value, str) else value for name, value in skill.items()}


def _previews_context(previews: Sequence[Preview]) -> dict[str, Any]:
    by_kind = {kind: [preview for preview in previews if preview.kind == kind] for kind in PreviewKind}
    specimen = next(iter(by_kind[PreviewKind.FONT_SPECIMEN]), None)
    return {
        "gallery": by_kind[PreviewKind.GALLERY],
        "sounds": by_kind[PreviewKind.AUDIO_PREVIEW],
        "specimen": specimen,
        "samples": [] if specimen is None else samples_for(specimen.details.get("unicodeRanges", [])),
    }

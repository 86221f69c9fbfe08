"""The context of the page of a listing's files."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Case, JSONField, When, prefetch_related_objects
from django.utils.text import capfirst

from catalog import bounds as catalog_bounds
from catalog.font_tester import Tester, type_tester_of
from catalog.models import Deliverable, Listing, Preview
from catalog.models.files import PreviewKind
from catalog.models.listings import ListingStatus, UpdateStatus
from catalog.selectors.cards import Picture, picture_of

from ..selectors import files_of, unfinished_uploads_of_listing
from .picture_forms import AltTextForm
from .presenters import CheckRow, checklist_of, detail_rows_of, may_submit, warnings_of
from .upload_fields import (
    FILE,
    KINDS,
    MESSAGES,
    PICTURE,
    SOUND,
    SPECIMEN,
    UploadField,
    format_limit,
    picture_name,
    slot_field,
    slot_name,
    upload_field,
)

MAX_EARLIER = 10
# The anchor of errors that concern no upload field; they are shown at the top of the page.
PAGE = "page"


class Notice(NamedTuple):
    """What a form has done, or why it was refused, and the anchor of the part of the page that shows it."""

    anchor: str = ""
    message: str = ""

    def at(self, anchor: str) -> str:
        """Return the message for an anchor, an empty string where there is none."""
        return self.message if anchor == self.anchor else ""


@dataclass(frozen=True)
class Slot:
    """A slot of the gallery.

    Args:
        earlier: The slot before it, if its image can be moved there.
        later: The slot after it, if its image can be moved there.
    """

    number: int
    name: str
    field: UploadField
    preview: Preview | None = None
    picture: Picture | None = None
    alt_text_form: AltTextForm | None = None
    earlier: int | None = None
    later: int | None = None


@dataclass(frozen=True)
class ShownFile:
    """A deliverable with its technical details and warnings."""

    file: Deliverable
    details: list[tuple[str, str]]
    warnings: list[tuple[str, int, list[str]]]


@dataclass(frozen=True)
class PageSection:
    """What a listing has in one section of the page; it can't be submitted without those that are needed."""

    anchor: str
    name: str
    label: str
    is_there: bool
    is_needed: bool = False


class FilesPage:
    """The content of the page. Needs three queries, and those of the checks.

    Args:
        refusal: Why a form was just refused, if one was.
        typed: The invalid forms of alternative texts by preview id.
    """

    messages = MESSAGES
    picture_extensions = KINDS[PICTURE].extensions
    picture_maximum = format_limit(KINDS[PICTURE].maximum)

    def __init__(self, listing: Listing, refusal: Notice, typed: Mapping[uuid.UUID, AltTextForm]) -> None:
        self.listing, self.refusal = listing, refusal
        # The checks look at the same pictures.
        prefetch_related_objects([listing], "previews")
        previews = list(listing.previews.all())
        technical, self.earlier = _files(listing)
        # The file that was approved last, which buyers get, and the one that waits.
        self.approved = _shown(listing.approved_deliverable, technical)
        self.candidate = _shown(listing.candidate_deliverable, technical)
        self.unfinished = [] if self.is_locked else list(unfinished_uploads_of_listing(listing))
        pictures = {preview.slot: preview for preview in previews if preview.kind == PreviewKind.GALLERY}
        self.gallery = [_slot(listing, number, pictures, refusal, typed) for number in range(catalog_bounds.GALLERY_SLOTS)]
        self.specimen = _only(previews, PreviewKind.FONT_SPECIMEN)
        self.sound = _only(previews, PreviewKind.AUDIO_PREVIEW)
        # Empty where the listing is on sale or in review.
        self.checks = [] if self.is_on_sale or not may_submit(listing) else checklist_of(listing)

    @property
    def page_error(self) -> str:
        """The error that concerns no upload field."""
        return self.refusal.at(PAGE)

    @property
    def is_locked(self) -> bool:
        """Tell whether the listing is under review, so that nothing of it can be changed."""
        return self.listing.status == ListingStatus.PENDING_REVIEW

    @property
    def is_file_locked(self) -> bool:
        """Tell whether the deliverable is under review and cannot be replaced."""
        return self.is_locked or self.listing.update_status == UpdateStatus.PENDING_REVIEW

    @property
    def is_on_sale(self) -> bool:
        """Tell whether the listing is published: a new file then needs a review, new previews do not."""
        return self.listing.status == ListingStatus.PUBLISHED

    @property
    def missing(self) -> CheckRow | None:
        """The first check that failed."""
        return next((check for check in self.checks if not check.passed), None)

    @property
    def sections(self) -> list[PageSection]:
        """What is there and what is needed, in the order of the page."""
        return [self._file_section, self._pictures_section, self.specimen_section, self.sound_section]

    @property
    def specimen_section(self) -> PageSection:
        there = self.specimen is not None
        return PageSection("specimen", "Type specimen", "" if there else "For fonts", is_there=there)

    @property
    def sound_section(self) -> PageSection:
        there = self.sound is not None
        return PageSection("sound", "Sound", "" if there else "For loops, effects and music", is_there=there)

    @property
    def _pictures_section(self) -> PageSection:
        count = sum(slot.preview is not None for slot in self.gallery)
        has_cover = self.gallery[0].preview is not None
        words = [f"{count} of {len(self.gallery)}"] if count else []
        if not has_cover:
            words.append("no cover picture yet")
        return PageSection("previews", "Pictures", capfirst(", ".join(words)), is_there=has_cover, is_needed=True)

    @property
    def _file_section(self) -> PageSection:
        shown = self.candidate or self.approved
        if shown is None:
            label = "No file yet"
        elif shown is self.approved:
            label = f"{shown.file.original_filename}, {'blocked' if shown.file.blocked_at else 'approved'}"
        else:
            label = f"{shown.file.original_filename}, {'in review' if self.is_file_locked else 'not approved'}"
        return PageSection("file", "File", label, is_there=shown is not None, is_needed=True)

    @property
    def file_field(self) -> UploadField:
        if self.candidate:
            label = "Replace the new file" if self.approved else "Replace the file"
        else:
            label = "Upload a new file" if self.approved else "Upload the file"
        return upload_field(self.listing, FILE, label, self.refusal.at(FILE))

    @property
    def specimen_field(self) -> UploadField:
        label = "Replace the specimen" if self.specimen else "Upload a specimen"
        return upload_field(self.listing, SPECIMEN, label, self.refusal.at(SPECIMEN))

    @property
    def sound_field(self) -> UploadField:
        return upload_field(self.listing, SOUND, "Replace the sound" if self.sound else "Upload a sound", self.refusal.at(SOUND))

    @property
    def tester(self) -> Tester | None:
        return type_tester_of(self.specimen)

    @property
    def differences(self) -> list[tuple[str, str, str]]:
        """The differences between the approved file and the new one: name, before, after."""
        if self.approved is None or self.candidate is None:
            return []
        before, after = dict(self.approved.details), dict(self.candidate.details)
        names = dict.fromkeys([*before, *after])
        return [(name, before.get(name, "—"), after.get(name, "—")) for name in names if before.get(name) != after.get(name)]


def _files(listing: Listing) -> tuple[dict[uuid.UUID, dict[str, Any]], list[Deliverable]]:
    """Return the technical details of the files in use by id, and the other files without theirs, by one query."""
    used = [pk for pk in (listing.approved_deliverable_id, listing.candidate_deliverable_id) if pk is not None]
    details = Case(When(pk__in=used, then="technical"), output_field=JSONField())
    first = Case(When(pk__in=used, then=0), default=1)
    files = files_of(listing).defer("technical", "entries").annotate(used_details=details).order_by(first, "-id")[: MAX_EARLIER + len(used)]
    return {file.pk: file.used_details for file in files if file.pk in used}, [file for file in files if file.pk not in used]


def _only(previews: Iterable[Preview], kind: PreviewKind) -> Preview | None:
    return next((preview for preview in previews if preview.kind == kind), None)


def _slot(listing: Listing, number: int, pictures: Mapping[int, Preview], refusal: Notice, typed: Mapping[uuid.UUID, AltTextForm]) -> Slot:
    name, preview = picture_name(number), pictures.get(number)
    field = slot_field(listing, number, f"{'Replace' if preview else 'Add'} {name.lower()}", refusal.at(slot_name(number)))
    if preview is None:
        return Slot(number, name, field)
    return Slot(
        number,
        name,
        field,
        preview,
        picture_of(preview.pk, preview.details, preview.renditions),
        alt_text_form=typed.get(preview.pk) or AltTextForm(preview_id=preview.pk, alt_text=preview.alt_text),
        earlier=number - 1 if number else None,
        # The last image has no later one to change places with.
        later=number + 1 if number + 1 in pictures else None,
    )


def _shown(file: Deliverable | None, technical: Mapping[uuid.UUID, dict[str, Any]]) -> ShownFile | None:
    if file is None:
        return None
    details = technical.get(file.pk, {})
    return ShownFile(file, detail_rows_of(details), warnings_of(details))

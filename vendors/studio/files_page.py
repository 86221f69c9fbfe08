"""The context of the page of a listing's files."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from catalog import bounds as catalog_bounds
from catalog.font_tester import Tester, type_tester_of
from catalog.models import Deliverable, Listing, Preview
from catalog.models.files import PreviewKind
from catalog.models.listings import ListingStatus, UpdateStatus
from catalog.selectors import Picture, picture_of

from ..models import Upload
from ..selectors import files_of, unfinished_of
from .picture_forms import AltTextForm
from .presenters import facts_of, warnings_of
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

EARLIER = 10
# The place of errors that belong to no upload field; they are shown at the top of the page.
WHOLE = "page"


class RefusedUpload(NamedTuple):
    """A refused upload by form: the place of the field, and the message."""

    place: str = ""
    message: str = ""

    def at(self, place: str) -> str:
        """Return the message for a place, an empty string where there is none."""
        return self.message if place == self.place else ""


@dataclass(frozen=True)
class Slot:
    """A slot of the gallery.

    Args:
        stays: Whether it can only be replaced, not removed.
        earlier: The previous slot, where it can be moved there.
        later: The next slot, where it can be moved there.
    """

    number: int
    name: str
    place: UploadField
    preview: Preview | None
    picture: Picture | None
    stays: bool
    alt_text_form: AltTextForm | None = None
    earlier: int | None = None
    later: int | None = None


@dataclass(frozen=True)
class ShownFile:
    """A deliverable with its facts and warnings."""

    file: Deliverable
    facts: list[tuple[str, str]]
    warnings: list[tuple[str, int, list[str]]]


@dataclass(frozen=True)
class Part:
    """What a listing has at one place of the page; `is_missing` if it cannot be submitted without."""

    place: str
    name: str
    words: str
    is_missing: bool = False


@dataclass(frozen=True)
class FilesPage:
    """The content of the page.

    Args:
        live: The file that was approved last: buyers get it while the listing is published.
        earlier: Other stored files, newest first.
        unfinished: Resumable uploads that can be continued, newest first.
        refused: The upload that was just refused, if any.
    """

    listing: Listing
    live: ShownFile | None
    candidate: ShownFile | None
    earlier: list[Deliverable]
    unfinished: list[Upload]
    gallery: list[Slot]
    specimen: Preview | None
    sound: Preview | None
    refused: RefusedUpload

    messages = MESSAGES
    picture_endings = KINDS[PICTURE].endings
    picture_maximum = format_limit(KINDS[PICTURE].maximum)

    @property
    def refused_as_a_whole(self) -> str:
        """The error that belongs to no upload field."""
        return self.refused.at(WHOLE)

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
    def parts(self) -> list[Part]:
        """What is there and what is needed, in the order of the page."""
        pictures = sum(slot.preview is not None for slot in self.gallery)
        has_cover = self.gallery[0].preview is not None
        counted = f"{pictures} of {len(self.gallery)}" if pictures else "None"
        return [
            Part("file", "File", self._state_of_file(), is_missing=not (self.live or self.candidate)),
            Part("previews", "Pictures", counted if has_cover else f"{counted}; a cover picture is needed", is_missing=not has_cover),
            Part("specimen", "Type specimen", "Uploaded" if self.specimen else "None; fonts can have one"),
            Part("sound", "Sound", "Uploaded" if self.sound else "None; loops, effects and music can have one"),
        ]

    def _state_of_file(self) -> str:
        shown = self.candidate or self.live
        if shown is None:
            return "None; one is needed"
        if shown is self.live:
            return f"{shown.file.original_filename}, reviewed"
        return f"{shown.file.original_filename}, {'in review' if self.is_file_locked else 'not reviewed yet'}"

    @property
    def file_field(self) -> UploadField:
        """The place of the deliverable."""
        if self.candidate:
            label = "Replace the new file" if self.live else "Replace the file"
        else:
            label = "Upload a new file" if self.live else "Upload the file"
        return upload_field(self.listing, FILE, label, self.refused.at(FILE))

    @property
    def specimen_field(self) -> UploadField:
        """The place of the specimen."""
        label = "Replace the specimen" if self.specimen else "Upload a specimen"
        return upload_field(self.listing, SPECIMEN, label, self.refused.at(SPECIMEN))

    @property
    def sound_field(self) -> UploadField:
        """The place of the audio preview."""
        return upload_field(self.listing, SOUND, "Replace the sound" if self.sound else "Upload a sound", self.refused.at(SOUND))

    @property
    def tester(self) -> Tester | None:
        """The type tester of the specimen."""
        return type_tester_of(self.specimen)

    @property
    def differences(self) -> list[tuple[str, str, str]]:
        """The differences between the reviewed file and the new one: name, before, after."""
        if self.live is None or self.candidate is None:
            return []
        before, after = dict(self.live.facts), dict(self.candidate.facts)
        names = dict.fromkeys([*before, *after])
        return [(name, before.get(name, "—"), after.get(name, "—")) for name in names if before.get(name) != after.get(name)]


def files_page(listing: Listing, refused: RefusedUpload | None = None, typed: Mapping[uuid.UUID, AltTextForm] | None = None) -> FilesPage:
    """Return the content of the page, with invalid forms of alternative texts by preview id. Needs four queries beside that of the listing."""
    refused = refused or RefusedUpload()
    previews = list(listing.previews.all())
    now = [file for file in (listing.live_deliverable, listing.candidate_deliverable) if file is not None]
    found = dict(Deliverable.objects.filter(pk__in=[file.pk for file in now]).values_list("pk", "technical"))
    pictures = {preview.slot: preview for preview in previews if preview.kind == PreviewKind.GALLERY}
    return FilesPage(
        listing=listing,
        live=_shown(listing.live_deliverable, found),
        candidate=_shown(listing.candidate_deliverable, found),
        earlier=list(files_of(listing).exclude(pk__in=found).defer("technical", "entries")[:EARLIER]),
        unfinished=[] if listing.status == ListingStatus.PENDING_REVIEW else list(unfinished_of(listing)),
        gallery=[_slot(listing, number, pictures, refused, typed or {}) for number in range(catalog_bounds.GALLERY_SLOTS)],
        specimen=_only(previews, PreviewKind.FONT_SPECIMEN),
        sound=_only(previews, PreviewKind.AUDIO_PREVIEW),
        refused=refused,
    )


def _only(previews: Iterable[Preview], kind: PreviewKind) -> Preview | None:
    return next((preview for preview in previews if preview.kind == kind), None)


def _slot(
    listing: Listing, number: int, pictures: Mapping[int, Preview], refused: RefusedUpload, typed: Mapping[uuid.UUID, AltTextForm]
) -> Slot:
    name, preview = picture_name(number), pictures.get(number)
    place = slot_field(listing, number, f"{'Replace' if preview else 'Add'} {name.lower()}", refused.at(slot_name(number)))
    if preview is None:
        return Slot(number, name, place, preview=None, picture=None, stays=False)
    alt_text_form = typed.get(preview.pk) or AltTextForm(preview_id=preview.pk, alt_text=preview.alt_text)
    return Slot(
        number,
        name,
        place,
        preview,
        picture_of(preview.pk, preview.details, preview.renditions),
        stays=number == 0 and listing.status == ListingStatus.PUBLISHED,
        alt_text_form=alt_text_form,
        earlier=number - 1 if number else None,
        # Behind the last one there is nothing to change places with.
        later=number + 1 if number + 1 in pictures else None,
    )


def _shown(file: Deliverable | None, found: Mapping[Any, dict[str, Any]]) -> ShownFile | None:
    if file is None:
        return None
    technical = found.get(file.pk, {})
    return ShownFile(file, facts_of(technical), warnings_of(technical))

"""The places that a vendor uploads to: what is taken there, and which addresses take it."""

from dataclasses import dataclass

from django.urls import reverse

from catalog.models import Listing
from marketplace.core import bounds

from .refusals import size_in_words

FILE, SPECIMEN, SOUND = "file", "specimen", "sound"
ARCHIVES = ".zip,.tar,.tgz,.gz,.bz2,.xz"
ENDINGS = {
    FILE: f"{ARCHIVES},.otf,.ttf,.ttc,.woff,.woff2,.jpg,.jpeg,.png,.webp,.psd,.wav,.mp3,.aac,.m4a,.flac,.ogg",
    "picture": ".jpg,.jpeg,.png,.webp",
    SPECIMEN: ".woff2,.woff",
    SOUND: ".mp3,.aac,.m4a,.wav",
}
MAXIMA = {FILE: bounds.DELIVERABLE_BYTES, "picture": bounds.IMAGE_BYTES, SPECIMEN: bounds.FONT_BYTES, SOUND: bounds.AUDIO_BYTES}


@dataclass(frozen=True)
class Place:
    """Somewhere to upload to.

    Args:
        name: Its id in the page.
        label: What its field is called.
        kind: `file`, `picture`, `specimen` or `sound`.
        action: Where the plain form is posted to.
        address: Where the page's script sends it: the vendor API.
        help: What is taken, in words.
        refused: Why an upload by form was just not taken.
    """

    name: str
    label: str
    kind: str
    action: str
    address: str
    help: str = ""
    refused: str = ""

    @property
    def endings(self) -> str:
        """The endings of file names that the browser suggests."""
        return ENDINGS[self.kind]

    @property
    def maximum(self) -> int:
        """The most bytes that are taken."""
        return MAXIMA[self.kind]


def slot_name(slot: int) -> str:
    """Return the name of a gallery slot's place."""
    return f"picture-{slot}"


def picture_name(slot: int) -> str:
    """Return what the picture of a slot is called."""
    return f"Picture {slot + 1}" if slot else "Cover picture"


def file_place(listing: Listing, *, replaces: str, refused: str) -> Place:
    """Return the place of the deliverable; `replaces` names what makes way for a new one."""
    most = size_in_words(bounds.DELIVERABLE_BYTES)
    taken = f"A zip or tar archive, a font, an image or a sound, up to {most}. Put several files into one archive."
    return Place(
        FILE,
        f"Replace {replaces}" if replaces else "Upload the file",
        FILE,
        reverse("studio-file-upload", args=[listing.slug]),
        reverse("vendor-file", args=[listing.pk]),
        taken,
        refused,
    )


def slot_place(listing: Listing, slot: int, *, label: str, refused: str) -> Place:
    """Return the place of a picture."""
    return Place(
        slot_name(slot),
        label,
        "picture",
        reverse("studio-picture-upload", args=[listing.slug, slot]),
        f"{reverse('vendor-gallery-image', args=[listing.pk])}?slot={slot}",
        refused=refused,
    )


def specimen_place(listing: Listing, *, taken: bool, refused: str) -> Place:
    """Return the place of the type specimen."""
    return Place(
        SPECIMEN,
        "Replace the specimen" if taken else "Upload a specimen",
        SPECIMEN,
        reverse("studio-specimen-upload", args=[listing.slug]),
        reverse("vendor-font-specimen", args=[listing.pk]),
        f"WOFF2 or WOFF, up to {size_in_words(bounds.FONT_BYTES)}.",
        refused,
    )


def sound_place(listing: Listing, *, taken: bool, refused: str) -> Place:
    """Return the place of the audio preview."""
    return Place(
        SOUND,
        "Replace the sound" if taken else "Upload a sound",
        SOUND,
        reverse("studio-sound-upload", args=[listing.slug]),
        reverse("vendor-audio-preview", args=[listing.pk]),
        f"MP3, AAC (also as M4A) or WAV, up to {size_in_words(bounds.AUDIO_BYTES)}.",
        refused,
    )

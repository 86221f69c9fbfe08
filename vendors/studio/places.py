"""The upload fields of the studio: which files each accepts, and the URLs that it uploads to."""

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
    """An upload field.

    Args:
        name: Its element id in the page.
        label: Its label.
        kind: `file`, `picture`, `specimen` or `sound`.
        action: The URL that the plain form posts to.
        address: The URL of the vendor API that the page's script uploads to.
        help: Describes the accepted files.
        refused: The error of the form's last upload.
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
        """The accepted file name extensions, for the browser's file dialog."""
        return ENDINGS[self.kind]

    @property
    def maximum(self) -> int:
        """The largest accepted size in bytes."""
        return MAXIMA[self.kind]


def slot_name(slot: int) -> str:
    """Return the name of a gallery slot's place."""
    return f"picture-{slot}"


def picture_name(slot: int) -> str:
    """Return the label of the image in a slot."""
    return f"Picture {slot + 1}" if slot else "Cover picture"


def file_place(listing: Listing, *, replaces: str, refused: str) -> Place:
    """Return the place of the deliverable; `replaces` names the file that a new one replaces."""
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

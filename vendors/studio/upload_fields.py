"""The upload fields of the studio: which files each accepts, the URLs that it uploads to, and the messages for refused uploads.

The page passes the same messages to its script.
"""

from dataclasses import dataclass
from typing import NamedTuple

from django.urls import reverse

from catalog import bounds as catalog_bounds
from catalog.models import Listing
from catalog.models.files import StorePictureKind
from marketplace.core import bounds as core_bounds
from marketplace.core.errors import Problem

from .. import bounds

_SIGN_IN = "You are no longer signed in. Sign in again, come back to this page and upload it once more."
_DAMAGED = "The upload arrived damaged. Upload it again; if that doesn't help, try another network."
# `{detail}` is replaced by the problem's detail, `{maximum}` by the largest accepted size, and `{requestId}` by the page's script only.
MESSAGES = {
    "not_authenticated": _SIGN_IN,
    "invalid_credential": _SIGN_IN,
    "insufficient_scope": _SIGN_IN,
    "ambiguous_credentials": "Your network or a browser extension added a credential of its own. Try another network or browser.",
    "vendor_not_approved": "Your store can't accept uploads now, because it is awaiting approval or suspended. See the studio's first page.",
    "not_found": "The listing or this upload of it no longer exists: it was deleted, or has expired. Reload the page.",
    "thumbnail_needed": "A listing on sale needs a cover picture. Upload another one to replace it.",
    "listing_locked": "It is in review and can't be changed. Withdraw it, or wait for the decision.",
    "upload_conflict": "Another file was uploaded here while yours was on its way, and was kept. Reload the page to see it; upload again if yours "
    "should replace it.",
    "body_too_large": "It is too large: the maximum is {maximum}. Make it smaller, or split it.",
    "unsupported_type": "{detail} What counts is the content, not the name.",
    "file_rejected": "{detail} Export it again from the program that made it, check that it opens, then upload it.",
    "upload_finishing": "Another window is finishing this upload. Reload the page in a minute to see the file.",
    "upload_unfinished": "The file did not arrive completely. Choose it again: the upload continues where it stopped.",
    "too_many_uploads": "You have begun too many uploads of large files. Choose one of those files again, or remove the upload on the page of its listing.",
    "unapproved_storage_full": "You can store at most {maximum} that no reviewer has approved, and this file would exceed it. Remove drafts, unfinished uploads or new "
    "files that you don't need, or wait for the reviews.",
    "upload_incomplete": "The file did not arrive completely. Choose it and upload it again.",
    "request_timeout": "It arrived too slowly. Try again over a faster connection.",
    "malformed_body": _DAMAGED,
    "malformed_request": _DAMAGED,
    "invalid_input": _DAMAGED,
    "length_required": "Your network or a browser extension hides the size of the upload. Try another network or browser.",
    "rate_limited": "Too many uploads at once or in a short time. Wait a minute, then try again.",
    "overloaded": "The service is very busy at the moment. Nothing was saved; try again in a minute.",
    "dependency_unavailable": "A part of the service is busy or unavailable. Nothing was saved; try again in a minute.",
    "precondition_failed": "The listing has changed in another window. Reload the page and try again.",
    "address_too_long": "The address of the page is too long. Go back to your listings and open the page from there.",
    "headers_too_large": "Your browser sends too much with each request. Delete the cookies of this site and sign in again.",
    "internal_error": "Something failed on our side, and nothing was saved. Try again; if it happens again, tell us the number {requestId}.",
}


def message_for(problem: Problem) -> str:
    """Return the message for a problem; its own detail where there is no message for its code."""
    maximum = format_limit(problem.members.get("maximumBytes", 0))
    sentence = MESSAGES.get(problem.code, "{detail}")
    return sentence.replace("{detail}", problem.message).replace("{maximum}", maximum)


def format_limit(size: int) -> str:
    """Return a limit in bytes as text, such as 20 MB."""
    return f"{size / core_bounds.GIB:g} GB" if size >= core_bounds.GIB else f"{size / core_bounds.MIB:g} MB"


class UploadKind(NamedTuple):
    """A kind of upload.

    Args:
        route: The page that the plain form posts to.
        api_route: The operation of the vendor API that the page's script uploads to.
        extensions: The accepted file name extensions, for the browser's file dialog.
        maximum: The largest accepted size in bytes.
        accepted: What to send; the page's script shows it where it refuses a file of another type.
        help: Describes the accepted files.
    """

    route: str
    api_route: str
    extensions: str
    maximum: int
    accepted: str
    help: str = ""


FILE, PICTURE, SPECIMEN, SOUND, LOGO, BANNER = "file", "picture", "specimen", "sound", "logo", "banner"
_PICTURE_EXTENSIONS, _SEND_A_PICTURE = ".jpg,.jpeg,.png,.webp", "Send a JPG, PNG or WebP image."
KINDS = {
    FILE: UploadKind(
        "studio-file-upload",
        "vendor-file",
        ".zip,.tar,.tgz,.gz,.bz2,.xz,.otf,.ttf,.ttc,.woff,.woff2,.jpg,.jpeg,.png,.webp,.psd,.wav,.mp3,.aac,.m4a,.flac,.ogg",
        catalog_bounds.DELIVERABLE_BYTES,
        "Send a zip or tar archive (plain, gzip, bzip2 or xz), a font, an image or a sound.",
        f"A zip or tar archive, a font, an image or a sound, up to {format_limit(catalog_bounds.DELIVERABLE_BYTES)}. "
        "Put several files into one archive.",
    ),
    PICTURE: UploadKind("studio-picture-upload", "vendor-gallery-image", _PICTURE_EXTENSIONS, bounds.IMAGE_BYTES, _SEND_A_PICTURE),
    LOGO: UploadKind("studio-logo-upload", "vendor-store-logo", _PICTURE_EXTENSIONS, bounds.IMAGE_BYTES, _SEND_A_PICTURE),
    BANNER: UploadKind("studio-banner-upload", "vendor-store-banner", _PICTURE_EXTENSIONS, bounds.IMAGE_BYTES, _SEND_A_PICTURE),
    SPECIMEN: UploadKind(
        "studio-specimen-upload",
        "vendor-font-specimen",
        ".woff2,.woff",
        bounds.FONT_BYTES,
        "Send a WOFF2 or WOFF font.",
        f"WOFF2 or WOFF, up to {format_limit(bounds.FONT_BYTES)}.",
    ),
    SOUND: UploadKind(
        "studio-sound-upload",
        "vendor-audio-preview",
        ".mp3,.aac,.m4a,.wav",
        bounds.AUDIO_BYTES,
        "Send an MP3, AAC or WAV sound.",
        f"MP3, AAC (also as M4A) or WAV, up to {format_limit(bounds.AUDIO_BYTES)}.",
    ),
}


@dataclass(frozen=True)
class UploadField:
    """An upload field of a page.

    Args:
        name: Its element id.
        action: Where its plain form posts to.
        api_url: Where the page's script uploads to.
        error: Why its last upload was refused, if it was.
        tus_url: Where the page's script begins a resumable upload of a larger file; empty where there is none.
    """

    name: str
    label: str
    kind: UploadKind
    action: str
    api_url: str
    error: str
    tus_url: str = ""

    part_bytes = bounds.MAX_PART_BYTES


def slot_name(slot: int) -> str:
    """Return the name of a gallery slot's upload field."""
    return f"picture-{slot}"


def picture_name(slot: int) -> str:
    """Return the label of the image in a slot."""
    return f"Picture {slot + 1}" if slot else "Cover picture"


def upload_field(listing: Listing, name: str, label: str, error: str) -> UploadField:
    """Return the upload field of the deliverable, the specimen or the sound."""
    action, api_url = reverse(KINDS[name].route, args=[listing.slug]), reverse(KINDS[name].api_route, args=[listing.pk])
    tus_url = reverse("vendor-tus", args=[listing.pk]) if name == FILE else ""
    return UploadField(name, label, KINDS[name], action, api_url, error, tus_url)


def slot_field(listing: Listing, slot: int, label: str, error: str) -> UploadField:
    """Return the upload field of a gallery slot."""
    kind = KINDS[PICTURE]
    api_url = f"{reverse(kind.api_route, args=[listing.pk])}?slot={slot}"
    return UploadField(slot_name(slot), label, kind, reverse(kind.route, args=[listing.slug, slot]), api_url, error)


def store_field(kind: StorePictureKind, label: str, error: str) -> UploadField:
    """Return the upload field of a picture of the store."""
    name = kind.value.lower()
    return UploadField(name, label, KINDS[name], reverse(KINDS[name].route), reverse(KINDS[name].api_route), error)

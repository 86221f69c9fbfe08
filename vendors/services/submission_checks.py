"""The automated checks before a submission: each check by name, with its outcome."""

from collections.abc import Mapping
from dataclasses import dataclass

from catalog.models import Listing
from catalog.models.files import PreviewKind
from catalog.pricing import permitted_tiers
from catalog.selectors.reviews import is_blocked
from catalog.selectors.taxonomy import active_tiers

from .. import bounds
from .verifying import StoredState, state_of


@dataclass(frozen=True)
class CheckOutcome:
    """The outcome of one check, with what to do where it failed.

    Args:
        detail: What was found; where it failed, what to do.
        warning: What could be better although it passed, for the vendor and the reviewer; it does not prevent the submission.
    """

    name: str
    passed: bool
    detail: str
    warning: str = ""


def run_checks(listing: Listing, *, read: bool = True) -> list[CheckOutcome]:
    """Run every check. Call it outside of transactions: a stored file that was modified since its upload is read in full, unless `read` is false."""
    # The API names this check; the constraints of the listing's row allow no other prices, so it always passes.
    pricing = CheckOutcome("pricing", passed=True, detail="Base price, discount and regional prices are valid.")
    return [_file_integrity(listing, read=read), check_thumbnail(listing), pricing, _licensing(listing)]


def _file_integrity(listing: Listing, *, read: bool) -> CheckOutcome:
    name = "file_integrity"
    file = listing.candidate_deliverable or listing.approved_deliverable
    if file is None:
        return CheckOutcome(name, passed=False, detail="There is no file yet. Upload what buyers get.")
    if is_blocked(file):
        return CheckOutcome(name, passed=False, detail="The file was marked as malicious. Upload another one.")
    match state_of(file, read=read):
        case StoredState.MISSING:
            return CheckOutcome(name, passed=False, detail="The stored file is missing. Upload it again.")
        case StoredState.DIFFERENT:
            return CheckOutcome(name, passed=False, detail="The stored file is not the one that was uploaded. Upload it again.")
        case None:
            warning = "The stored file was written to since its last check. It is compared with your upload when you submit the listing."
            return CheckOutcome(name, passed=True, detail=f"{file.original_filename} is stored.", warning=warning)
    return CheckOutcome(name, passed=True, detail=f"Size and SHA-256 of {file.original_filename} are as recorded.")


def check_thumbnail(listing: Listing) -> CheckOutcome:
    """Check that the gallery has its first picture, the card's thumbnail."""
    pictures = {preview.slot: preview.details for preview in listing.previews.all() if preview.kind == PreviewKind.GALLERY}
    there = 0 in pictures
    detail = "Gallery slot 0 holds an image." if there else "Upload an image to gallery slot 0: it is the card's thumbnail."
    return CheckOutcome("preview_thumbnail", passed=there, detail=detail, warning=_warning_about_small(pictures))


def _warning_about_small(pictures: Mapping[int, Mapping[str, int]]) -> str:
    """Return a warning about the pictures that are blurred wherever they are shown, an empty string where there are none."""
    sizes = {slot: (details.get("width", 0), details.get("height", 0)) for slot, details in pictures.items()}
    small = [
        f"slot {slot} is {width} by {height} pixels"
        for slot, (width, height) in sizes.items()
        if 0 < max(width, height) < bounds.SHARP_PICTURE_PIXELS
    ]
    if not small:
        return ""
    return f"Gallery {', '.join(small)}. Pictures are sharp from {bounds.SHARP_PICTURE_PIXELS} pixels on the longer side; reviewers may ask for larger ones."


def _licensing(listing: Listing) -> CheckOutcome:
    slugs = [tier.slug for tier in permitted_tiers(listing, active_tiers())]
    detail = f"Permitted: {', '.join(slugs)}." if slugs else "None of the permitted licences is active. Permit another one."
    return CheckOutcome("licensing", passed=bool(slugs), detail=detail)

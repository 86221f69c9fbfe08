"""Versions of approved files, which are unique for a listing."""

from .. import bounds
from ..models import Listing
from ..selectors.listings import approved_versions


def unused_version(listing: Listing) -> str:
    """Return the listing's version, with a numeric suffix if an earlier file has it: `1.0`, then `1.0+2`.

    The caller holds the listing's lock, so that it stays unused until it is saved.
    """
    label = listing.version
    if not label:
        return ""
    taken = set(approved_versions(listing).exclude(version="").values_list("version", flat=True))
    number = 2
    while label in taken:
        suffix = f"+{number}"
        label = listing.version[: bounds.VERSION_CHARS - len(suffix)] + suffix
        number += 1
    return label

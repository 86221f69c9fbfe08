"""Labels of versions: two files of a listing never share one."""

from .. import bounds
from ..models import Listing
from ..selectors.listings import approved_versions


def free_label(listing: Listing) -> str:
    """Return the listing's version, or with a number behind it when an earlier file has it: `1.0`, then `1.0+2`.

    The caller holds the listing's lock, so that it is still free when it is written.
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

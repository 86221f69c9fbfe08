"""Labels: what a listing for sale can be filtered and counted by, besides its category, tier, store and prices."""

import re
from collections.abc import Iterable

from .models import Listing

SEPARATOR = "|"
# Stands for every active licence tier, of which there may be others tomorrow.
ANY_LICENSE = "license:*"
VALUE_CHARS = 200
_LISTED = re.compile(r"[,;/\n]")
_VERSION = re.compile(r"\s+v?\d[\d.]*(?:\+|\.x)?$")


def labels_of(listing: Listing) -> set[str]:
    """Return a listing's labels."""
    slugs = listing.allowed_license_slugs
    labels = {label("tag", tag) for tag in listing.tags}
    labels |= {label("platform", _VERSION.sub("", part.strip())) for part in _LISTED.split(listing.supported_platforms)}
    labels |= {ANY_LICENSE} if slugs is None else {license_label(slug) for slug in slugs}
    labels.add(label("type", listing.file_type))
    return labels - {"platform:", "type:"}


def label(kind: str, text: str) -> str:
    """Return the label of a text, such as `tag:bold`."""
    # Folding may lengthen a text.
    return f"{kind}:{plain(text)[:VALUE_CHARS]}"


def license_label(slug: str) -> str:
    """Return the label of a licence tier; slugs are taken letter by letter."""
    return f"license:{slug}"


def plain(text: str) -> str:
    """Return a text as it is compared: without case and outer or doubled spaces."""
    return " ".join(text.replace(SEPARATOR, " ").split()).casefold()


def written(labels: Iterable[str]) -> str:
    """Return labels as one text, each between separators."""
    return SEPARATOR + "".join(f"{label}{SEPARATOR}" for label in sorted(labels))


def read(text: str) -> set[str]:
    """Return the labels of such a text."""
    return {label for label in text.split(SEPARATOR) if label}


def counted(labels: Iterable[str]) -> set[str]:
    """Return what is counted of a listing: its labels, and the empty one that counts every listing."""
    return {"", *labels}

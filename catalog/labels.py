"""Normalised tags and platforms, by which listings can be filtered."""

import re
import unicodedata

from .models import LabelKind, Listing

VALUE_CHARS = 200
# Also the commas and semicolons of Arabic, Chinese and Japanese.
PLATFORM_SEPARATOR = re.compile(r"[,;/\n\u060c\u061b\u3001\uff0c\uff1b]")
_VERSION = re.compile(r"\s+v?\d[\d.]*(?:\+|\.x)?$")


def labels_of(listing: Listing) -> set[tuple[LabelKind, str]]:
    """Return the tags and platforms of a listing; platforms without a version."""
    platforms = (_VERSION.sub("", part.strip()) for part in PLATFORM_SEPARATOR.split(listing.supported_platforms))
    labels = {(LabelKind.TAG, normalised(tag)) for tag in listing.tags} | {(LabelKind.PLATFORM, normalised(name)) for name in platforms}
    return {(kind, value) for kind, value in labels if value}


def normalised(text: str) -> str:
    """Return a text casefolded, with single inner spaces and no outer ones, cut to `VALUE_CHARS`; the same for all encodings of it (NFKC)."""
    # Both may lengthen a text.
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())[:VALUE_CHARS]

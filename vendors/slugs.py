"""What a slug may be."""

import re

from django.utils.text import slugify

from marketplace.core import bounds
from marketplace.core.ids import looks_like_id

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# They are segments of addresses beside the place where a slug may stand.
RESERVED = frozenset({"search", "suggest", "download"})


def usable(slug: str) -> bool:
    """Tell whether a well-formed slug can stand where an id or a fixed word could."""
    return slug not in RESERVED and not looks_like_id(slug)


def proposed(title: str) -> str:
    """Return the slug that a title suggests, nothing where it has no letter that a slug may hold."""
    return slugify(title).replace("_", "-")[: bounds.SLUG_CHARS].strip("-")

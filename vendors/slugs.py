"""Rules for slugs."""

from django.utils.text import slugify

from marketplace.core import bounds
from marketplace.core.ids import looks_like_id

# Fixed path segments at the position of a slug, so no slug may equal them.
RESERVED = frozenset({"search", "suggest", "download"})


def is_allowed(slug: str) -> bool:
    """Tell whether a well-formed slug can be confused neither with an id nor with a reserved path segment."""
    return slug not in RESERVED and not looks_like_id(slug)


def slug_from(title: str) -> str:
    """Derive a slug from a title; an empty string where the title has no character that a slug may contain."""
    return slugify(title).replace("_", "-")[: bounds.SLUG_CHARS].strip("-")

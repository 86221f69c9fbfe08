"""The catalog's admin: the review queue, listings, files and taxonomy."""

from . import discounts, featured, files, listings, reviews, taxonomy

__all__ = ["discounts", "featured", "files", "listings", "reviews", "taxonomy"]

"""Search over published listings: typo-tolerant, the same on every engine (findings: search-and-serving)."""

from .index import index_listing, remove_listing
from .query import Hit, search

__all__ = ["Hit", "index_listing", "remove_listing", "search"]

"""Search over published listings: typo-tolerant, the same on every engine.

`words` folds text, `documents` and `terms` are what is stored, `index` and `rebuild` write it, `ranks` keeps the tiers; a query
goes through `meaning` (with `vocabulary` and `spelling`), `plan`, `postings` and `ranking`.
"""

from .index import index_listing, remove_listing
from .query import Hit, Suggestion, find, search, suggest

__all__ = ["Hit", "Suggestion", "find", "index_listing", "remove_listing", "search", "suggest"]

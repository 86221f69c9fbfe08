"""Search over published listings: typo-tolerant, the same on every database.

A query goes through `words` (normalisation), `expansion` (with `vocabulary`), `full_text` and `ranking`; `index` and `rebuild` write the
index, `popular` marks the popular listings.
"""

from .query import Results, search, suggest

__all__ = ["Results", "search", "suggest"]

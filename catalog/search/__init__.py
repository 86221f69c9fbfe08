"""Search over published listings: typo-tolerant, the same on every database.

A query goes through `words` (folding), `expansion` (with `vocabulary`), `full_text` and `ranking`; `index` and `rebuild` write what
is read, `popularity` the set of popular listings.
"""

from .query import Results, search, suggest

__all__ = ["Results", "search", "suggest"]

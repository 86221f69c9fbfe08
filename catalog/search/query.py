"""Runs a search: expands the words in memory, runs one SQL statement, and a second, wider one if that finds too little."""

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Model, QuerySet

from marketplace.api.pagination import pack_cursor, unpack_cursor
from marketplace.core.errors import InvalidInput

from .. import bounds
from ..models import Listing
from .expansion import QueryExpansion, query_words
from .full_text import FoundRow, FullTextQuery, all_of, are_all_common, fetch, some_of
from .ranking import Scored, Scorer, rank
from .vocabulary import current_vocabulary

# Below this score, no title or tags contain all words as typed: one of them may be a misspelling that happens to be another word.
CONVINCING_SCORE = 0.6
# With fewer rows than a page has, the query is widened.
ENOUGH_ROWS = bounds.SEARCH_LIMIT
MAX_SUGGESTIONS = 10
MAX_ALTERNATIVES = 5
_SAME_QUERY = "Send the nextCursor of the previous response unchanged, with the same query."


@dataclass(frozen=True)
class Hit:
    """A result; the score is between 0 and 1."""

    id: uuid.UUID
    score: float


@dataclass(frozen=True)
class Results:
    """A page of results, best first."""

    hits: list[Hit]
    # How many listings were ranked: all that match, or the best few hundred.
    total: int
    total_is_exact: bool
    # None on the last page.
    next_cursor: str | None = None
    # If nothing was found, similar words that find something.
    alternatives: Sequence[str] = ()
    # The ids of all ranked listings as text, best first.
    ranked: Sequence[str] = ()


class _Matches(NamedTuple):
    """Subqueries, the rows that they found, and the same rows with their scores, best first."""

    queries: list[FullTextQuery]
    rows: list[FoundRow]
    ranked: list[Scored]

    @property
    def are_exhaustive(self) -> bool:
        """Whether nothing else matches: all listings were searched, and no subquery reached its limit."""
        return all(query.among == "all" and len(self.rows) < query.limit for query in self.queries)


def search(q: str, *, within: QuerySet[Model] | None = None, limit: int, cursor: str | None = None) -> Results:
    """Return the listings on sale that match, best first, those of equal score by popularity; `within` restricts them to those with the primary keys of its rows.

    Raises:
        InvalidInput: the cursor does not belong to this query.
    """
    start, last = _decode(cursor, q) if cursor else (0, "")
    typed = query_words(q)
    if not typed:
        return Results([], 0, total_is_exact=True)
    expansion = QueryExpansion(typed, current_vocabulary())
    found = _find(expansion, within)
    ids = [scored.row.listing_id for scored in found.ranked]
    if last in ids:
        # The catalog may have changed since: continue after the last listing of the previous page, at its current rank.
        start = ids.index(last) + 1
    hits = [Hit(id=uuid.UUID(row.listing_id), score=score) for score, row in found.ranked[start : start + limit]]
    end, total = start + len(hits), len(ids)
    next_cursor = pack_cursor([_digest(q), end, ids[end - 1]]) if hits and end < total else None
    alternatives = () if ids else _alternatives(expansion, within)
    return Results(hits, total, total_is_exact=found.are_exhaustive, next_cursor=next_cursor, alternatives=alternatives, ranked=ids)


def suggest(q: str) -> list[Listing]:
    """Return a few listings, with their category, whose title or tags match the words typed so far; those whose title begins with them come first."""
    typed = query_words(q)
    if not typed:
        return []
    beginning = " ".join(typed)
    found = _find(QueryExpansion(typed, current_vocabulary()), headings_only=True).ranked
    found.sort(key=lambda scored: not scored.row.title.startswith(beginning))
    ids = [uuid.UUID(scored.row.listing_id) for scored in found[:MAX_SUGGESTIONS]]
    listings = Listing.objects.select_related("category").only("slug", "title", "category__slug").in_bulk(ids)
    return [listings[pk] for pk in ids if pk in listings]


def _find(expansion: QueryExpansion, within: QuerySet[Model] | None = None, *, headings_only: bool = False) -> _Matches:
    """Return the matches; if there are few, also those of corrections, synonyms and some of the words."""
    if not expansion.vocabulary.total:
        return _Matches([], [], [])
    expansion.correct(expansion.unknown)
    found = _query_index(expansion, within, headings_only=headings_only)
    # Suggestions need no more than a few results.
    if len(found.rows) >= ENOUGH_ROWS or (headings_only and found.rows):
        return found
    searched_all = all(query.among == "all" for query in found.queries)
    weak = not found.ranked or found.ranked[0].score < CONVINCING_SCORE
    # Many common words are not all misspellings.
    uncorrected = expansion.uncorrected if weak and not (found.rows and are_all_common(expansion.groups(), expansion.vocabulary)) else []
    expansion.correct(uncorrected)
    if expansion.add_synonyms() or uncorrected or not searched_all or (not found.rows and len(expansion.words) > 1):
        return _query_index(
            expansion, within, headings_only=headings_only, search_all=not searched_all, partial=not found.rows, before=found.rows
        )
    return found


def _query_index(
    expansion: QueryExpansion,
    within: QuerySet[Model] | None,
    *,
    headings_only: bool,
    search_all: bool = False,
    partial: bool = False,
    before: Sequence[FoundRow] = (),
) -> _Matches:
    """Query the full-text index for the expansion as it is now, and rank the rows together with those found before."""
    groups, keys, filtered = expansion.groups(), expansion.title_keys(), within is not None
    known = [group for group in groups if group]
    queries: list[FullTextQuery] = []
    if known:
        queries = all_of(known, expansion.vocabulary, filtered=filtered, headings_only=headings_only, search_all=search_all)
    if partial and len(known) > 1:
        queries += some_of(known, expansion.vocabulary, filtered=filtered, headings_only=headings_only)
    rows = list({row.listing_id: row for row in [*fetch(queries, keys, within), *before]}.values())
    return _Matches(queries, rows, rank(Scorer(expansion.typed, groups, keys[0]), rows))


def _alternatives(expansion: QueryExpansion, within: QuerySet[Model] | None) -> list[str]:
    """Return words that are similar to those of the query and find something."""
    words = expansion.alternatives(MAX_ALTERNATIVES)
    rows = fetch([FullTextQuery(((word,),), headings_only=True, among="all", limit=1) for word in words], (), within)
    found = {term for row in rows for term in (*row.title.split(), *row.tags.split())}
    return [word for word in words if word in found]


def _decode(cursor: str, q: str) -> tuple[int, str]:
    match unpack_cursor(cursor):
        case [str(digest), int(start), str(last)] if digest == _digest(q) and start >= 0:
            return start, last
        case _:
            raise InvalidInput(errors=[{"pointer": "?cursor", "code": "invalid_cursor", "detail": _SAME_QUERY}])


def _digest(q: str) -> str:
    return hashlib.blake2b(q.encode(), digest_size=6).hexdigest()

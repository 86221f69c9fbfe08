"""Answers a query: its words are expanded in memory, one statement finds what has them, a second one more where that was too little."""

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
from .expansion import QueryExpansion, words_typed
from .full_text import LookUp, Row, all_of, are_everywhere, fetch, some_of
from .ranking import Scored, Scorer, rank
from .vocabulary import current_vocabulary

# Below, no title or tags hold every word as it was typed: where little was found, one may be a misspelling that is itself a word.
CONVINCING = 0.6
# Less than a page is little.
ENOUGH = bounds.SEARCH_LIMIT
SUGGESTIONS = 10
ALTERNATIVES = 5
_SAME_QUERY = "Send the nextCursor of the previous response unchanged, with the same query."


@dataclass(frozen=True)
class Hit:
    """One result; the score is between 0 and 1."""

    id: uuid.UUID
    score: float


@dataclass(frozen=True)
class Results:
    """A page of results.

    Attributes:
        hits: The best first.
        total: How many listings were ranked: all that match, or the best few hundred.
        total_is_exact: Whether nothing else matches.
        next_cursor: Where the next page begins; None on the last one.
        suggestions: Where nothing was found, words like those of the query that find something.
        ranked: The ids of all listings that were ranked, the best first, as texts.
    """

    hits: list[Hit]
    total: int
    total_is_exact: bool
    next_cursor: str | None = None
    suggestions: Sequence[str] = ()
    ranked: Sequence[str] = ()


@dataclass(frozen=True)
class Suggestion:
    """A listing that the words typed so far may be about."""

    id: uuid.UUID
    slug: str
    title: str
    category: str


class _Found(NamedTuple):
    """What was looked for, what was found, and that in its order, the best first."""

    look_ups: list[LookUp]
    rows: list[Row]
    ranked: list[Scored]

    @property
    def are_all(self) -> bool:
        """Whether nothing else matches: all listings were looked at, and no look-up gave as much as it may."""
        return all(not ask.popular and len(self.rows) < ask.limit for ask in self.look_ups)


def search(q: str, *, within: QuerySet[Model] | None = None, limit: int, cursor: str | None = None) -> Results:
    """Return the listings for sale that match best, best first; equally good ones by popularity.

    Args:
        q: What was typed, as it is.
        within: A queryset whose keys are ids of listings: only these are looked at. None for all that is for sale.
        limit: The most hits to return.
        cursor: `next_cursor` of the page before.

    Raises:
        InvalidInput: the cursor is not one of this query.
    """
    start, last = _decode(cursor, q) if cursor else (0, "")
    typed = words_typed(q)
    if not typed:
        return Results([], 0, total_is_exact=True)
    expansion = QueryExpansion(typed, current_vocabulary())
    found = _find(expansion, within)
    ids = [row.listing_id for _, row in found.ranked]
    if last in ids:
        # The catalog may have changed since: go on after the listing that was the last one, wherever it stands now.
        start = ids.index(last) + 1
    hits = [Hit(id=uuid.UUID(row.listing_id), score=score) for score, row in found.ranked[start : start + limit]]
    end, total = start + len(hits), len(ids)
    following = pack_cursor([_digest(q), end, ids[end - 1]]) if hits and end < total else None
    suggestions = () if ids else _alternatives(expansion, within)
    return Results(hits, total, found.are_all, following, suggestions, ids)


def suggest(q: str) -> list[Suggestion]:
    """Return a few listings whose title or tags have the words typed so far: first those whose title begins with them."""
    typed = words_typed(q)
    if not typed:
        return []
    begun = " ".join(typed)
    found = _find(QueryExpansion(typed, current_vocabulary()), headings_only=True).ranked
    found.sort(key=lambda pair: not pair[1].title.startswith(begun))
    ids = [uuid.UUID(row.listing_id) for _, row in found[:SUGGESTIONS]]
    rows = Listing.objects.filter(pk__in=ids).values_list("pk", "slug", "title", "category__slug") if ids else []
    listings = {pk: Suggestion(pk, slug, title, category) for pk, slug, title, category in rows}
    return [listings[pk] for pk in ids if pk in listings]


def _find(expansion: QueryExpansion, within: QuerySet[Model] | None = None, *, headings_only: bool = False) -> _Found:
    """Return what matches; where that is little, also other spellings, synonyms, listings with some of the words."""
    if not expansion.vocabulary.total:
        return _Found([], [], [])
    expansion.correct(expansion.unknown)
    found = _look(expansion, within, headings_only=headings_only)
    # While someone types, something is enough.
    if len(found.rows) >= ENOUGH or (headings_only and found.rows):
        return found
    cut = any(ask.popular for ask in found.look_ups)
    weak = not found.ranked or found.ranked[0][0] < CONVINCING
    # Nobody misspelt many words and hit upon a word that is everywhere each time.
    doubtful = expansion.doubtful if weak and not (found.rows and are_everywhere(expansion.groups(), expansion.vocabulary)) else []
    expansion.correct(doubtful)
    if expansion.add_synonyms() or doubtful or cut or (not found.rows and len(expansion.words) > 1):
        return _look(expansion, within, headings_only=headings_only, complete=cut, partial=not found.rows, before=found.rows)
    return found


def _look(
    expansion: QueryExpansion,
    within: QuerySet[Model] | None,
    *,
    headings_only: bool,
    complete: bool = False,
    partial: bool = False,
    before: Sequence[Row] = (),
) -> _Found:
    """Ask the full-text index for what the query means by now, and rank what it gives together with what it gave before."""
    groups, keys, filtered = expansion.groups(), expansion.title_keys(), within is not None
    known = [group for group in groups if group]
    look_ups: list[LookUp] = []
    if known:
        look_ups = all_of(known, expansion.vocabulary, filtered=filtered, headings_only=headings_only, complete=complete)
    if partial and len(known) > 1:
        look_ups += some_of(known, expansion.vocabulary, filtered=filtered, headings_only=headings_only)
    rows = list({row.listing_id: row for row in [*fetch(look_ups, keys, within), *before]}.values())
    return _Found(look_ups, rows, rank(Scorer(expansion.typed, groups, keys[0]), rows))


def _alternatives(expansion: QueryExpansion, within: QuerySet[Model] | None) -> list[str]:
    """Return words that look like those of the query and find something."""
    words = expansion.alternatives(ALTERNATIVES)
    rows = fetch([LookUp(((word,),), heading=True, popular=False, limit=1) for word in words], (), within)
    there = {found for row in rows for found in (*row.title.split(), *row.tags.split())}
    return [word for word in words if word in there]


def _decode(cursor: str, q: str) -> tuple[int, str]:
    match unpack_cursor(cursor):
        case [str(digest), int(start), str(last)] if digest == _digest(q) and start >= 0:
            return start, last
        case _:
            raise InvalidInput(errors=[{"pointer": "?cursor", "code": "invalid_cursor", "detail": _SAME_QUERY}])


def _digest(q: str) -> str:
    return hashlib.blake2b(q.encode(), digest_size=6).hexdigest()

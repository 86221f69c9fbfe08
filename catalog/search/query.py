"""Answers a query, in four statements at most: its words, their corrections, what holds them, and once more when that was too little."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..filters import Listings
from .meaning import Meaning, words_typed
from .plan import LookUp, Planner
from .postings import Row, fetch
from .ranking import Scored, Scorer, rank

# Below, no title or tags hold every word as it was typed: where little was found, one may be a misspelling that is itself a word.
CONVINCING = 0.6
SUGGESTIONS = 10


@dataclass(frozen=True)
class Hit:
    """One result; the score is between 0 and 1."""

    id: uuid.UUID
    title: str
    score: float


class Hits(NamedTuple):
    """Results, best first, and whether nothing else matches."""

    best: list[Hit]
    are_all: bool


class _Found(NamedTuple):
    """Documents, best first, and whether no others match."""

    ranked: list[Scored]
    are_all: bool


@dataclass(frozen=True)
class Suggestion:
    """A listing that the words typed so far may be about."""

    id: uuid.UUID
    slug: str
    title: str
    category: str


def search(q: str, limit: int, within: Listings | None = None, *, once: bool = False) -> list[Hit]:
    """Return the listings for sale that match best, best first; equally good ones by popularity.

    Args:
        q: What was typed, as it is.
        limit: The most hits to return.
        within: Only what filters keep; None for all that is for sale.
        once: Whether the first look is enough, however little it finds.
    """
    return find(q, limit, within, once=once).best


def find(q: str, limit: int, within: Listings | None = None, *, once: bool = False) -> Hits:
    """Return what `search` does, and whether nothing else matches."""
    ranked, are_all = _find(q, limit, within=within, once=once)
    return Hits([Hit(id=_uuid(row), title=row.name, score=score) for score, row in ranked[:limit]], are_all and len(ranked) <= limit)


def suggest(q: str) -> list[Suggestion]:
    """Return a few listings whose title or tags have the words typed so far: first those whose title begins with them."""
    begun = " ".join(words_typed(q))
    found = _find(q, SUGGESTIONS, headings_only=True).ranked
    found.sort(key=lambda pair: not pair[1].title.startswith(begun))
    return [Suggestion(id=_uuid(row), slug=row.slug, title=row.name, category=row.category) for _, row in found[:SUGGESTIONS]]


def _find(q: str, limit: int, *, within: Listings | None = None, headings_only: bool = False, once: bool = False) -> _Found:
    typed = words_typed(q)
    if not typed:
        return _Found([], are_all=True)
    meaning = Meaning(typed)
    if not meaning.vocabulary.total:
        return _Found([], are_all=True)
    if unknown := [i for i in meaning.unknown if i in meaning.doubtful]:
        meaning.correct(unknown)
    planner = Planner(meaning, limit, filtered=within is not None, headings_only=headings_only)
    look_ups = planner.first()
    rows = fetch(look_ups, meaning.titles(), within)
    ranked = _ranked(meaning, rows)
    cut = len(rows) < limit and any(ask.tier < ask.tier.REST for ask in look_ups)
    weak = not ranked or (len(rows) < limit and ranked[0][0] < CONVINCING)
    doubtful = meaning.doubtful if weak and not (rows and planner.is_of_words_everywhere) else []
    # While someone types, something is enough.
    if not (once or (headings_only and rows)) and (cut or doubtful or (not rows and len(meaning.words) > 1)):
        if doubtful:
            meaning.correct(doubtful)
        look_ups = planner.further(complete=cut, partial=not rows)
        rows = list({row.listing_id: row for row in [*fetch(look_ups, meaning.titles(), within), *rows]}.values())
        ranked = _ranked(meaning, rows)
    return _Found(ranked, _are_all(rows, look_ups))


def _are_all(rows: Sequence[Row], look_ups: Sequence[LookUp]) -> bool:
    """Tell whether nothing else has what was looked for: no tier was left out, and no look-up gave as much as it may."""
    return all(ask.tier == ask.tier.REST and len(rows) < ask.limit for ask in look_ups)


def _ranked(meaning: Meaning, rows: list[Row]) -> list[Scored]:
    """Return the rows best first."""
    return rank(Scorer(meaning.typed, meaning.asked(), meaning.titles()[0]), rows)


def _uuid(row: Row) -> uuid.UUID:
    return row.listing_id if isinstance(row.listing_id, uuid.UUID) else uuid.UUID(row.listing_id)

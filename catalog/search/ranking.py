"""Ranks rows by how well they match each word and in which column, then by popularity, then the newest first; new listings get some places.

The score of a document is the mean of its best matches for the words of the query: the weight of the column
times the weight of the matching word. A tenth of the score is the share of the title that the query covers, so that
`Inter` comes before `Inter for Presentations`; the last hundredth is for a title equal to the query.
"""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from .documents import SEPARATOR
from .expansion import SYNONYM, Group
from .full_text import FoundRow
from .words import pieces, singular

# Weights of the columns.
TITLE, TAGS, SUMMARY, BODY = 1.0, 0.7, 0.45, 0.25
_COLUMNS = tuple(
    (weight, FoundRow._fields.index(name)) for name, weight in (("title", TITLE), ("tags", TAGS), ("summary", SUMMARY), ("body", BODY))
)
# The parts of a score that are for the covered share of the title, and for a title equal to the query.
WHOLE_TITLE, EXACT_TITLE = 0.1, 0.01
# The least mean for a title that differs from the query in spaces only.
SAME_LETTERS = 0.9
# One in so many results of equal score is a new listing: a listing that nobody sees cannot become popular.
NEW_LISTING_PLACE = 5


class Scored(NamedTuple):
    """A row with its score."""

    score: float
    row: FoundRow


class _CoveredWords(dict[str, bool]):
    """Whether the query covers a word of a title, in any form; a cache, since titles share words."""

    def __init__(self, terms: set[str]) -> None:
        super().__init__(dict.fromkeys(terms, True))
        self._terms = terms

    def __missing__(self, word: str) -> bool:
        # Only words in other scripts have several pieces.
        found = self[word] = singular(word) in self._terms or not (word.isascii() or self._terms.isdisjoint(pieces(word)))
        return found


class Scorer:
    """Scores documents for a query."""

    def __init__(self, typed: Sequence[str], groups: Sequence[Group], key: int) -> None:
        self._typed = " ".join(typed)
        self._key = key
        # Synonyms match, but the query does not cover them.
        terms = {term for group in groups for term, weight in group.items() if weight != SYNONYM}
        # Words with their spaces, in descending order of weight, so that the first match is the best.
        self._groups = [sorted(((f" {term} ", weight) for term, weight in group.items()), key=_descending) for group in groups]
        self._covered = _CoveredWords(terms)

    def score(self, row: FoundRow) -> tuple[float, bool]:
        """Return the score of a document, between 0 and 1, and whether it matches every word."""
        title = row.title.partition(f" {SEPARATOR}")[0]
        matches = [_best_match(group, row) for group in self._groups]
        mean = sum(matches) / max(len(matches), 1)
        if row.title_key == self._key:
            mean, share = max(mean, SAME_LETTERS), 1.0
        else:
            words = title.split()
            share = sum(map(self._covered.__getitem__, words)) / max(len(words), 1)
        exact = EXACT_TITLE if title == self._typed else 0.0
        return round((1 - WHOLE_TITLE - EXACT_TITLE) * mean + WHOLE_TITLE * mean * share + exact, 4), all(matches)


def rank(scorer: Scorer, rows: Sequence[FoundRow]) -> list[Scored]:
    """Return the rows with their scores, best first; partial matches only if there is no full match."""
    scores = [(*scorer.score(row), row) for row in rows]
    all_partial = not any(is_full for _, is_full, _ in scores)
    ranked = [Scored(score, row) for score, is_full, row in scores if is_full or all_partial]
    # Sorts are stable: the last one has precedence.
    ranked.sort(key=lambda scored: scored.row.listing_id)
    ranked.sort(key=lambda scored: (scored.row.popularity, scored.row.published_at), reverse=True)
    ranked.sort(key=attrgetter("score"), reverse=True)
    return _with_new_listings(ranked)


def _with_new_listings(ranked: list[Scored]) -> list[Scored]:
    """Return the results with a new listing at every fifth place among equal scores."""
    found: list[Scored] = []
    for _, group in groupby(ranked, key=attrgetter("score")):
        equals = list(group)
        found += _interleaved(equals) if len(equals) >= NEW_LISTING_PLACE else equals
    return found


def _interleaved(equals: list[Scored]) -> list[Scored]:
    new = [scored for scored in equals if scored.row.is_new]
    others = [scored for scored in equals if not scored.row.is_new]
    if not new or not others:
        return equals
    mixed: list[Scored] = []
    for scored in others:
        mixed.append(scored)
        if new and len(mixed) % NEW_LISTING_PLACE == NEW_LISTING_PLACE - 1:
            mixed.append(new.pop(0))
    return mixed + new


def _best_match(group: Sequence[tuple[str, float]], row: FoundRow) -> float:
    """Return the best match of a group in a document: the weight of the column times that of the word."""
    best = 0.0
    for column_weight, column in _COLUMNS:
        if not group or column_weight * group[0][1] <= best:
            break
        text = f" {row[column]} "
        for word, weight in group:
            if column_weight * weight <= best:
                break
            if word in text:
                best = column_weight * weight
                break
    return best


def _descending(pair: tuple[str, float]) -> tuple[float, str]:
    return -pair[1], pair[0]

"""Ranks what was found: by how well each word is met and where, then by popularity, with a place for newcomers.

The score of a document is the mean over the words of the query of the best that it has for each: the weight of the column
times how well its word stands for the one that was typed. A tenth of it is how much of the title was asked for, so that
`Inter` comes before `Inter for Presentations`; the last hundredth is kept for the title that was typed letter by letter.
"""

from collections.abc import Sequence

from .documents import SEPARATOR
from .expansion import SYNONYM, Group
from .full_text import Row
from .words import pieces, singular

# Fields in the order of their weight.
TITLE, TAGS, SUMMARY, BODY = 1.0, 0.7, 0.45, 0.25
_COLUMNS = tuple(
    (weight, Row._fields.index(name)) for name, weight in (("title", TITLE), ("tags", TAGS), ("summary", SUMMARY), ("body", BODY))
)
WHOLE_TITLE, EXACT_TITLE = 0.1, 0.01
# A title whose letters were typed, with other spaces: no worse than this, whatever its words look like.
SAME_LETTERS = 0.9
# Among equals, one place in so many is a newcomer's: nothing becomes popular that is never seen.
NEWCOMER_PLACE = 5

Scored = tuple[float, Row]


class _Asked(dict[str, bool]):
    """Whether words of titles were asked for, in any form. Titles share their words: each is judged once."""

    def __init__(self, terms: set[str]) -> None:
        super().__init__(dict.fromkeys(terms, True))
        self._terms = terms

    def __missing__(self, word: str) -> bool:
        # A word of plain letters is its only piece.
        found = self[word] = singular(word) in self._terms or not (word.isascii() or self._terms.isdisjoint(pieces(word)))
        return found


class Scorer:
    """Scores documents against one query."""

    def __init__(self, typed: Sequence[str], groups: Sequence[Group], key: int) -> None:
        self._typed = " ".join(typed)
        self._key = key
        # A synonym stands for a word, but is not what was asked for.
        terms = {term for group in groups for term, weight in group.items() if weight != SYNONYM}
        # Words as they stand between spaces; the best first, so that the first that is met decides.
        self._groups = [sorted(((f" {term} ", quality) for term, quality in group.items()), key=_descending) for group in groups]
        self._asked = _Asked(terms)

    def judge(self, row: Row) -> tuple[float, bool]:
        """Return how well a document answers, between 0 and 1, and whether it has something for every word."""
        title = row.title.partition(f" {SEPARATOR}")[0]
        met = [_met(group, row) for group in self._groups]
        mean = sum(met) / max(len(met), 1)
        if row.title_key == self._key:
            mean, share = max(mean, SAME_LETTERS), 1.0
        else:
            words = title.split()
            share = sum(map(self._asked.__getitem__, words)) / max(len(words), 1)
        exact = EXACT_TITLE if title == self._typed else 0.0
        return round((1 - WHOLE_TITLE - EXACT_TITLE) * mean + WHOLE_TITLE * mean * share + exact, 4), all(met)


def rank(scorer: Scorer, rows: Sequence[Row]) -> list[Scored]:
    """Return the rows with their scores, best first; those that have some of the words only where none has all."""
    judged = [(*scorer.judge(row), row) for row in rows]
    some = not any(complete for _, complete, _ in judged)
    scored = [(score, row) for score, complete, row in judged if complete or some]
    # Sorts keep the order of equals: the last one counts first.
    scored.sort(key=lambda pair: pair[1].listing_id)
    scored.sort(key=lambda pair: (pair[1].popularity, pair[1].published_at), reverse=True)
    scored.sort(key=lambda pair: pair[0], reverse=True)
    return _with_newcomers(scored)


def _with_newcomers(scored: list[Scored]) -> list[Scored]:
    """Return the same, with every fifth place among equals given to one that was published since the last ranking."""
    found: list[Scored] = []
    start = 0
    while start < len(scored):
        end = start
        while end < len(scored) and scored[end][0] == scored[start][0]:
            end += 1
        equals = scored[start:end]
        if len(equals) >= NEWCOMER_PLACE:
            equals = _mixed(equals)
        found += equals
        start = end
    return found


def _mixed(equals: list[Scored]) -> list[Scored]:
    newcomers = [pair for pair in equals if pair[1].is_new]
    others = [pair for pair in equals if not pair[1].is_new]
    if not newcomers or not others:
        return equals
    mixed: list[Scored] = []
    for pair in others:
        mixed.append(pair)
        if newcomers and len(mixed) % NEWCOMER_PLACE == NEWCOMER_PLACE - 1:
            mixed.append(newcomers.pop(0))
    return mixed + newcomers


def _met(group: Sequence[tuple[str, float]], row: Row) -> float:
    """Return the weight of the best that a document has for a word: the column's, times how well its own word stands for it."""
    best = 0.0
    for weight, column in _COLUMNS:
        if not group or weight * group[0][1] <= best:
            break
        text = f" {row[column]} "
        for word, quality in group:
            if weight * quality <= best:
                break
            if word in text:
                best = weight * quality
                break
    return best


def _descending(pair: tuple[str, float]) -> tuple[float, str]:
    return -pair[1], pair[0]

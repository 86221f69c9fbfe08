"""Reads the vocabulary: which words exist, what a beginning may become, what a misspelt word may have meant.

Each is one statement that reads index entries only, however common the words and however long the query.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from .documents import EVERYWHERE
from .spelling import deletes

# Words that may complete the one being typed: the most frequent that begin so.
COMPLETIONS = 30
# Beginnings up to this length have an index of their own; longer ones are few enough to be read.
INDEXED_BEGINNING = 3
# Words that share a form with misspelt ones: hundreds in a large catalog. Never more than these are compared, the oldest: words
# that were made up to be in the way come last.
NEIGHBOURS = 1000
LAST_CHARACTER = "\U0010ffff"

_KNOWN = "SELECT term, documents, headings FROM catalog_searchterm WHERE term IN ({places})"
_COMPLETED = "SELECT * FROM (SELECT term, documents, headings FROM catalog_searchterm WHERE {begins} ORDER BY documents DESC, term LIMIT {most}) AS begun"
# Words are read one by one through their key: a planner that joins may prefer to read the whole vocabulary.
_NEAR = (
    "SELECT (SELECT term || ' ' || documents || ' ' || headings FROM catalog_searchterm WHERE id = near.term_id) FROM "
    "(SELECT DISTINCT term_id FROM catalog_searchdelete WHERE digest IN ({places}) ORDER BY term_id LIMIT {most}) AS near"
)


@dataclass
class Vocabulary:
    """Words that exist, with the number of documents that have them, anywhere and in title or tags."""

    documents: dict[str, int] = field(default_factory=dict)
    headings: dict[str, int] = field(default_factory=dict)

    def __contains__(self, term: str) -> bool:
        return term in self.documents

    @property
    def total(self) -> int:
        """The number of documents."""
        return self.documents.get(EVERYWHERE, 0)

    def add(self, rows: Iterable[tuple[str, int, int]]) -> list[str]:
        """Take in rows of the vocabulary and return their words."""
        terms = []
        for term, documents, headings in rows:
            terms.append(term)
            self.documents[term], self.headings[term] = documents, headings
        return terms


def known(words: Collection[str], beginning: str | None) -> Vocabulary:
    """Return those of the words that exist, and the most frequent words that begin like the last one of a query.

    Args:
        words: What is looked up, letter by letter.
        beginning: What the completions begin with; None for none.
    """
    wanted = sorted({EVERYWHERE, *words})
    sql, params = _KNOWN.format(places=_places(wanted)), [*wanted]
    if beginning:
        if len(beginning) <= INDEXED_BEGINNING:
            begins, ends = f"substr(term, 1, {len(beginning)}) = %s", [beginning]
        else:
            begins, ends = "term >= %s AND term < %s", [beginning, beginning + LAST_CHARACTER]
        sql += " UNION ALL " + _COMPLETED.format(begins=begins, most=COMPLETIONS)
        params += ends
    vocabulary = Vocabulary()
    vocabulary.add(_rows(sql, params))
    return vocabulary


def neighbours(words: Iterable[str], vocabulary: Vocabulary) -> list[str]:
    """Add to the vocabulary the words that share a form with these, and return them; most of them are near to one of these."""
    digests = sorted(set().union(*map(deletes, words)))
    if not digests:
        return []
    rows = (str(row[0]).split(" ") for row in _rows(_NEAR.format(places=_places(digests), most=NEIGHBOURS), digests) if row[0])
    return vocabulary.add((term, int(documents), int(headings)) for term, documents, headings in rows)


def _places(values: Collection[object]) -> str:
    return ", ".join(["%s"] * len(values))


def _rows(sql: str, params: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        rows: list[Any] = cursor.fetchall()
        return rows

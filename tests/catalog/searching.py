"""Searches that return the titles of the results."""

from typing import NamedTuple

from catalog.search import search
from catalog.selectors.browse import rows_of


class TitledHit(NamedTuple):
    """A hit with its title."""

    title: str
    score: float


def titled(q: str, limit: int = 10) -> list[TitledHit]:
    """Return the titles of the best hits with their scores."""
    hits = search(q, limit=limit).hits
    rows = rows_of([hit.id for hit in hits])
    return [TitledHit(rows[hit.id]["title"], hit.score) for hit in hits]


def titles(q: str, limit: int = 10) -> list[str]:
    """Return the titles of the best hits."""
    return [hit.title for hit in titled(q, limit)]

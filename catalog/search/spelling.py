"""How many typos may lie between two words, and which words of a list are so near.

A typo is a letter left out, added or replaced, or two neighbours swapped (optimal string alignment).
"""

from collections.abc import Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

from .words import is_unspaced

MAX_DISTANCE = 2
# One typo from 4 letters, two from 8, counted in what was meant or in what was typed: a word of 8
# letters that lost two of them was misspelt twice, and still has only 6.
ONE_TYPO = 4
TWO_TYPOS = 8


def allowed_distance(a: int, b: int) -> int:
    """Return how many typos may lie between words of these lengths."""
    longest = max(a, b)
    if longest < ONE_TYPO:
        return 0
    return 1 if longest < TWO_TYPOS else MAX_DISTANCE


def correctable(word: str) -> bool:
    """Tell whether a word can be a misspelling or what one meant."""
    return len(word) >= ONE_TYPO - 1 and not is_unspaced(word)


def near(word: str, terms: Sequence[str], typos: int) -> list[tuple[str, int]]:
    """Return those of the terms that differ from the word by at most so many typos, with how many these are."""
    found = process.extract(word, terms, scorer=OSA.distance, score_cutoff=typos, limit=None)
    return [(term, distance) for term, distance, _ in found]

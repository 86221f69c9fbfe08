"""Misspellings: which words to look up for one that is not known, and how far two words are apart.

The look-up is SymSpell's (symmetric deletes): two words within two typos of each other share a form with at most two letters
left out of each, so the forms of every word are stored as numbers and a misspelt word is found by its own forms, in one index
scan. What shares a form is near or seems so; the distance (optimal string alignment: a letter left out, added, replaced, or
two neighbours swapped) decides.
"""

import hashlib
from itertools import combinations

from rapidfuzz.distance import OSA

from .words import is_unspaced

MAX_DISTANCE = 2
# Letters beyond these are compared, not looked up.
PREFIX = 7
# One typo from 4 letters, two from 8 (decisions.md section 4), counted in what was meant or in what was typed: a word of 8
# letters that lost two of them was misspelt twice, and still has only 6.
ONE_TYPO = 4
TWO_TYPOS = 8


def allowed_distance(a: str, b: str) -> int:
    """Return how many typos may lie between two words."""
    longest = max(len(a), len(b))
    if longest < ONE_TYPO:
        return 0
    return 1 if longest < TWO_TYPOS else MAX_DISTANCE


def correctable(word: str) -> bool:
    """Tell whether a word can be a misspelling or what one meant."""
    return len(word) >= ONE_TYPO - 1 and not is_unspaced(word)


def deletes(word: str) -> set[int]:
    """Return the numbers of a word's beginning with letters left out, as many as a word of this length may need."""
    prefix = word[:PREFIX]
    variants = {prefix}
    # A partner that allows two typos has 8 letters: this one has at least 6, or allows only one.
    reach = MAX_DISTANCE if len(word) >= TWO_TYPOS - MAX_DISTANCE else 1
    for left_out in range(1, min(reach, len(prefix) - 1) + 1):
        variants.update(map("".join, combinations(prefix, len(prefix) - left_out)))
    return {number(variant) for variant in variants}


def number(text: str) -> int:
    """Return 63 bits of a hash: shorter to store than the text, and alike on every engine. A collision costs a comparison."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> 1


def distance(word: str, term: str) -> int | None:
    """Return how many typos lie between two words, None when they are more than allowed."""
    allowed = allowed_distance(word, term)
    typos: int = OSA.distance(word, term, score_cutoff=allowed)
    return typos if typos <= allowed else None


def prefix_distance(word: str, term: str) -> int | None:
    """Return how many typos lie between a word that is still being typed and the beginning of a longer one."""
    if len(word) < ONE_TYPO or len(term) <= len(word) + 1:
        return None
    near = [found for size in (len(word) - 1, len(word), len(word) + 1) if (found := distance(word, term[:size])) is not None]
    return min(near, default=None)

"""Misspellings: which words to look up for one that is not known, and how far two words are apart.

The look-up is SymSpell's (symmetric deletes): two words within two typos of each other share a form with at most two letters
left out of each, so the forms of every word are stored as numbers and a misspelt word is found by its own forms, in one index
scan. What shares a form is near or seems so; the distance (optimal string alignment: a letter left out, added, replaced, or
two neighbours swapped) decides.
"""

import hashlib
from collections.abc import Sequence
from itertools import combinations

from rapidfuzz import process
from rapidfuzz.distance import OSA

from .words import is_unspaced

MAX_DISTANCE = 2
# Letters beyond these are compared, not looked up.
PREFIX = 7
# One typo from 4 letters, two from 8, counted in what was meant or in what was typed: a word of 8
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


def near(word: str, terms: Sequence[str]) -> list[tuple[str, int]]:
    """Return those of the terms that are the word but for as many typos as are allowed, with how many these are."""
    found = process.extract(word, terms, scorer=OSA.distance, score_cutoff=MAX_DISTANCE, limit=None)
    return [(term, typos) for term, typos, _ in found if 0 < typos <= allowed_distance(word, term)]


def near_beginning(word: str, terms: Sequence[str]) -> list[tuple[str, int]]:
    """Return those of the terms that begin like a word that is still being typed but for a few typos, with how many these are."""
    if len(word) <= ONE_TYPO:
        return []
    longer = [term for term in terms if len(term) > len(word) + 1]
    found: dict[str, int] = {}
    for size in (len(word), len(word) - 1, len(word) + 1):
        begun = process.extract(word, [term[:size] for term in longer], scorer=OSA.distance, score_cutoff=MAX_DISTANCE, limit=None)
        for beginning, typos, place in begun:
            if typos <= allowed_distance(word, beginning):
                found[longer[place]] = min(typos, found.get(longer[place], typos))
    return [(term, max(typos, 1)) for term, typos in found.items()]

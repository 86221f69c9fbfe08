"""Misspellings: which words to look up for one that is not known, and how far two words are apart."""

import hashlib
from itertools import combinations

from .words import is_unspaced

MAX_DISTANCE = 2
# Letters beyond these are compared, not looked up.
PREFIX = 7
# One typo from 4 letters, two from 8 (decisions.md section 4).
ONE_TYPO = 4
TWO_TYPOS = 8


def allowed_distance(word: str) -> int:
    """Return how many typos a word of this length may have."""
    if is_unspaced(word) or len(word) < ONE_TYPO:
        return 0
    return 1 if len(word) < TWO_TYPOS else MAX_DISTANCE


def correctable(term: str) -> bool:
    """Tell whether a word of the vocabulary can be what a misspelt one meant."""
    return len(term) >= ONE_TYPO - 1 and not is_unspaced(term)


def deletes(word: str, distance: int = MAX_DISTANCE) -> set[int]:
    """Return the numbers of a word's prefix with up to `distance` letters left out."""
    prefix = word[:PREFIX]
    variants = {prefix}
    for left_out in range(1, min(distance, len(prefix) - 1) + 1):
        variants.update("".join(kept) for kept in combinations(prefix, len(prefix) - left_out))
    return {_number(variant) for variant in variants}


def _number(text: str) -> int:
    """Return 63 bits of a hash: shorter to store than the text, and alike on every engine. A collision costs a comparison."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> 1


def osa_distance(a: str, b: str, maximum: int) -> int:
    """Return the optimal string alignment distance (swapped neighbours count one), or `maximum` + 1 when it is more."""
    if abs(len(a) - len(b)) > maximum:
        return maximum + 1
    before: list[int] = []
    previous = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        current = [i]
        for j, right in enumerate(b, 1):
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        if min(current) > maximum and min(previous) > maximum:
            return maximum + 1
        before, previous = previous, current
    return min(previous[-1], maximum + 1)

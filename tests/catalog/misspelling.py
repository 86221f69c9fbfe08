"""Misspellings of known titles, the same for the same seed, with which tests and benchmarks measure the quality of search.

Every case is one that decisions allow for: one typo in a word of four letters or more, two in a word of eight or more, one in each
of two words, and titles with a space too few or too many.
"""

import random
import string
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

# Of five hundred: how many of each kind.
MIX = {
    "left out": 50,
    "added": 50,
    "replaced": 50,
    "swapped": 50,
    "first letter": 50,
    "two in a word": 100,
    "one in each of two words": 75,
    "joined": 40,
    "split": 35,
}
ONE_TYPO_CHARS, TWO_TYPOS_CHARS = 4, 8


class Misspelt(NamedTuple):
    """What was typed, for which title, and what is wrong with it."""

    query: str
    title: str
    kind: str


def misspell(titles: Iterable[str], seed: int, mix: dict[str, int] | None = None) -> list[Misspelt]:
    """Return misspelt titles in the given mix; each title is used once."""
    dice = random.Random(seed)
    pool = sorted({title for title in titles if title.isascii()})
    dice.shuffle(pool)
    found: list[Misspelt] = []
    for kind, count in (mix or MIX).items():
        wanted = len(found) + count
        while len(found) < wanted:
            title = pool.pop()
            words = title.split()
            if _KINDS[kind](dice, words):
                found.append(Misspelt(" ".join(words), title, kind))
    return found


def _left_out(dice: random.Random, word: str) -> str:
    at = dice.randrange(1, len(word))
    return word[:at] + word[at + 1 :]


def _added(dice: random.Random, word: str) -> str:
    at = dice.randrange(1, len(word) + 1)
    return word[:at] + dice.choice(string.ascii_lowercase) + word[at:]


def _replaced(dice: random.Random, word: str) -> str:
    at = dice.randrange(1, len(word))
    return word[:at] + dice.choice(string.ascii_lowercase.replace(word[at].lower(), "")) + word[at + 1 :]


def _swapped(dice: random.Random, word: str) -> str:
    places = [at for at in range(1, len(word) - 1) if word[at] != word[at + 1]]
    if not places:
        return word
    at = dice.choice(places)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _first_letter(dice: random.Random, word: str) -> str:
    wrong = dice.choice(string.ascii_lowercase.replace(word[0].lower(), ""))
    return dice.choice([word[1:], wrong + word[1:], word[1] + word[0] + word[2:]])


def _any(dice: random.Random, word: str) -> str:
    return dice.choice([_left_out, _added, _replaced, _swapped])(dice, word)


def _twice(dice: random.Random, word: str) -> str:
    return _any(dice, _any(dice, word))


def _in_words(change: Callable[[random.Random, str], str], shortest: int, count: int = 1) -> Callable[[random.Random, list[str]], bool]:
    """Return what changes so many of a title's long enough words, and tells whether it could."""

    def apply(dice: random.Random, words: list[str]) -> bool:
        places = [at for at, word in enumerate(words) if len(word) >= shortest and word.isalpha()]
        if len(places) < count:
            return False
        before = list(words)
        for at in dice.sample(places, count):
            words[at] = change(dice, words[at])
        return words != before

    return apply


def _joined(dice: random.Random, words: list[str]) -> bool:
    if len(words) < 2:
        return False
    at = dice.randrange(len(words) - 1)
    words[at : at + 2] = [words[at] + words[at + 1]]
    return True


def _split(dice: random.Random, words: list[str]) -> bool:
    places = [at for at, word in enumerate(words) if len(word) >= 6]
    if not places:
        return False
    at = dice.choice(places)
    cut = dice.randrange(3, len(words[at]) - 2)
    words[at : at + 1] = [words[at][:cut], words[at][cut:]]
    return True


_KINDS: dict[str, Callable[[random.Random, list[str]], bool]] = {
    "left out": _in_words(_left_out, ONE_TYPO_CHARS),
    "added": _in_words(_added, ONE_TYPO_CHARS),
    "replaced": _in_words(_replaced, ONE_TYPO_CHARS),
    "swapped": _in_words(_swapped, ONE_TYPO_CHARS),
    "first letter": _in_words(_first_letter, ONE_TYPO_CHARS),
    "two in a word": _in_words(_twice, TWO_TYPOS_CHARS),
    "one in each of two words": _in_words(_any, ONE_TYPO_CHARS, 2),
    "joined": _joined,
    "split": _split,
}


class Quality(NamedTuple):
    """How often the title that was meant was among the first ten, and the mean of one over its place."""

    recall: float
    mrr: float
    missed: list[Misspelt]


def judge(cases: Sequence[Misspelt], find: Callable[[str], Sequence[str]]) -> Quality:
    """Return the quality of what a search finds, first ten titles for each query."""
    places = [list(find(case.query)[:10]) for case in cases]
    missed = [case for case, titles in zip(cases, places, strict=True) if case.title not in titles]
    mrr = sum(1 / (titles.index(case.title) + 1) for case, titles in zip(cases, places, strict=True) if case.title in titles)
    return Quality(1 - len(missed) / len(cases), mrr / len(cases), missed)

"""Folds text into the words that are indexed and looked up: case, accents, plurals, scripts without spaces."""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator

from ..models.search import TERM_CHARS

# Letters that do not decompose into a plain one and an accent.
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "\u0131": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ħ": "h", "ŧ": "t"})
# Accents of Latin, Greek and Cyrillic letters. Marks of other scripts are letters to their readers and stay.
_ACCENTS = re.compile("[\u0300-\u036f]")
_APOSTROPHES = re.compile("(?<=\\w)['\u2019\u02bc](?=\\w)")
# Scripts that are written without spaces: Thai, Lao, Myanmar, Khmer, kana, Han.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+"
)
# Of words written as one: `arthouse`, not `to-day`.
SHORTEST_PART = 3
LONGEST_COMPOUND = 24
# Plurals whose singular has no e: boxes, brushes.
_ES = re.compile("(?:[sxz]|[cs]h)es$")


def fold(text: str) -> str:
    """Return text without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text).casefold().translate(_LETTERS)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, folded; runs of an unspaced script come out whole."""
    folded = _APOSTROPHES.sub("", fold(text))
    kept = "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in folded)
    return [word[:TERM_CHARS] for word in kept.split()]


def is_unspaced(word: str) -> bool:
    """Tell whether a word holds letters of a script that is written without spaces."""
    return _UNSPACED.search(word) is not None


def singular(word: str) -> str:
    """Return the singular of a regular English plural, any other word as it is."""
    if len(word) < 4 or not word.isascii() or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if _ES.search(word) else word[:-1]


def pieces(word: str) -> list[str]:
    """Return what a query's word must all be found as: pairs of letters in an unspaced script, else the word itself."""
    found: list[str] = []
    position = 0
    for run in _UNSPACED.finditer(word):
        found += filter(None, [word[position : run.start()]])
        letters = run.group()
        found += [letters[i : i + 2] for i in range(len(letters) - 1)] or [letters]
        position = run.end()
    found += filter(None, [word[position:]])
    return found


def index_terms(words: Iterable[str]) -> Iterator[str]:
    """Yield what a text's words are found by: themselves, their singulars, single letters and pairs of unspaced scripts."""
    for word in words:
        yield from pieces(word)
        yield singular(word)
        for run in _UNSPACED.findall(word):
            yield from run


def joined(words: list[str]) -> list[str]:
    """Return neighbours written as one word, so that `type face` finds `typeface`."""
    pairs = ("".join(pair) for pair in itertools.pairwise(words))
    return [pair for pair in pairs if len(pair) <= TERM_CHARS and not is_unspaced(pair)]


def splits(word: str) -> list[tuple[str, str]]:
    """Return the ways to write a word as two, so that `typeface` finds `type face`.

    This is done to queries, never to documents: pairs of neighbours would swell the vocabulary with the catalog.
    """
    if len(word) > LONGEST_COMPOUND or is_unspaced(word):
        return []
    return [(word[:i], word[i:]) for i in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1)]

"""Normalises text into the words that are indexed and searched: case, accents, plurals, symbols, scripts without spaces."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby

from ..models.search import TERM_CHARS

# Letters that do not decompose into a base letter and an accent.
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "\u0131": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ħ": "h", "ŧ": "t"})
# Accents of Latin, Greek and Cyrillic letters, Hebrew and Arabic points, and characters that stretch or decorate others.
# Vowel signs of scripts such as Devanagari and Thai are kept: they count as letters.
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\U000e0100-\U000e01ef]"
)
# They say nothing, and NFKD would make them letters of the name before them.
_TRADEMARKS = str.maketrans("™℠", "  ")
_APOSTROPHES = re.compile("(?<=\\w)['\u2019\u02bc](?=\\w)")
# Names with symbols: C++, C#.
_NAMED_SYMBOLS = ((re.compile(r"(?<=\w)\+\+(?!\w)"), "plusplus"), (re.compile(r"(?<=\w)#(?!\w)"), "sharp"))
_ASCII_WORD = re.compile("[a-z0-9]+")
# Scripts that are written without spaces, or with optional ones: Thai, Lao, Myanmar, Khmer, kana, Han, Hangul.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)
# Bounds of compounds such as `gomono`.
SHORTEST_PART = 2
LONGEST_COMPOUND = 24
# Plurals in -es: boxes, brushes.
_ES = re.compile("(?:[sxz]|[cs]h)es$")


class _Characters(dict[int, str]):
    """Translation table, filled on use: letters, marks and digits are kept, symbols become words, other characters become spaces."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = unicodedata.category(char)
        if kind[0] in "LMN":
            kept = char
        elif kind == "So":
            kept = f" {char} "
        else:
            # Format characters (joiners, directions, soft hyphens) are removed: they separate no words.
            kept = "" if kind == "Cf" else " "
        self[code] = kept
        return kept


_CHARACTERS = _Characters()


def fold(text: str) -> str:
    """Return the text casefolded, without accents."""
    if text.isascii():
        return text.lower()
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", text.translate(_TRADEMARKS))).casefold().translate(_LETTERS)
    return unicodedata.normalize("NFC", plain)


def words_of(text: str) -> list[str]:
    """Return the normalised words of a text in order; a run of an unspaced script is one word, or several if it is long."""
    folded = _APOSTROPHES.sub("", fold(text))
    for symbols, name in _NAMED_SYMBOLS:
        folded = symbols.sub(name, folded)
    words = _ASCII_WORD.findall(folded) if folded.isascii() else folded.translate(_CHARACTERS).split()
    return [part for word in words for part in _parts(word)]


def _parts(word: str) -> list[str]:
    """Return a word cut to the longest that is indexed; a run of an unspaced script in parts that share a letter, so that no pair is lost."""
    if len(word) <= TERM_CHARS or not is_unspaced(word):
        return [word[:TERM_CHARS]]
    return [word[start : start + TERM_CHARS] for start in range(0, len(word) - 1, TERM_CHARS - 1)]


def title_key(words: Iterable[str]) -> int:
    """Return a 63-bit hash of a title without spaces and case: `Type Face` and `typeface` have the same."""
    return int.from_bytes(hashlib.blake2b("".join(words).encode(), digest_size=8).digest()) >> 1


def is_unspaced(word: str) -> bool:
    """Tell whether a word holds letters of a script that is written without spaces."""
    return not word.isascii() and _UNSPACED.search(word) is not None


def singular(word: str) -> str:
    """Return the singular of a regular English plural, any other word as it is."""
    if len(word) < 4 or not word.endswith("s") or not word.isascii() or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if _ES.search(word) else word[:-1]


def pieces(word: str) -> list[str]:
    """Return the index terms that a word of a query requires: pairs of letters in an unspaced script, else the word itself."""
    if word.isascii():
        return [word]
    found: list[str] = []
    for unspaced, letters in groupby(word, key=is_unspaced):
        part = "".join(letters)
        pairs = [part[i : i + 2] for i in range(len(part) - 1)] if unspaced else []
        found += pairs or [part]
    return found


def index_terms(words: Iterable[str]) -> Iterator[str]:
    """Yield the index terms of words: the words, their singulars, and single letters and pairs in unspaced scripts."""
    for word in words:
        if is_unspaced(word):
            yield from pieces(word)
            for run in _UNSPACED.findall(word):
                yield from run
        else:
            yield word
            if word[-1] == "s":
                yield singular(word)


def splits(word: str) -> list[tuple[str, str]]:
    """Return the ways to write a word as two, so that `typeface` finds `type face`.

    Queries are split rather than documents joined, because pairs would enlarge the vocabulary.
    """
    if len(word) > LONGEST_COMPOUND or is_unspaced(word):
        return []
    return [(word[:i], word[i:]) for i in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1)]

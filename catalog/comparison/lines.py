"""The lines in which two texts differ."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from rapidfuzz.distance import LCSseq

# The time of the comparison grows with the square of the number of lines (with difflib, with its cube). In longer texts, lines are compared
# without regard to their order.
MAX_ORDERED_LINES = 1500
# The most lines that are returned, and the most characters of each. Longer lines are compared in pieces, so that all of a line can be shown.
MAX_LINES = 1000
LINE_CHARS = 400
_PIECES = re.compile(rf".{{1,{LINE_CHARS - 1}}}?(?:[;{{}}>]|[.!?,] |$)|.{{1,{LINE_CHARS}}}")


@dataclass(frozen=True)
class Line:
    """A line that was added or removed; its number in the text that holds it, from 1."""

    number: int
    added: bool
    text: str


@dataclass(frozen=True)
class ChangedLines:
    """The first lines that differ, and how many there are."""

    lines: Sequence[Line]
    total: int


# A line's number and text.
Numbered = tuple[int, str]


def changed_lines(before: str, after: str) -> ChangedLines:
    """Return the lines that differ: those removed before those added in their place."""
    old, new = _pieces(before), _pieces(after)
    start = _common_beginning(old, new)
    end = _common_beginning(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    lines = (
        _ordered(old, new)
        if max(len(old), len(new)) <= MAX_ORDERED_LINES
        else [*_missing(old, new, added=False), *_missing(new, old, added=True)]
    )
    return ChangedLines(lines[:MAX_LINES], len(lines))


def _pieces(text: str) -> list[Numbered]:
    return [
        (number, piece)
        for number, line in enumerate(text.splitlines(), 1)
        for piece in (_PIECES.findall(line) if len(line) > LINE_CHARS else [line])
    ]


def _common_beginning(one: Sequence[Numbered], other: Sequence[Numbered]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0][1] == pair[1][1], zip(one, other, strict=False)))


def _ordered(old: Sequence[Numbered], new: Sequence[Numbered]) -> list[Line]:
    lines: list[Line] = []
    spans_of_all = LCSseq.opcodes([text for _, text in old], [text for _, text in new])
    for equal, spans in groupby(spans_of_all, key=lambda span: span.tag == "equal"):
        if not equal:
            together = list(spans)
            removed = [numbered for span in together for numbered in old[span.src_start : span.src_end]]
            added = [numbered for span in together for numbered in new[span.dest_start : span.dest_end]]
            lines += [Line(number, added=False, text=text) for number, text in removed]
            lines += [Line(number, added=True, text=text) for number, text in added]
    return lines


def _missing(lines: Sequence[Numbered], others: Sequence[Numbered], *, added: bool) -> list[Line]:
    left = Counter(text for _, text in others)
    found = []
    for number, line in lines:
        left[line] -= 1
        if left[line] < 0:
            found.append(Line(number, added=added, text=line))
    return found

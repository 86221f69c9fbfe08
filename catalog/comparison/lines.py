"""The lines in which two texts differ."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, groupby, takewhile

from rapidfuzz.distance import LCSseq

# The time of the comparison grows with the square of the lines (with difflib, with their cube). In longer texts, lines are compared without
# their order.
LINES = 1500
# The most lines that are returned, and their length.
SHOWN = 300
LINE_CHARS = 400


@dataclass(frozen=True)
class Line:
    """A line that was added or removed; its number in the text that holds it, from 1."""

    number: int
    added: bool
    text: str


def changed_lines(before: str, after: str) -> list[Line]:
    """Return the first lines that differ: those removed before those added in their place."""
    old, new = before.splitlines(), after.splitlines()
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    lines = _ordered(old, new, start) if max(len(old), len(new)) <= LINES else _unordered(old, new, start)
    return lines[:SHOWN]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _ordered(old: Sequence[str], new: Sequence[str], start: int) -> list[Line]:
    lines: list[Line] = []
    for equal, spans in groupby(LCSseq.opcodes(old, new), key=lambda span: span.tag == "equal"):
        if not equal:
            together = list(spans)
            for added, text, ranges in (
                (False, old, [range(span.src_start, span.src_end) for span in together]),
                (True, new, [range(span.dest_start, span.dest_end) for span in together]),
            ):
                lines += [Line(start + at + 1, added, text[at][:LINE_CHARS]) for at in chain(*ranges)]
    return lines


def _unordered(old: Sequence[str], new: Sequence[str], start: int) -> list[Line]:
    return [*_missing(old, new, start, added=False), *_missing(new, old, start, added=True)]


def _missing(lines: Sequence[str], others: Sequence[str], start: int, *, added: bool) -> list[Line]:
    left = Counter(others)
    found = []
    for number, line in enumerate(lines, start + 1):
        left[line] -= 1
        if left[line] < 0:
            found.append(Line(number, added, line[:LINE_CHARS]))
    return found

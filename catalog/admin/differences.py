"""Marks the differences between two texts, word by word."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

# The most tokens of a text. The time of the comparison grows with its square (with difflib, with its cube: a vendor's text kept a process
# busy for minutes). Longer texts are compared line by line, and very long ones not at all.
PIECES = 1500
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class Piece:
    """A part of a text.

    Args:
        text: The text.
        changed: Whether the other text differs here.
    """

    text: str
    changed: bool


def marked(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """Return both texts as parts, of which those that differ are marked as changed."""
    for pattern in (_WORDS, _LINES):
        old, new = pattern.findall(before), pattern.findall(after)
        if max(len(old), len(new)) <= PIECES:
            spans = LCSseq.opcodes(old, new)
            return (
                list(_pieces((span.tag, old[span.src_start : span.src_end]) for span in spans)),
                list(_pieces((span.tag, new[span.dest_start : span.dest_end]) for span in spans)),
            )
    return [Piece(before, changed=True)], [Piece(after, changed=True)]


def _pieces(spans: Iterator[tuple[str, list[str]]]) -> Iterator[Piece]:
    for tag, words in spans:
        if words:
            yield Piece("".join(words), changed=tag != "equal")

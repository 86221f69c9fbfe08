"""Marks the differences between two texts, word by word."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

# The most tokens of a text. The time of the comparison grows with its square (with difflib, with its cube: a vendor's text kept a process
# busy for minutes). Longer texts are compared line by line, and very long ones not at all.
MAX_TOKENS = 1500
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class TextPart:
    """A part of a text, and whether the other text differs there."""

    text: str
    changed: bool


def mark_differences(before: str, after: str) -> tuple[list[TextPart], list[TextPart]]:
    """Return both texts as parts, of which those that differ are marked as changed."""
    for pattern in (_WORDS, _LINES):
        old, new = pattern.findall(before), pattern.findall(after)
        if max(len(old), len(new)) <= MAX_TOKENS:
            spans = LCSseq.opcodes(old, new)
            return (
                list(_parts((span.tag, old[span.src_start : span.src_end]) for span in spans)),
                list(_parts((span.tag, new[span.dest_start : span.dest_end]) for span in spans)),
            )
    return [TextPart(before, changed=True)], [TextPart(after, changed=True)]


def _parts(spans: Iterator[tuple[str, list[str]]]) -> Iterator[TextPart]:
    for tag, words in spans:
        if words:
            yield TextPart("".join(words), changed=tag != "equal")

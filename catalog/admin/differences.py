"""What changed between two texts, marked word by word, so that an editor sees it at a glance."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

# Comparing takes the square of this; longer texts are compared line by line, and very long ones not at all.
PIECES = 1500
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class Piece:
    """Some of a text.

    Args:
        text: The words.
        changed: Whether the other text has others in their place.
    """

    text: str
    changed: bool


def marked(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """Return both texts with what differs marked."""
    for pattern in (_WORDS, _LINES):
        old, new = pattern.findall(before), pattern.findall(after)
        if max(len(old), len(new)) <= PIECES:
            spans = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
            return (
                list(_pieces((tag, old[start:end]) for tag, start, end, _, _ in spans)),
                list(_pieces((tag, new[start:end]) for tag, _, _, start, end in spans)),
            )
    return [Piece(before, changed=True)], [Piece(after, changed=True)]


def _pieces(spans: Iterator[tuple[str, list[str]]]) -> Iterator[Piece]:
    for tag, words in spans:
        if words:
            yield Piece("".join(words), changed=tag != "equal")

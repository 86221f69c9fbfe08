"""Searches the documentation: guides by their parts, operations of the API, error codes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import unescape

from django.urls import reverse
from django.utils.html import strip_tags

from marketplace.core.errors import all_problems

from .reading import documents
from .reference import operations
from .rendering import plain_parts

QUERY_CHARS = 200
RESULTS = 20
_WORDS = 8
_EXCERPT_CHARS = 180
_WORD = re.compile(r"\w+")
# Weights of a word by the place where it is found.
_TITLE, _HEADING, _TEXT = 6, 4, 1


@dataclass(frozen=True)
class Entry:
    """A part of the documentation that can be found."""

    url: str
    # The title of its page, and its own heading; empty for the beginning of a page.
    title: str
    heading: str
    text: str

    def rank(self, words: list[str]) -> int:
        """Return how well it fits; 0 unless it has a word that begins with each of these."""
        ranks = [
            sum(
                weight
                for weight, text in ((_TITLE, self.title), (_HEADING, self.heading), (_TEXT, self.text))
                if _has_word_beginning(word, text)
            )
            for word in words
        ]
        return sum(ranks) if all(ranks) else 0


def search_docs(query: str) -> list[tuple[Entry, list[tuple[str, bool]]]]:
    """Return the best results, best first, each with the pieces of an excerpt and whether a piece is one of the searched words.

    Only the first 200 characters and 8 words of the query count.
    """
    words = list(dict.fromkeys(_WORD.findall(query[:QUERY_CHARS].lower())))[:_WORDS]
    if not words:
        return []
    ranked = [(rank, entry) for entry in _entries() if (rank := entry.rank(words))]
    ranked.sort(key=lambda each: each[0], reverse=True)
    return [(entry, _excerpt(entry.text, words)) for _, entry in ranked[:RESULTS]]


def _has_word_beginning(beginning: str, text: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(beginning)}", text, re.IGNORECASE) is not None


def _excerpt(text: str, words: list[str]) -> list[tuple[str, bool]]:
    wanted = re.compile(rf"((?<![^\W_])(?:{'|'.join(map(re.escape, words))}))", re.IGNORECASE)
    found = wanted.search(text)
    begin = max(found.start() - _EXCERPT_CHARS // 3, 0) if found else 0
    # Begin and end between words.
    begin = text.rfind(" ", 0, begin) + 1
    piece = text[begin : begin + _EXCERPT_CHARS]
    if begin + _EXCERPT_CHARS < len(text):
        piece = piece.rsplit(" ", 1)[0] + " …"
    return [(part, number % 2 == 1) for number, part in enumerate(wanted.split(f"{'… ' if begin else ''}{piece}")) if part]


@cache
def _entries() -> list[Entry]:
    return [*_guide_entries(), *_operation_entries(), *_problem_entries()]


def _guide_entries() -> Iterator[Entry]:
    for page in documents().values():
        url = reverse("docs-page", args=[page.slug])
        for heading, text in plain_parts(page.text):
            if heading is None:
                yield Entry(url, page.title, "", f"{page.summary} {text}")
            else:
                yield Entry(f"{url}#{heading.anchor}", page.title, heading.text, text)


def _operation_entries() -> Iterator[Entry]:
    for operation in operations().values():
        fields = " ".join(field.name for field in (*operation.parameters, *operation.body, *operation.response))
        text = f"{unescape(strip_tags(operation.description))} {operation.id} {fields}"
        yield Entry(reverse("docs-operation", args=[operation.id]), operation.summary, f"{operation.method} {operation.path}", text)


def _problem_entries() -> Iterator[Entry]:
    for code, problem in sorted(all_problems().items()):
        yield Entry(reverse("problem", args=[code]), problem.title, code, f"{problem.status} {problem.detail}")

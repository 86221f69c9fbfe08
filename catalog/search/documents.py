"""Builds the search document of a listing: its folded words, column by column."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..models import SearchDocument
from .spelling import number
from .words import index_terms, words_of

# The most distinct words of a description that are indexed; the rest of a long text says little about the asset.
BODY_TERMS = 1000
# Listings with fewer tags from the vendor are also indexed by the tags of the manifest.
FEW_TAGS = 3
SEPARATOR = "|"
# A pseudo-word in every document; its count is the number of documents.
EVERYWHERE = ""


def indexed_tags(tags: Sequence[str], manifest: Mapping[str, Any] | None) -> list[str]:
    """Return the vendor's tags; where these are few, also those that the manifest derived from the file."""
    made = manifest["tags"] if manifest and len(tags) < FEW_TAGS else []
    return list(dict.fromkeys([*tags, *made]))


def title_key(words: Iterable[str]) -> int:
    """Return a hash of a title without spaces and case: `Type Face` and `typeface` have the same."""
    return number("".join(words))


def columns_of(title: str, tags: Sequence[str], summary: str, body: str) -> dict[str, str | int]:
    """Return the text columns of a document, and the key of its title."""
    words = words_of(title)
    forms = sorted(set(index_terms(words)) - set(words))
    tag_terms = dict.fromkeys(term for tag in tags for term in index_terms(words_of(tag)))
    body_terms = dict.fromkeys(index_terms(words_of(body)))
    return {
        "title_key": title_key(words),
        "title": " ".join([*words, SEPARATOR, *forms]),
        "tags": " ".join(tag_terms),
        "summary": " ".join(dict.fromkeys(index_terms(words_of(summary)))),
        "body": " ".join(list(body_terms)[:BODY_TERMS]),
    }


def heading_terms(document: SearchDocument) -> set[str]:
    """Return the distinct words of a document's title and tags; an empty set for one that is not stored yet."""
    return {EVERYWHERE, *document.title.split(), *document.tags.split()} - {SEPARATOR} if document.pk else set()


def all_terms(document: SearchDocument) -> set[str]:
    """Return all distinct words of a document; an empty set for one that is not stored yet."""
    return heading_terms(document).union(document.summary.split(), document.body.split()) if document.pk else set()

"""Builds the search document of a listing: its normalised words, column by column."""

from typing import Any

from ..manifests.tags import semantic_tags
from ..models import Listing, SearchDocument
from .words import index_terms, title_key, words_of

# The most distinct words of a description that are indexed.
MAX_BODY_TERMS = 1000
SEPARATOR = "|"
# A pseudo-word in every document, whose count is the number of documents.
ALL_DOCUMENTS = ""


def columns_of(listing: Listing, purchases: int) -> dict[str, Any]:
    """Return the columns of a published listing's document."""
    words = words_of(listing.title)
    forms = sorted(set(index_terms(words)) - set(words))
    # The vendor's tags and those derived from file and category.
    tags = [*listing.tags, *semantic_tags(listing)]
    body = dict.fromkeys(index_terms(words_of(listing.description)))
    return {
        "title_key": title_key(words),
        "title": " ".join([*words, SEPARATOR, *forms]),
        "tags": " ".join(dict.fromkeys(term for tag in tags for term in index_terms(words_of(tag)))),
        "summary": " ".join(dict.fromkeys(index_terms(words_of(listing.short_description)))),
        "body": " ".join(list(body)[:MAX_BODY_TERMS]),
        "is_shown": listing.store.is_open,
        "popularity": purchases,
        "published_at": listing.published_at,
    }


def heading_words(document: SearchDocument) -> set[str]:
    """Return the distinct words of a document's title and tags."""
    return {ALL_DOCUMENTS, *document.title.split(), *document.tags.split()} - {SEPARATOR}


def words_in(document: SearchDocument) -> set[str]:
    """Return all distinct words of a document."""
    return heading_words(document).union(document.summary.split(), document.body.split())

"""Writes the index: a listing can be found from the moment its publication commits.

Writers queue on the catalog's generation (its row is locked to the end of the transaction), so that counts of documents are
exact and two publications at once never deadlock, whatever words they share.
"""

import uuid
from collections.abc import Iterable, Iterator

from django.db import transaction
from django.db.models import F

from ..models import Listing, SearchDelete, SearchDocument, SearchTerm
from ..services import generation
from .spelling import correctable, deletes
from .words import index_terms, words_of

# Distinct words of a description that are indexed; what follows in 64 KiB tells little about an asset.
BODY_TERMS = 1000
BATCH = 500
SEPARATOR = "|"


@transaction.atomic
def index_listing(listing: Listing) -> None:
    """Make a published listing findable by its present words, and end cached answers."""
    generation.bump()
    write_document(listing)


@transaction.atomic
def remove_listing(listing_id: uuid.UUID) -> None:
    """Make a listing impossible to find, and end cached answers; one that is not in the index is no error."""
    generation.bump()
    document = SearchDocument.objects.filter(listing_id=listing_id).first()
    if document is not None:
        gone = terms_of(document)
        document.delete()
        _discount(gone)


def write_document(listing: Listing) -> bool:
    """Bring one document and the vocabulary in line with its listing, and tell whether anything differed.

    The caller holds the lock.
    """
    document = SearchDocument.objects.filter(listing_id=listing.pk).first() or SearchDocument(listing_id=listing.pk)
    before = terms_of(document)
    columns = _columns(listing)
    if document.pk is not None and all(getattr(document, name) == text for name, text in columns.items()):
        return False
    for name, text in columns.items():
        setattr(document, name, text)
    document.save()
    after = terms_of(document)
    _discount(before - after)
    _count(after - before)
    return True


def terms_of(document: SearchDocument) -> set[str]:
    """Return every distinct word of a document."""
    return set(f"{document.title} {document.tags} {document.summary} {document.body}".split()) - {SEPARATOR}


def _columns(listing: Listing) -> dict[str, str]:
    title = words_of(listing.title)
    tags = [words_of(tag) for tag in listing.tags]
    summary = words_of(listing.short_description)
    body = dict.fromkeys(index_terms(words_of(listing.description)))
    forms = sorted(set(index_terms(title)) - set(title))
    return {
        "title": " ".join([*title, SEPARATOR, *forms]),
        "tags": " ".join(dict.fromkeys(term for words in tags for term in index_terms(words))),
        "summary": " ".join(dict.fromkeys(index_terms(summary))),
        "body": " ".join(list(body)[:BODY_TERMS]),
    }


def _count(terms: set[str]) -> None:
    """Add one document to each word; a new word gets its misspellings."""
    for batch in batches(sorted(terms), BATCH):
        known = set(SearchTerm.objects.filter(term__in=batch).values_list("term", flat=True))
        SearchTerm.objects.filter(term__in=known).update(documents=F("documents") + 1)
        new = SearchTerm.objects.bulk_create([SearchTerm(term=term, documents=1) for term in batch if term not in known])
        add_deletes(new)


def add_deletes(terms: Iterable[SearchTerm]) -> None:
    """Store the misspellings by which words are found."""
    rows = [SearchDelete(digest=digest, term=term) for term in terms if correctable(term.term) for digest in sorted(deletes(term.term))]
    SearchDelete.objects.bulk_create(rows, batch_size=5000)


def _discount(terms: set[str]) -> None:
    """Take one document from each word; a word that is nowhere any more is forgotten."""
    for batch in batches(sorted(terms), BATCH):
        SearchTerm.objects.filter(term__in=batch).update(documents=F("documents") - 1)
        forget(batch)


def forget(batch: list[str]) -> None:
    """Remove those of the words that no document has."""
    gone = SearchTerm.objects.filter(term__in=batch, documents=0)
    SearchDelete.objects.filter(term__in=gone).delete()
    gone.delete()


def batches(items: list[str], size: int) -> Iterator[list[str]]:
    """Yield a list in parts of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]

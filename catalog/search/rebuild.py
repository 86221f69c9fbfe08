"""Rebuilds the whole search index while the service runs, for instance after a change of the normalisation of words."""

from collections import Counter

from django.db import transaction

from ..catalog_version import change_version, current_version
from ..models import Listing, SearchDocument, SearchTerm
from ..models.listings import ListingStatus
from .documents import heading_words, words_in
from .index import BATCH, Progress, add_to_word_counts, no_progress, update_documents, update_in_batches
from .popular import update_popular


def rebuild(progress: Progress = no_progress) -> tuple[int, int, int]:
    """Correct the documents, delete stale ones, recount the vocabulary and mark the popular listings.

    Returns:
        How many listings were checked, and how many documents and words were corrected.
    """
    ids = list(Listing.objects.filter(status=ListingStatus.PUBLISHED).order_by("pk").values_list("pk", flat=True))
    listings = len(ids)
    ids += SearchDocument.objects.exclude(listing__status=ListingStatus.PUBLISHED).values_list("listing", flat=True)
    changed = update_in_batches(ids, update_documents, progress)
    corrected = _recount()
    update_popular()
    return listings, changed, corrected


def _recount() -> int:
    """Correct the counts of the vocabulary, and return how many words were wrong.

    Publications go on during the count; if there was one, they wait for a second count.
    """
    before = current_version()
    documents, headings = _count_words()
    with transaction.atomic():
        unchanged = current_version() == before
        change_version()
        if not unchanged:
            documents, headings = _count_words()
        for term, in_documents, in_headings in SearchTerm.objects.values_list("term", "documents", "headings"):
            documents[term] -= in_documents
            headings[term] -= in_headings
        add_to_word_counts(documents, headings)
    return sum(1 for word in documents if documents[word] or headings[word])


def _count_words() -> tuple[Counter[str], Counter[str]]:
    documents: Counter[str] = Counter()
    headings: Counter[str] = Counter()
    for document in SearchDocument.objects.iterator(chunk_size=BATCH):
        documents.update(words_in(document))
        headings.update(heading_words(document))
    return documents, headings

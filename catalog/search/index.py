"""Updates of the search index in the transaction of the change, so that a listing is found once its publication commits.

Writers hold the lock on the catalog's version until they commit, so that counts are exact and concurrent publications
never deadlock, whatever words they share.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeVar

from django.db import transaction

from ..catalog_version import change_version
from ..models import Listing, ListingStats, SearchDocument, SearchTerm, Store
from ..models.listings import ListingStatus
from .documents import columns_of, heading_words, words_in

BATCH = 500

T = TypeVar("T")
# Called with how many rows are done, and how many there are.
Progress = Callable[[int, int], None]
_COLUMNS = ("title_key", "title", "tags", "summary", "body", "is_shown", "popularity", "published_at")


def update_store_visibility(store: Store) -> None:
    """Show the listings of an open store in search, and hide those of a closed one.

    The caller holds the lock of the catalog's version.
    """
    # Locked first, as in `count_purchases`, which then changes the index and the documents.
    list(ListingStats.objects.select_for_update(of=("self",)).filter(listing__store=store).order_by("pk").values_list("pk"))
    SearchDocument.objects.filter(listing__store=store).exclude(is_shown=store.is_open).update(is_shown=store.is_open)


def update_documents(ids: Collection[uuid.UUID]) -> int:
    """Update the documents of these listings and the vocabulary; return how many documents differed.

    The caller holds the lock of the catalog's version, and passes at most `BATCH` ids.
    """
    # Read under the lock: a store may have been closed while this transaction waited for it.
    published = Listing.objects.filter(pk__in=ids, status=ListingStatus.PUBLISHED)
    listings = {listing.pk: listing for listing in published.select_related("category", "store", "approved_deliverable")}
    stored = {document.listing_id: document for document in SearchDocument.objects.filter(listing__in=ids)}
    # Locked against `count_purchases`: a purchase is counted either here or, once the document exists, by that.
    purchases = dict(ListingStats.objects.select_for_update().filter(listing__in=ids).values_list("listing", "purchases"))
    words: Counter[str] = Counter()
    headings: Counter[str] = Counter()
    changed = []
    for pk in {*listings, *stored}:
        before = stored.get(pk)
        after = SearchDocument(listing_id=pk)
        if before is not None:
            after.pk, after.is_new, after.is_popular = before.pk, before.is_new, before.is_popular
        if pk in listings:
            for name, value in columns_of(listings[pk], purchases.get(pk, 0)).items():
                setattr(after, name, value)
            if before is not None and all(getattr(before, name) == getattr(after, name) for name in _COLUMNS):
                continue
        for document, change in ((before, -1), (after if pk in listings else None, 1)):
            if document is not None:
                words.update(dict.fromkeys(words_in(document), change))
                headings.update(dict.fromkeys(heading_words(document), change))
        changed.append(after)
    SearchDocument.objects.filter(listing__in=[after.listing_id for after in changed if after.listing_id not in listings]).delete()
    new = [after for after in changed if after.listing_id not in stored]
    old = [after for after in changed if after.listing_id in stored and after.listing_id in listings]
    SearchDocument.objects.bulk_create(old, update_conflicts=True, unique_fields=["id"], update_fields=_COLUMNS)
    SearchDocument.objects.bulk_create(new)
    add_to_word_counts(words, headings)
    return len(changed)


def add_to_word_counts(documents: Counter[str], headings: Counter[str]) -> None:
    """Add changes to the counts of words in the vocabulary; add new words, delete those that no listing has any more.

    Args:
        documents: The change of the number of listings with each word.
        headings: The same for title and tags.
    """
    changed = sorted(word for word in documents.keys() | headings.keys() if documents[word] or headings[word])
    for batch in batches(changed):
        stored = SearchTerm.objects.in_bulk(batch, field_name="term")
        rows = []
        for word in batch:
            before = stored.get(word, SearchTerm())
            # A wrong count must not make a publication fail; a rebuild corrects it.
            in_documents, in_headings = max(0, before.documents + documents[word]), max(0, before.headings + headings[word])
            rows.append(SearchTerm(term=word, documents=in_documents, headings=in_headings))
        SearchTerm.objects.bulk_create(rows, update_conflicts=True, unique_fields=["term"], update_fields=["documents", "headings"])
        if gone := [row.term for row in rows if not row.documents]:
            SearchTerm.objects.filter(term__in=gone).delete()


def no_progress(_done: int, _total: int) -> None:
    """Ignore the progress."""


def update_in_batches(items: Sequence[T], update: Callable[[Sequence[T]], int], progress: Progress = no_progress) -> int:
    """Call `update` for each batch with the lock of the catalog's version, and return the sum of its results.

    Publications wait for one batch at most.
    """
    changed = 0
    for done, batch in enumerate(batches(items)):
        with transaction.atomic():
            change_version()
            changed += update(batch)
        progress(done * BATCH + len(batch), len(items))
    return changed


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield a list in slices of at most `BATCH` items."""
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]

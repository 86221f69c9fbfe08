"""Brings the whole index in line with the listings, while the service runs: for a changed way to fold words, or a doubt."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import transaction

from ..models import Listing, SearchDocument, SearchTerm
from ..models.listings import ListingStatus
from ..services.catalog_version import change_version, current_version
from . import bulk
from .documents import all_terms, heading_terms
from .index import remove_listing, write_document
from .ranks import rank
from .terms import BATCH, batches, respell

# Publications wait for one batch, not for the whole.
LISTINGS = 100

Progress = Callable[[int, int], None]
Counts = dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Rebuilt:
    """What a rebuild found to do."""

    listings: int
    changed: int
    removed: int
    terms_corrected: int


def rebuild(progress: Progress) -> Rebuilt:
    """Write every document anew where it differs, remove those that should not be there, recount the words, set the tiers.

    An empty index is loaded in one go, many times faster: there is nothing that could be found meanwhile.

    Args:
        progress: Told how many listings of how many are done.
    """
    if loaded := bulk.load(progress):
        return Rebuilt(listings=loaded, changed=loaded, removed=0, terms_corrected=0)
    published = Listing.objects.filter(status=ListingStatus.PUBLISHED)
    ids = list(published.order_by("pk").values_list("pk", flat=True))
    changed = 0
    for done, batch in enumerate(batches(ids, LISTINGS)):
        with transaction.atomic():
            change_version()
            # Read under the lock: one that was unpublished meanwhile is no longer among them.
            changed += sum([write_document(listing) for listing in published.filter(pk__in=batch)])
        progress(done * LISTINGS + len(batch), len(ids))
    stale = list(SearchDocument.objects.exclude(listing__status=ListingStatus.PUBLISHED).values_list("listing_id", flat=True))
    for listing_id in stale:
        remove_listing(listing_id)
    corrected = _recount()
    rank(lambda _done, _total: None)
    return Rebuilt(listings=len(ids), changed=changed, removed=len(stale), terms_corrected=corrected)


def _recount() -> int:
    """Make the vocabulary what the documents say, and return how many words were wrong.

    It is counted while publications go on; only when one came in between do they wait for a second count.
    """
    before = current_version()
    true = _counted()
    with transaction.atomic():
        unchanged = current_version() == before
        change_version()
        if not unchanged:
            true = _counted()
        stored = {
            term: (documents, headings) for term, documents, headings in SearchTerm.objects.values_list("term", "documents", "headings")
        }
        wrong = sorted(term for term in true.keys() | stored.keys() if true.get(term) != stored.get(term))
        for batch in batches(wrong, BATCH):
            _correct(batch, true)
    return len(wrong)


def _counted() -> Counts:
    documents: Counter[str] = Counter()
    headings: Counter[str] = Counter()
    for document in SearchDocument.objects.iterator(chunk_size=BATCH):
        documents.update(all_terms(document))
        headings.update(heading_terms(document))
    return {term: (count, headings[term]) for term, count in documents.items()}


def _correct(batch: Sequence[str], true: Counts) -> None:
    """Write the counts of these words as they are, and their misspellings with them."""
    SearchTerm.objects.bulk_create([SearchTerm(term=term) for term in batch if term in true], ignore_conflicts=True)
    rows = list(SearchTerm.objects.filter(term__in=batch))
    for row in rows:
        row.documents, row.headings = true.get(row.term, (0, 0))
    SearchTerm.objects.bulk_update(rows, ["documents", "headings"])
    respell(batch)
    SearchTerm.objects.filter(term__in=batch, documents=0).delete()

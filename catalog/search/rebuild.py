"""Brings the whole index in line with the listings, while the service runs: for a changed way to fold words, or a doubt."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce

from ..models import Listing, SearchDelete, SearchDocument, SearchTerm
from ..models.listings import ListingStatus
from ..services import generation
from .index import BATCH, add_deletes, batches, remove_listing, terms_of, write_document
from .postings import ALL_LEVELS, LEVEL_SIZES

# Publications wait for one batch, not for the whole.
LISTINGS = 100

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Rebuilt:
    """What a rebuild found to do."""

    listings: int
    changed: int
    removed: int
    terms_corrected: int


def rebuild(progress: Progress) -> Rebuilt:
    """Write every document anew where it differs, remove those that should not be there, recount the words, set the levels.

    Args:
        progress: Told how many listings of how many are done.
    """
    published = Listing.objects.filter(status=ListingStatus.PUBLISHED)
    ids = list(published.order_by("pk").values_list("pk", flat=True))
    changed = 0
    for start in range(0, len(ids), LISTINGS):
        with transaction.atomic():
            generation.bump()
            # Read under the lock: one that was unpublished meanwhile is no longer among them.
            changed += sum([write_document(listing) for listing in published.filter(pk__in=ids[start : start + LISTINGS])])
        progress(min(start + LISTINGS, len(ids)), len(ids))
    stale = list(SearchDocument.objects.exclude(listing__status=ListingStatus.PUBLISHED).values_list("listing_id", flat=True))
    for listing_id in stale:
        remove_listing(listing_id)
    corrected = _recount()
    _set_levels()
    return Rebuilt(listings=len(ids), changed=changed, removed=len(stale), terms_corrected=corrected)


@transaction.atomic
def _recount() -> int:
    """Make the vocabulary what the documents say, and return how many words were wrong."""
    generation.bump()
    true: Counter[str] = Counter()
    for document in SearchDocument.objects.iterator(chunk_size=BATCH):
        true.update(terms_of(document))
    stored = dict(SearchTerm.objects.values_list("term", "documents"))
    wrong = sorted(term for term in true.keys() | stored.keys() if true[term] != stored.get(term, 0))
    for batch in batches(wrong, BATCH):
        SearchDelete.objects.filter(term__term__in=batch).delete()
        SearchTerm.objects.filter(term__in=batch).delete()
        add_deletes(SearchTerm.objects.bulk_create([SearchTerm(term=term, documents=true[term]) for term in batch if true[term]]))
    return len(wrong)


@transaction.atomic
def _set_levels() -> None:
    """Put the most bought on the upper levels; only rows whose level differs are written."""
    generation.bump()
    ranked = SearchDocument.objects.order_by(
        Coalesce("listing__stats__purchases", 0).desc(), F("listing__published_at").desc(), "listing_id"
    )
    bounds = (0, *LEVEL_SIZES, None)
    for level in range(ALL_LEVELS + 1):
        ids = list(ranked.values_list("pk", flat=True)[bounds[level] : bounds[level + 1]])
        for start in range(0, len(ids), BATCH):
            SearchDocument.objects.filter(pk__in=ids[start : start + BATCH]).exclude(level=level).update(level=level)

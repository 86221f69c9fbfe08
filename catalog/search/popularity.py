"""Which listings are popular: common words are looked for among these.

A probe at a million listings: a word that a tenth of them have is found among the popular ones in milliseconds, and in all of them, to
sort them by popularity, in hundreds. One set of popular listings, with an index of its own, is what is left of that.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q

from ..models import SearchDocument
from ..services.catalog_version import change_version

POPULAR_LISTINGS = 20_000
# Publications wait for one batch.
BATCH = 500

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Ranked:
    """What a ranking wrote."""

    listings: int
    moved: int


def update_popular(progress: Progress = lambda _done, _total: None) -> Ranked:
    """Mark the best-selling listings as popular, and none as new; safe at any time, also twice at once.

    Args:
        progress: Told how many rows of how many are written.
    """
    documents = SearchDocument.objects.all()
    best = documents.filter(is_shown=True).order_by("-popularity", "-published_at", "-listing_id")
    popular = set(best.values_list("pk", flat=True)[:POPULAR_LISTINGS])
    marked = dict(documents.filter(Q(is_popular=True) | Q(is_new=True)).values_list("pk", "is_popular"))
    new = set(documents.filter(is_new=True).values_list("pk", flat=True))
    due = sorted({pk for pk in popular | marked.keys() if (pk in popular) is not marked.get(pk, False)} | new)
    for done in range(0, len(due), BATCH):
        _mark(due[done : done + BATCH], popular)
        progress(min(done + BATCH, len(due)), len(due))
    return Ranked(listings=documents.count(), moved=len(due))


@transaction.atomic
def _mark(batch: Sequence[int], popular: set[int]) -> None:
    change_version()
    for is_popular in (True, False):
        rows = SearchDocument.objects.filter(pk__in=[pk for pk in batch if (pk in popular) is is_popular])
        rows.update(is_popular=is_popular, is_new=False)

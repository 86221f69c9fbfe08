"""Marks the popular listings, among which common words are searched.

Results are the most popular matches, so each match must be read to be sorted: with a word that a tenth of a million listings have, this
takes a tenth of a second. Among popular listings, which have an index of their own, it takes milliseconds.
"""

from collections.abc import Sequence
from functools import partial

from django.db.models import Q

from ..models import SearchDocument
from .full_text import popular_count
from .index import update_in_batches


def update_popular() -> tuple[int, int]:
    """Mark the best-selling listings as popular, and none as new; return how many changed, and how many there are.

    Safe to run at any time, also in parallel.
    """
    documents = SearchDocument.objects.all()
    best = documents.filter(is_shown=True).order_by("-popularity", "-published_at", "-listing_id")
    popular = set(best.values_list("pk", flat=True)[: popular_count(best.count())])
    marked = dict(documents.filter(Q(is_popular=True) | Q(is_new=True)).values_list("pk", "is_popular"))
    new = set(documents.filter(is_new=True).values_list("pk", flat=True))
    due = sorted({pk for pk in popular | marked.keys() if (pk in popular) != marked.get(pk, False)} | new)
    update_in_batches(due, partial(_mark, popular))
    return len(due), documents.count()


def _mark(popular: set[int], batch: Sequence[int]) -> int:
    for is_popular in (True, False):
        rows = SearchDocument.objects.filter(pk__in=[pk for pk in batch if (pk in popular) == is_popular])
        rows.update(is_popular=is_popular, is_new=False)
    return len(batch)

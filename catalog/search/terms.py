"""Keeps the vocabulary: in how many documents each word is, and the misspellings by which it is found.

Every function is called under the lock that `index` describes.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

from django.db.models import F, Q

from ..models import SearchDelete, SearchTerm
from .spelling import correctable, deletes

BATCH = 500
# A word of descriptions only is worth correcting to when it is in this many: below, it is as likely a misspelling itself.
CORRECTS_FROM = 3

Item = TypeVar("Item")


def change(terms: set[str], headings: set[str], *, by: int) -> None:
    """Count a document more or less for each of its words.

    Args:
        terms: The words it gained or lost.
        headings: The words that its title and tags gained or lost; not all of them are among `terms`.
        by: 1 or -1.
    """
    for batch in batches(sorted(terms | headings), BATCH):
        rows = SearchTerm.objects.filter(term__in=batch)
        if by > 0:
            known = set(rows.values_list("term", flat=True))
            SearchTerm.objects.bulk_create([SearchTerm(term=term) for term in batch if term not in known])
        rows.filter(term__in=terms.intersection(batch)).update(documents=F("documents") + by)
        rows.filter(term__in=headings.intersection(batch)).update(headings=F("headings") + by)
        respell(batch)
        if by < 0:
            rows.filter(documents=0).delete()


def respell(batch: Collection[str]) -> None:
    """Store the misspellings of those words that have become worth correcting to, drop those of words that no longer are."""
    worth = Q(headings__gt=0) | Q(documents__gte=CORRECTS_FROM)
    changed = list(SearchTerm.objects.filter(term__in=batch).filter(Q(corrects=False) & worth | Q(corrects=True) & ~worth))
    if not changed:
        return
    gained, lost = ([term for term in changed if term.corrects is had] for had in (False, True))
    SearchDelete.objects.bulk_create(
        [SearchDelete(digest=digest, term=term) for term in gained for digest in misspellings(term.term)], batch_size=5000
    )
    for few in batches(lost, 20):
        digests = {digest for term in few for digest in misspellings(term.term)}
        SearchDelete.objects.filter(digest__in=digests, term_id__in=[term.pk for term in few]).delete()
    for term in changed:
        term.corrects = not term.corrects
    SearchTerm.objects.bulk_update(changed, ["corrects"], batch_size=BATCH)


def misspellings(term: str) -> list[int]:
    """Return the numbers by which a word is found when it is misspelt."""
    return sorted(deletes(term)) if correctable(term) else []


def worth_correcting_to(documents: int, headings: int) -> bool:
    """Tell whether a word's misspellings are stored."""
    return headings > 0 or documents >= CORRECTS_FROM


def batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Yield a list in parts of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]

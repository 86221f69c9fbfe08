"""Maintains the popularity tiers, and the copies of popularity by which candidates are limited.

Popularity itself is counted outside indexed rows (ListingStats); this copies it now and then, in batches, and writes only rows
that differ. Each batch is right by itself and takes its turn with publications: a run that is broken off, or two at once, leave
nothing wrong, and searches go on.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from ..models import ListingStats, SearchDocument
from ..models.search import Tier
from ..services.catalog_version import change_version
from .plan import TIER_SIZES
from .terms import batches

# Publications wait for one batch.
BATCH = 200

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Ranked:
    """What a ranking wrote."""

    listings: int
    moved: int
    recounted: int


def rank(progress: Progress) -> Ranked:
    """Put every listing on its tier and copy its popularity where it differs; newcomers lose their place in front.

    Args:
        progress: Told how many rows of how many are written.
    """
    places, stale = _misplaced(), _stale()
    due = sorted(places.keys() | stale)
    moved = recounted = 0
    for batch in batches(due, BATCH):
        with transaction.atomic():
            change_version()
            for tier in (Tier.TOP, Tier.UPPER, Tier.REST):
                here = SearchDocument.objects.filter(pk__in=[pk for pk in batch if places.get(pk) == tier])
                # One that was hidden or removed meanwhile stays so.
                moved += here.exclude(tier__in=(tier, Tier.HIDDEN)).update(tier=tier)
            recounted += SearchDocument.objects.filter(pk__in=stale.intersection(batch)).update(popularity=_purchases())
        progress(moved + recounted, len(places) + len(stale))
    return Ranked(listings=SearchDocument.objects.count(), moved=moved, recounted=recounted)


def _misplaced() -> dict[int, Tier]:
    """Return where the documents belong that are elsewhere."""
    shown = SearchDocument.objects.exclude(tier=Tier.HIDDEN)
    popular = shown.order_by(Coalesce("listing__stats__purchases", 0).desc(), F("listing__published_at").desc(), "listing_id")
    first = popular.values_list("pk", flat=True)[: TIER_SIZES[Tier.UPPER]]
    best = {pk: Tier.TOP if place < TIER_SIZES[Tier.TOP] else Tier.UPPER for place, pk in enumerate(first)}
    now = dict(shown.exclude(tier=Tier.REST).values_list("pk", "tier"))
    belongs = {pk: best.get(pk, Tier.REST) for pk in best.keys() | now.keys()}
    return {pk: tier for pk, tier in belongs.items() if now.get(pk, Tier.REST) != tier}


def _stale() -> set[int]:
    """Return the documents whose popularity has changed."""
    purchases = Coalesce("listing__stats__purchases", 0)
    return set(SearchDocument.objects.annotate(now=purchases).exclude(popularity=F("now")).values_list("pk", flat=True))


def _purchases() -> Coalesce:
    return Coalesce(Subquery(ListingStats.objects.filter(listing_id=OuterRef("listing_id")).values("purchases")[:1]), 0)

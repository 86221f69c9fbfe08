"""How many listings for sale have each value: from kept counts for categories and tiers, else counted in what matches."""

from collections import Counter
from collections.abc import Collection, Iterable
from enum import StrEnum

from django.db.models import F, QuerySet, Sum

from .. import labels
from ..models import ShelfItem
from .browse import shelf_counts

# The most frequent values of what vendors write freely.
VALUES = 50
# Where filters have no counts of their own, the values of so many items are counted.
COUNTED = 2_000


class Facet(StrEnum):
    """What is counted."""

    CATEGORY = "category"
    TIER = "tier"
    FILE_TYPE = "fileType"
    LICENSE = "license"


KINDS = {Facet.FILE_TYPE: "type:", Facet.LICENSE: "license:"}
Facets = dict[str, list[tuple[str, int]]]


def facets_on_shelf(names: Collection[Facet], category: str | None, tier: str | None, licenses: Iterable[str]) -> Facets:
    """Return the facets of a category and tier, one query of kept counts for each.

    Args:
        names: Which ones.
        category: A category's slug; every category when None.
        tier: A tier; every tier when None.
        licenses: The active licence tiers: what a vendor permits who named none.
    """
    found: Facets = {}
    for name in names:
        counts = shelf_counts(category, tier)
        column = F("category__slug") if name == Facet.CATEGORY else F("tier")
        if kind := KINDS.get(name):
            counts, column = shelf_counts(category, tier, labels=None).filter(label__startswith=kind), F("label")
        rows = counts.order_by().values(value=column).annotate(n=Sum("listings")).order_by("-n", "value")
        # One more: the licences' label for any.
        found[name.value] = _shown(name, Counter(dict(rows.values_list("value", "n")[: VALUES + 1])), licenses)
    return found


def facets_of(items: QuerySet[ShelfItem], names: Collection[Facet], licenses: Iterable[str]) -> Facets:
    """Return the facets of what matches, in one query; of no more than the first `COUNTED` items, whichever these are."""
    counted = ShelfItem.objects.filter(pk__in=items.order_by().values("pk")[:COUNTED])
    rows = list(counted.values_list("category__slug", "tier", "labels__labels"))
    counters: dict[Facet, Counter[str]] = {
        Facet.CATEGORY: Counter(category for category, _, _ in rows),
        Facet.TIER: Counter(tier for _, tier, _ in rows),
    }
    found = [label for _, _, text in rows for label in labels.read(text)]
    counters |= {name: Counter(label for label in found if label.startswith(kind)) for name, kind in KINDS.items()}
    return {name.value: _shown(name, counters[name], licenses) for name in names}


def _shown(name: Facet, counter: Counter[str], licenses: Iterable[str]) -> list[tuple[str, int]]:
    kind = KINDS.get(name, "")
    if name == Facet.LICENSE:
        permitted_anyway = counter[labels.ANY_LICENSE]
        counter = Counter({label: counter[label] + permitted_anyway for slug in licenses for label in [labels.label("license", slug)]})
    ranked = sorted(((value.removeprefix(kind), n) for value, n in counter.items() if n > 0), key=lambda pair: (-pair[1], pair[0]))
    return ranked[:VALUES]

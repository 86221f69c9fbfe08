"""Facet counts: from the stored counts where only category and tier are filtered by, otherwise counted among the matches."""

import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

from django.db import connection

from .. import labels
from .arms import Answers, Arm, ask, parameter
from .browse import Section

# The most frequent values of what vendors write freely.
VALUES = 50
# Where filters have no counts of their own, the values of so many items are counted.
COUNTED = 2_000
LICENSES, LABELLED = "licences", "labelled"


class Facet(StrEnum):
    """What is counted."""

    CATEGORY = "category"
    TIER = "tier"
    FILE_TYPE = "fileType"
    LICENSE = "license"


KINDS = {Facet.FILE_TYPE: "type:", Facet.LICENSE: "license:"}
# What an item's category and tier are written as, like labels and before them.
WRITTEN = {Facet.CATEGORY: "category:", Facet.TIER: "tier:"} | KINDS
# Texts put together to one.
_TOGETHER = {"postgresql": "string_agg", "sqlite": "group_concat"}
Facets = dict[str, list[tuple[str, int]]]


def facets_on(section: Section, names: Collection[Facet]) -> list[Arm]:
    """Ask for the facets of a category and tier, from kept counts (`facets_of_shelf`)."""
    return [*(_kept(name, section) for name in names), *_licenses(names)]


def facets_of_shelf(answers: Answers, names: Collection[Facet]) -> Facets:
    """Return what was asked by `facets_on`."""
    return {name.value: _shown(name, Counter({row.words: row.amount or 0 for row in answers[name]}), answers) for name in names}


def facets_within(items: str, names: Collection[Facet]) -> list[Arm]:
    """Ask for the facets of what matches, of no more than the first `COUNTED` items, whichever these are (`facets_of_items`).

    Args:
        items: The name of a table of items.
        names: Which ones.
    """
    together, separator = _TOGETHER[connection.vendor], labels.SEPARATOR
    # Put together from names of ours. The labels are looked up for each: the database would rather read all that there are.
    labelled = (
        f"SELECT '{LABELLED}', NULL, {together}('category:' || category.slug || '{separator}tier:' || item.tier || "  # noqa: S608
        "(SELECT labels FROM catalog_shelflabels shown WHERE shown.item_id = item.listing_id), ''), NULL, NULL, NULL, NULL FROM "
        f"(SELECT listing_id, category_id, tier FROM {items} LIMIT {COUNTED:d}) item "
        "JOIN catalog_category category ON category.id = item.category_id"
    )
    return [Arm(labelled), *_licenses(names)] if names else []


def facets_of_listings(ids: Sequence[uuid.UUID], names: Collection[Facet]) -> Facets:
    """Return the facets of these listings, as far as they are for sale, in one query."""
    if not ids:
        return {name.value: [] for name in names}
    sql = f"WITH matching AS (SELECT * FROM catalog_shelfitem WHERE listing_id IN ({', '.join(['%s'] * len(ids))})) "  # noqa: S608 - our own names
    return facets_of_items(ask(facets_within("matching", names), begin=Arm(sql, [parameter(each) for each in ids])), names)


def facets_of_items(answers: Answers, names: Collection[Facet]) -> Facets:
    """Return what was asked by `facets_within`."""
    found = Counter((answers[LABELLED][0].words or "").split(labels.SEPARATOR)) if names else Counter()
    counters = {name: Counter({label: n for label, n in found.items() if label.startswith(kind)}) for name, kind in WRITTEN.items()}
    return {name.value: _shown(name, counters[name], answers) for name in names}


def _kept(name: Facet, section: Section) -> Arm:
    """Ask for the most frequent values as they are counted, and one more: the licences' label for any."""
    value, kind, source = "tier", KINDS.get(name, ""), "catalog_shelfcount"
    if name == Facet.CATEGORY:
        value, source = (
            "slug",
            "catalog_shelfcount JOIN (SELECT id AS of_category, slug FROM catalog_category) named ON of_category = category_id",
        )
    elif kind:
        value = "label"
    of_kind = "label LIKE %s" if kind else "label = %s"
    where = f"{of_kind} AND {section.conditions}" if section.conditions else of_kind
    # Put together from names of ours.
    counts = f"SELECT {value} AS value, CAST(SUM(listings) AS bigint) AS n FROM {source} WHERE {where} GROUP BY {value}"  # noqa: S608
    most = f"SELECT value, n FROM ({counts}) counts WHERE n > 0 ORDER BY n DESC, value LIMIT {VALUES + 1:d}"  # noqa: S608
    return Arm(f"SELECT '{name}', NULL, value, NULL, n, NULL, NULL FROM ({most}) most", [f"{kind}%" if kind else "", *section.params])  # noqa: S608


def _licenses(names: Collection[Facet]) -> list[Arm]:
    """Ask for the active licence tiers: what a vendor permits who named none."""
    active = f"SELECT '{LICENSES}', NULL, slug, NULL, NULL, NULL, NULL FROM catalog_licensetier WHERE is_active"  # noqa: S608 - our own names
    return [Arm(active)] if Facet.LICENSE in names else []


def _shown(name: Facet, counter: Counter[str], answers: Answers) -> list[tuple[str, int]]:
    kind = WRITTEN[name]
    if name == Facet.LICENSE:
        permitted_anyway, active = counter[labels.ANY_LICENSE], _active(answers)
        counter = Counter({label: counter[label] + permitted_anyway for label in active})
    ranked = sorted(((value.removeprefix(kind), n) for value, n in counter.items() if n > 0), key=lambda pair: (-pair[1], pair[0]))
    return ranked[:VALUES]


def _active(answers: Answers) -> Iterable[str]:
    return [labels.license_label(row.words) for row in answers[LICENSES]]

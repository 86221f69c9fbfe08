"""Finds what filters keep of the shelf, in two statements at most; the one place of browsing where engines differ.

The first is asked only for labels: how many items have each is kept (ShelfCount), which decides how they are found. Few are
collected and then ordered; of many, an order's first page is soon complete by walking along the order and looking at each item.
The database's own guess at a rare label, or at two that never meet, would make it walk along a million items. The second returns
the page, the total and the facets at once.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import QuerySet

from .. import labels
from ..models import ShelfItem
from . import facets
from .arms import Answer, Arm, ask, figure
from .browse import ORDERS, TOTAL, Place, Row, Section, Sort, Total, after_place, page_arm, place_params, rows_of
from .facets import Facet, Facets, facets_of_items, facets_within
from .label_conditions import Group, has, labelled, places

# Counted one by one up to here, where filters have no counts of their own.
CAP = 5_000
# So many are collected.
FEW = 10_000
# Where several labels are asked for, so many items are looked at for how many have them all; walked along where it is one in so many.
SAMPLE, ONE_IN = 5_000, 100
# What one item in so many has at least is looked for in its text: that is quicker than to take the text apart, as the index does.
COMMON = 20
# Where a sample says so many times the cap, there are more than the cap: that is all that counting would tell.
SURELY = 5
COLUMNS = ("listing_id", "category_id", "tier", "usd", "eur", *dict.fromkeys(column for order in ORDERS.values() for column in order[:-1]))
LICENSED, SAMPLED, COUNTED = "licensed", "sampled", "counted"

# What a price must be: a column with a comparison, and what it is compared with.
Bound = tuple[str, int]


class Matching(NamedTuple):
    """What filters keep.

    Args:
        sql: A SELECT of the shelf's columns, without what labels and prices ask.
        params: Its parameters.
        groups: Of labels, one of each is asked for.
        prices: Of prices, each is kept.
        section: The category and tier, where nothing else is asked for but labels.
    """

    sql: str
    params: tuple[Any, ...]
    groups: tuple[Group, ...] = ()
    prices: tuple[Bound, ...] = ()
    section: Section | None = None

    @classmethod
    def of(
        cls, items: QuerySet[ShelfItem], groups: Sequence[Group] = (), prices: Sequence[Bound] = (), section: Section | None = None
    ) -> "Matching":
        """Return what a query keeps, as SQL that need not be made again."""
        sql, params = items.order_by().values(*COLUMNS).query.sql_with_params()
        return cls(sql, tuple(params), tuple(groups), tuple(prices), section)

    def within(self, column: str) -> Arm:
        """Return the condition that a column holds one of their ids, for a statement that looks for something else as well."""
        kept = self.keeping([has(group, walk=connection.vendor == "sqlite") for group in self.groups])
        return Arm(f"{column} IN (SELECT listing_id {kept.sql})", kept.params)

    def queryset(self) -> QuerySet[ShelfItem]:
        """Return what is kept as a queryset."""
        kept = self.within("catalog_shelfitem.listing_id")
        return ShelfItem.objects.extra(where=[kept.sql], params=list(kept.params))  # noqa: S610 - our own names

    def keeping(self, conditions: Sequence[Arm], *, walk: bool = False) -> Arm:
        """Return FROM and WHERE of what is kept under these conditions and the prices.

        Args:
            conditions: On `matched`.
            walk: Look at each item's price, instead of collecting those that have it.
        """
        # SQLite, which knows nothing of how many have a price, would collect half of the catalog: no index knows a sum.
        plain = "+" if walk and connection.vendor == "sqlite" else ""
        conditions = [*(Arm(f"{plain}matched.{bound} %s", [value]) for bound, value in self.prices), *conditions]
        where = f" WHERE {' AND '.join(condition.sql for condition in conditions)}" if conditions else ""
        return Arm(f"FROM ({self.sql}) matched{where}", [*self.params, *(value for condition in conditions for value in condition.params)])


class Counted(NamedTuple):
    """How much matches, and what it is like: the same for each of its pages."""

    total: Total
    facets: Facets
    facets_are_exact: bool


class Found(NamedTuple):
    """A page of what matches, how much that is, and what it is like."""

    rows: list[Row]
    total: Total
    facets: Facets
    facets_are_exact: bool

    @property
    def counted(self) -> Counted:
        """What its other pages have in common with it."""
        return Counted(*self[1:])


class _Known(NamedTuple):
    """What is kept of labels.

    Args:
        groups: The rarest first.
        fewest: How many items have one of the rarest group.
        common: The groups of which many items have one.
        often: Whether many have one of each.
        total: How many items match, where that is counted already, or there are surely more than are counted.
        one_in: One item in so many matches, where that is counted.
    """

    groups: tuple[Group, ...] = ()
    fewest: int = 0
    common: frozenset[Group] = frozenset()
    often: bool = False
    total: Total | None = None
    one_in: float = 0.0

    def collects(self, items: int) -> bool:
        """Tell whether what has the rarest label is collected for so many items, instead of walking along the order until they are found."""
        if not self.groups or (len(self.groups) > 1 and not self.often):
            return bool(self.groups)
        walked = items * self.one_in
        return self.fewest <= FEW and not 0 < walked < self.fewest


def find(
    matching: Matching,
    *,
    sort: Sort,
    start: int,
    limit: int,
    after: Place | None = None,
    names: Collection[Facet] = (),
    counted: Counted | None = None,
) -> Found:
    """Return a page of what matches, with its total and facets.

    Args:
        matching: What the filters keep.
        sort: The order.
        start: How many items to pass over, without a place.
        limit: How many to return.
        after: The place to go on after.
        names: Facets.
        counted: Total and facets, where they were counted for another page.
    """
    known = _known(matching) if matching.groups or (matching.prices and connection.vendor == "sqlite") else _Known()
    if matching.groups and not known.fewest:
        return Found([], Total(0), {name.value: [] for name in names}, facets_are_exact=True)
    if counted is not None:
        known = known._replace(total=counted.total)
    beyond = known.total is not None and known.total.exact and after is None and start >= known.total.listings
    arms = [] if beyond else [_page(sort, limit, start, after, known)]
    arms += [] if known.total else [figure(TOTAL, "(SELECT n FROM counted)")]
    arms += [] if counted else facets_within("part", names)
    answers = ask(arms, begin=_matching(matching, known, collect=known.collects(start + limit)))
    if counted is not None:
        return Found(rows_of(answers, sort), *counted)
    total = known.total or _counted(answers[TOTAL])
    exact = total.exact and total.listings <= facets.COUNTED
    return Found(rows_of(answers, sort), total, facets_of_items(answers, names), exact)


def _counted(answers: Sequence[Answer]) -> Total:
    found = answers[0].amount or 0
    return Total(min(found, CAP), exact=found <= CAP)


def _page(sort: Sort, limit: int, start: int, after: Place | None, known: _Known) -> Arm:
    """Ask for a page of what matches; beyond the end, however far, nothing is looked for."""
    # What is counted no further than the cap is no more than has the rarest label, or than there is.
    most = Arm("%s", [known.fewest]) if known.groups else Arm("(SELECT SUM(listings) FROM catalog_shelfcount WHERE label = '')")
    if after is not None:
        condition, params = after_place(sort), [*place_params(after), 0]
    elif not start or (known.total and known.total.exact):
        condition, params = "", [start]
    elif known.total:
        condition, params = f"{most.sql} > %s", [*most.params, start, start]
    else:
        condition = f"(SELECT n > %s OR (n > {CAP:d} AND {most.sql} > %s) FROM counted)"  # noqa: S608 - our own names
        params = [start, *most.params, start, start]
    where = f" WHERE {condition}" if condition else ""
    return Arm(page_arm(sort, f"SELECT listing_id FROM matching{where}", limit), params)  # noqa: S608 - our own names


def _matching(matching: Matching, known: _Known, *, collect: bool) -> Arm:
    """Return what the statement begins with: the items that match, some of them, and how many they are as far as they are counted."""
    # Collected by the rarest label; of these each is looked at for the others.
    if not known.groups:
        conditions = []
    elif collect and connection.vendor == "postgresql":
        # The offset of nothing keeps PostgreSQL from weighing this against walking.
        all_of_them = labelled(known.groups, common=known.common)
        collected = f"matched.listing_id IN (SELECT item_id FROM catalog_shelflabels WHERE {all_of_them.sql} OFFSET 0)"  # noqa: S608 - our own names
        conditions = [Arm(collected, all_of_them.params)]
    else:
        rarest, *others = known.groups
        conditions = [
            has(rarest, walk=not collect, common=known.common),
            *(has(group, walk=True, common=known.common) for group in others),
        ]
    # Of many, the first are soon found along the order.
    kept = matching.keeping(conditions, walk=known.total is not None and not known.total.exact)
    # Put together from names of ours.
    sql = (
        f"WITH matching AS {'' if collect else 'NOT '}MATERIALIZED (SELECT * {kept.sql}), "  # noqa: S608
        f"part AS MATERIALIZED (SELECT listing_id, category_id, tier FROM matching LIMIT {facets.COUNTED if known.total else CAP + 1:d}), "
        "counted AS MATERIALIZED (SELECT COUNT(*) AS n FROM part) "
    )
    return Arm(sql, kept.params)


def _known(matching: Matching) -> _Known:
    """Return what is kept of the labels that are asked for, in one statement; on SQLite, what can be counted besides."""
    groups, section = matching.groups, matching.section
    # And no label: the whole shelf.
    asked = ["", *(label for group in groups for label in group)]
    of_section = f" FILTER (WHERE {section.conditions})" if section and section.conditions else ""
    # Put together from names of ours.
    counts = Arm(
        "WITH counts AS (SELECT label, CAST(SUM(listings) AS bigint) AS n, "  # noqa: S608
        f"CAST(COALESCE(SUM(listings){of_section}, 0) AS bigint) AS matching "
        f"FROM catalog_shelfcount WHERE label IN ({places(asked)}) GROUP BY label) ",
        [*(section.params if section else ()), *asked],
    )
    arms = [Arm("SELECT 'label', NULL, label, NULL, NULL, n, matching FROM counts")]
    licenses = [group[0] for group in groups if labels.ANY_LICENSE in group]
    # What is sold under every licence has a label of its own: whether there is such a licence is told by the licence.
    arms += [
        figure(LICENSED, "(SELECT COUNT(*) FROM catalog_licensetier WHERE is_active AND slug = %s)", [_value(name)]) for name in licenses
    ]
    if connection.vendor == "sqlite":
        arms += [_count(matching)] if matching.prices or len(groups) > 1 else []
    elif len(groups) > 1:
        arms.append(_sample(groups))
    answers = ask(arms, begin=counts)
    if licenses and not all(row.amount for row in answers[LICENSED]):
        return _Known()
    listings, of_matching = {row.words: row.first for row in answers["label"]}, {row.words: row.second for row in answers["label"]}
    totals = {group: sum(listings.get(label, 0) for label in group) for group in groups}
    rarest_first = tuple(sorted(groups, key=lambda group: totals[group]))
    sampled, total, one_in = sum(row.amount or 0 for row in answers[SAMPLED]), None, 0.0
    often = sampled * ONE_IN >= SAMPLE
    if answers[COUNTED] and answers[COUNTED][0].amount is not None:
        total = _counted(answers[COUNTED])
        often = not total.exact
    elif section is not None and len(groups) == 1:
        total = Total(sum(of_matching.get(label, 0) for label in groups[0]))
        one_in = of_matching.get("", 0) / max(total.listings, 1)
    elif section == Section() and sampled * listings.get("", 0) > SURELY * CAP * SAMPLE:
        total = Total(CAP, exact=False)
    common = frozenset(group for group in groups if totals[group] * COMMON >= listings.get("", 0))
    return _Known(rarest_first, totals[rarest_first[0]] if groups else 0, common, often, total, one_in)


def _count(matching: Matching) -> Arm:
    """Ask SQLite how many items match, as far as they are counted: from indexes alone, and only where each label has many."""
    enough = _many(matching.groups)
    kept = matching.keeping([has(group, walk=True) for group in matching.groups])
    # Put together from names of ours.
    counted = f"(CASE WHEN {enough.sql} THEN (SELECT COUNT(*) FROM (SELECT 1 {kept.sql} LIMIT {CAP + 1:d})) END)"  # noqa: S608
    return figure(COUNTED, counted, [*enough.params, *kept.params])


def _many(groups: Sequence[Group]) -> Arm:
    """Return the condition that each group has so many items that they are not collected."""
    conditions = [f"(SELECT SUM(n) FROM counts WHERE label IN ({places(group)})) > {FEW:d}" for group in groups]  # noqa: S608 - our own names
    return Arm(" AND ".join(conditions) or "TRUE", [label for group in groups for label in group])


def _sample(groups: Sequence[Group]) -> Arm:
    """Ask PostgreSQL how many of a sample of the shelf have a label of each group; looked at only where each has many."""
    condition, enough = labelled(groups, common=groups), _many(groups)
    on_sale = "(SELECT GREATEST(SUM(n), 1) FROM counts WHERE label = '')"
    # Put together from names of ours.
    sampled = (
        f"(SELECT COUNT(*) FROM catalog_shelflabels TABLESAMPLE SYSTEM (LEAST(100, 100.0 * {SAMPLE:d} / {on_sale})) "  # noqa: S608
        f"WHERE {enough.sql} AND {condition.sql})"
    )
    return figure(SAMPLED, sampled, [*enough.params, *condition.params])


def _value(label: str) -> str:
    return label.partition(":")[2]

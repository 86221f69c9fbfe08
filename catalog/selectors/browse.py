"""Pages of the whole shelf, of a category or a tier: in four orders, by number or after a cursor, with totals that do not count a million rows."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from .arms import Answer, Answers, Arm, ask, figure, identifier, parameter

ITEM, TOTAL, PLACE = "item", "total", "place"


class Sort(StrEnum):
    """The orders of browsing (reference section 4), whose prices are those in INR, and the orders by USD."""

    POPULAR = "popular"
    NEWEST = "newest"
    PRICE_ASC = "price_asc"
    PRICE_DESC = "price_desc"
    USD_ASC = "usd_asc"
    USD_DESC = "usd_desc"


# Those of the reference.
ASKED = (Sort.POPULAR, Sort.NEWEST, Sort.PRICE_ASC, Sort.PRICE_DESC)
# Each all ascending or all descending, all ending in the id: pages never overlap, and what comes after a place is one comparison.
ORDERS: dict[Sort, tuple[str, ...]] = {
    Sort.POPULAR: ("unpopularity", "newest", "listing_id"),
    Sort.NEWEST: ("newest", "listing_id"),
    Sort.PRICE_ASC: ("price_up", "listing_id"),
    Sort.PRICE_DESC: ("price_down", "listing_id"),
    Sort.USD_ASC: ("usd", "listing_id"),
    Sort.USD_DESC: ("usd", "listing_id"),
}
# Every listing has a price in USD: the one index is read from either end.
DESCENDING = frozenset({Sort.USD_DESC})
# The values of an order's columns in one row.
Place = tuple[int | uuid.UUID, ...]


class Row(NamedTuple):
    """What a list shows of a listing, and its place in the order."""

    id: uuid.UUID
    title: str
    inr: int | None
    tier: str
    place: Place


@dataclass(frozen=True)
class Total:
    """How many listings there are; at least as many where they were not counted to the end."""

    listings: int
    exact: bool = True


class Section(NamedTuple):
    """The part of the shelf that is browsed: a category's slug and a tier; None means all of them."""

    category: str | None = None
    tier: str | None = None

    @property
    def conditions(self) -> str:
        """What keeps its items, and its counts."""
        in_category = "category_id = (SELECT id FROM catalog_category WHERE slug = %s)"
        return " AND ".join(condition for condition, value in ((in_category, self.category), ("tier = %s", self.tier)) if value is not None)

    @property
    def params(self) -> list[str]:
        """The parameters of these."""
        return [value for value in self if value is not None]


def page_on_shelf(
    section: Section, *, sort: Sort, start: int, limit: int, after: Place | None = None, besides: Sequence[Arm] = ()
) -> Answers:
    """Return the answers to what is asked besides, and a page (`rows_of`), in SQL whose making costs nothing.

    Args:
        section: Of what.
        sort: The order.
        start: How many items to pass over.
        limit: How many to return.
        after: The place to go on after.
        besides: What else the statement shall answer.
    """
    sql = _page_sql(sort, section.conditions, after is not None, limit)
    page = Arm(sql, [*section.params, *(place_params(after) if after else ()), start])
    return ask([page, *besides])


def rows_of(answers: Answers, sort: Sort) -> list[Row]:
    """Return the rows of a page, in order."""
    rows = [Row(identifier(row.id), row.words, row.amount, row.tier, _place(row, sort)) for row in answers[ITEM]]
    rows.sort(key=lambda row: row.place, reverse=sort in DESCENDING)
    return rows


def total_on(section: Section) -> Arm:
    """Ask for how many listings for sale there are, as they are counted already (`total_of`)."""
    return figure(TOTAL, _total_sql(section.conditions), section.params)


def total_of(answers: Answers) -> Total:
    """Return what was asked by `total_on`."""
    return Total(answers[TOTAL][0].amount or 0)


def places_on_shelf(
    section: Section, *, sort: Sort, every: int, many: int, after: Place | None = None, beyond: int | None = None
) -> tuple[list[Place], Total | None]:
    """Return the places of up to so many items, one in every so many, counted from the beginning or a place.

    Args:
        section: Of what.
        sort: The order.
        every: How many items lie from one place to the next.
        many: How many places at most.
        after: The place to begin at.
        beyond: Return the total as well, and no places to speak of where it is no more than this.
    """
    begin = [] if after is None else place_params(after)
    most = "%s" if beyond is None else f"CASE WHEN {_total_sql(section.conditions)} > %s THEN %s ELSE 0 END"
    bound = [many] if beyond is None else [*section.params, beyond, many]
    sql = _places_sql(sort, section.conditions, after is not None, every, most)
    # Put together from names of ours.
    places = Arm(f"SELECT '{PLACE}', listing_id, NULL, NULL, number, {_two_keys(sort)} FROM places")  # noqa: S608
    arms = [places] if beyond is None else [places, total_on(section)]
    answers = ask(arms, begin=Arm(sql, [*section.params, *begin, *section.params, *bound]))
    found = [_place(row, sort) for row in sorted(answers[PLACE], key=lambda row: row.amount or 0)]
    return found, None if beyond is None else total_of(answers)


def _total_sql(conditions: str) -> str:
    where = f" AND {conditions}" if conditions else ""
    # Put together from names of ours.
    return f"(SELECT CAST(COALESCE(SUM(listings), 0) AS bigint) FROM catalog_shelfcount WHERE label = ''{where})"  # noqa: S608


@cache
def _places_sql(sort: Sort, conditions: str, after: bool, every: int, most: str) -> str:  # noqa: FBT001 - a key of the cache
    """Return the beginning of a statement that leaps from place to place in the order's index: a third of the time of numbering them."""
    order = ORDERS[sort]
    keys, known, found = (", ".join(f"{prefix}{column}" for column in order) for prefix in ("", "places.", "item."))
    leap = f"ORDER BY {_ordered(sort)} LIMIT 1 OFFSET {every - 1:d}"
    begin = _where(sort, conditions, after)
    further = f"WHERE {f'{conditions} AND ' if conditions else ''}({keys}) {_beyond(sort)} ({known}) "
    # Put together from names of ours.
    return (
        f"WITH RECURSIVE places AS (SELECT {keys}, CAST(1 AS bigint) AS number FROM "  # noqa: S608
        f"(SELECT {keys} FROM catalog_shelfitem {begin}{leap}) first "
        f"UNION ALL SELECT {found}, places.number + 1 FROM places JOIN catalog_shelfitem item ON item.listing_id = "
        f"(SELECT listing_id FROM catalog_shelfitem {further}{leap}) WHERE places.number < {most}) "
    )


@cache
def _page_sql(sort: Sort, conditions: str, after: bool, limit: int) -> str:  # noqa: FBT001 - a key of the cache
    """Return the arm of a page.

    The limit is a part of it: without one, a plan made ahead would be for a large part of the catalog.
    """
    return page_arm(sort, f"SELECT listing_id FROM catalog_shelfitem {_where(sort, conditions, after)}", limit)  # noqa: S608 - our own names


def page_arm(sort: Sort, items: str, limit: int) -> str:
    """Return the arm of a page: the ids from the order's index alone, then the rows of these.

    Args:
        sort: The order.
        items: A SELECT of the ids of what there is to choose from.
        limit: How many; how many are passed over is the parameter after those of the items.
    """
    # Put together from the names above.
    return (
        f"SELECT '{ITEM}', item.listing_id, listing.title, item.tier, item.inr, {_two_keys(sort, 'item.')} FROM "  # noqa: S608
        f"({items} ORDER BY {_ordered(sort)} LIMIT {limit:d} OFFSET %s) page "
        "JOIN catalog_shelfitem item ON item.listing_id = page.listing_id JOIN catalog_listing listing ON listing.id = page.listing_id"
    )


def after_place(sort: Sort) -> str:
    """Return the condition of what comes after a place, whose parameters are `place_params`."""
    order = ORDERS[sort]
    return f"({', '.join(order)}) {_beyond(sort)} ({', '.join(['%s'] * len(order))})"


def ordering(sort: Sort) -> list[str]:
    """Return an order of the shelf's items as the ORM takes it."""
    return [f"-{column}" if sort in DESCENDING else column for column in ORDERS[sort]]


def place_params(place: Place) -> list[Any]:
    """Return a place as parameters."""
    return [parameter(value) for value in place]


def _where(sort: Sort, section: str, after: bool) -> str:  # noqa: FBT001 - as above
    conditions = " AND ".join(condition for condition in (section, after_place(sort) if after else "") if condition)
    return f"WHERE {conditions} " if conditions else ""


def _ordered(sort: Sort) -> str:
    return ", ".join(f"{column} DESC" if sort in DESCENDING else column for column in ORDERS[sort])


def _beyond(sort: Sort) -> str:
    return "<" if sort in DESCENDING else ">"


def _two_keys(sort: Sort, prefix: str = "") -> str:
    """Return an order's columns before the id; another one stands for the second where there is only one."""
    first, *others, _ = ORDERS[sort]
    return f"{prefix}{first}, {prefix}{others[0]}" if others else f"{prefix}{first}, 0"


def _place(row: Answer, sort: Sort) -> Place:
    return (*(row.first, row.second)[: len(ORDERS[sort]) - 1], identifier(row.id))

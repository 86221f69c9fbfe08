"""Puts the answer of browsing together: filters, total, page, the next page's cursor, facets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

from marketplace.core import bounds
from marketplace.core.api.serializers import parse_values

from .. import selectors
from ..selectors import Counted, Facet, Found, Place, Section, Sort, Total
from . import cursors
from . import representations as shown
from .caching import Memo
from .filters import COUNTED, matching_of
from .serializers import BrowseQuery

FILTERS = (*sorted(COUNTED), "vendor", "license", "tag", "platform", "fileType", "minPrice", "maxPrice", "currency")
# From here on a page is counted from the nearest of the places that lie so many items apart.
DEEP = 1_000
PARAMETERS = frozenset(BrowseQuery().fields)


@dataclass(frozen=True)
class Browsing:
    """A validated query.

    Args:
        filters: Those that were given.
        sort: The order.
        limit: Items of a page.
        page: The page's number.
        after: Where the page goes on; None to count from the beginning.
        facets: What is counted besides.
    """

    filters: Mapping[str, Any]
    sort: Sort
    limit: int
    page: int
    after: Place | None = None
    facets: list[Facet] = field(default_factory=list)

    @property
    def section(self) -> Section:
        """The category and tier."""
        return Section(self.filters.get("category"), self.filters.get("tier"))

    @property
    def start(self) -> int:
        """How many items the page's number passes over."""
        return 0 if self.after else (self.page - 1) * self.limit

    @classmethod
    def of(cls, query: Mapping[str, Any]) -> "Browsing":
        """Return what a query asks for.

        Raises:
            serializers.ValidationError: its cursor is not one of this order and these filters.
        """
        filters = filters_of(query)
        sort, limit, facets = Sort(query["sort"]), query["limit"], query.get("facets", [])
        page, after = query["page"], None
        if "cursor" in query:
            page, after = cursors.decode(query["cursor"], sort=sort, filters=filters)
        return cls(filters, sort, limit, page, after, facets)


def filters_of(query: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters of a validated query."""
    filters = {name: query[name] for name in FILTERS if name in query}
    if not filters.keys() & {"minPrice", "maxPrice"}:
        # A currency alone asks for nothing.
        filters.pop("currency", None)
    return filters


@lru_cache(maxsize=1024)
def browsing_of(parameters: tuple[tuple[str, str], ...]) -> Browsing:
    """Return what good parameters ask for; most requests ask for what others did.

    Raises:
        serializers.ValidationError: one of them is bad, named `?parameter`.
    """
    return Browsing.of(parse_values(BrowseQuery, dict(parameters)))


def parameters_of(query: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a query that browsing knows; the last of repeated ones counts, an empty one is as good as none."""
    return tuple(sorted((name, value) for name, value in query.items() if name in PARAMETERS and value != ""))


def answer(browsing: Browsing, memo: Memo) -> dict[str, Any]:
    """Return the answer of GET assets, in two queries at most, whatever it asks for."""
    found = _on_shelf(browsing, memo) if browsing.filters.keys() <= COUNTED else _within_filters(browsing, memo)
    rows, cursor = found.rows[: browsing.limit], None
    if len(found.rows) > browsing.limit and browsing.page < bounds.PAGE:
        cursor = cursors.encode(rows[-1].place, page=browsing.page + 1, sort=browsing.sort, filters=browsing.filters)
    body = shown.asset_page(rows, total=found.total, page=browsing.page, cursor=cursor)
    return body | shown.facets(found.facets, exact=found.facets_are_exact) if browsing.facets else body


def _within_filters(browsing: Browsing, memo: Memo) -> Found:
    """Return a page of what filters keep that the shelf keeps no order of, and one row more; total and facets are counted once likewise."""
    name = f"counted:{sorted(browsing.filters.items())!r}{browsing.facets!r}"
    counted: Counted | None = memo.known(name)
    found = selectors.find(
        matching_of(browsing.filters),
        sort=browsing.sort,
        start=browsing.start,
        limit=browsing.limit + 1,
        after=browsing.after,
        names=browsing.facets,
        counted=counted,
    )
    if counted is None and found.total.listings:
        memo.put(name, found.counted)
    return found


def _on_shelf(browsing: Browsing, memo: Memo) -> Found:
    """Return a page of a category and tier, and one row more; the total is counted once until the catalog changes."""
    section, sort, name = browsing.section, browsing.sort, f"total:{tuple(browsing.section)!r}"
    remembered: Total | None = memo.known(name)
    total = remembered
    begin = _begin(browsing, total)
    if begin is not None and begin.start >= DEEP:
        begin, total = _near(browsing, total, memo)
    besides = [*([selectors.total_on(section)] if total is None else []), *selectors.facets_on(section, browsing.facets)]
    if begin is None:
        answers = selectors.ask(besides)
    else:
        limit = browsing.limit + 1
        answers = selectors.page_on_shelf(section, sort=sort, start=begin.start, limit=limit, after=begin.after, besides=besides)
    if total is None:
        total = selectors.total_of(answers)
    # Nobody fills the memory with names that there are not.
    if remembered is None and total.listings:
        memo.put(name, total)
    return Found(selectors.rows_of(answers, sort), total, selectors.facets_of_shelf(answers, browsing.facets), facets_are_exact=True)


class Begin(NamedTuple):
    """Where a page begins: so many items after a place, or after the beginning."""

    start: int
    after: Place | None = None


def _begin(browsing: Browsing, total: Total | None) -> Begin | None:
    """Return where a page begins; None beyond the end, however far."""
    if browsing.after is not None:
        return Begin(0, browsing.after)
    return Begin(browsing.start) if total is None or browsing.start < total.listings else None


def _near(browsing: Browsing, total: Total | None, memo: Memo) -> tuple[Begin | None, Total]:
    """Return where a page begins that lies deep, counted from the nearest known place before it, and the total.

    Places, one in every `DEEP` items, are counted once until the catalog changes, as far as somebody asks. They are forgotten after a
    while besides: purchases move listings in `popular` without a change of the catalog, and pages must not drift further apart
    than cached answers may.
    """
    section, sort, name = browsing.section, browsing.sort, f"places:{(browsing.sort.value, *browsing.section)!r}"
    # Of a shelf of which nothing is known yet they are remembered when it has turned out to reach so far.
    places = Places() if total is None else memo.get(name, Places)
    number, passed = divmod(browsing.start, DEEP)
    with places.lock:
        missing = number - len(places.known)
        if missing > 0:
            last = places.known[-1] if places.known else None
            beyond = browsing.start if total is None else None
            found, counted = selectors.places_on_shelf(section, sort=sort, every=DEEP, many=missing, after=last, beyond=beyond)
            if counted is not None:
                total = counted
                if total.listings <= browsing.start:
                    return None, total
                memo.put(name, places)
            places.known += found
        # The shelf may have become shorter than its count was.
        begin = Begin(passed, places.known[number - 1]) if number <= len(places.known) else None
    return begin, total or Total(0)


class Places:
    """The places after every `DEEP` items of an order."""

    def __init__(self) -> None:
        self.known: list[Place] = []
        # Whoever else asks waits for the one that counts.
        self.lock = Lock()

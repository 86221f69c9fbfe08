"""Puts the answer of browsing together: filters, total, page, the next page's cursor, facets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from marketplace.core import bounds
from marketplace.core.api.serializers import parse_values

from .. import selectors
from ..selectors import Facet, Found, Place, Section, Sort
from . import cursors
from . import representations as shown
from .filters import COUNTED, matching_of
from .serializers import BrowseQuery

FILTERS = (*sorted(COUNTED), "vendor", "license", "tag", "platform", "fileType", "minPrice", "maxPrice", "currency")
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


def answer(browsing: Browsing) -> dict[str, Any]:
    """Return the answer of GET assets, in two queries at most, whatever it asks for."""
    found = _on_shelf(browsing) if browsing.filters.keys() <= COUNTED else _within_filters(browsing)
    rows, cursor = found.rows[: browsing.limit], None
    if len(found.rows) > browsing.limit and browsing.page < bounds.PAGE:
        cursor = cursors.encode(rows[-1].place, page=browsing.page + 1, sort=browsing.sort, filters=browsing.filters)
    body = shown.asset_page(rows, total=found.total, page=browsing.page, cursor=cursor)
    return body | shown.facets(found.facets, exact=found.facets_are_exact) if browsing.facets else body


def _within_filters(browsing: Browsing) -> Found:
    """Return a page of what filters keep that the shelf keeps no order of, and one row more."""
    return selectors.find(
        matching_of(browsing.filters),
        sort=browsing.sort,
        start=browsing.start,
        limit=browsing.limit + 1,
        after=browsing.after,
        names=browsing.facets,
    )


def _on_shelf(browsing: Browsing) -> Found:
    """Return a page of a category and tier, and one row more."""
    section, sort = browsing.section, browsing.sort
    besides = [selectors.total_on(section), *selectors.facets_on(section, browsing.facets)]
    answers = selectors.page_on_shelf(
        section, sort=sort, start=browsing.start, limit=browsing.limit + 1, after=browsing.after, besides=besides
    )
    return Found(
        selectors.rows_of(answers, sort),
        selectors.total_of(answers),
        selectors.facets_of_shelf(answers, browsing.facets),
        facets_are_exact=True,
    )

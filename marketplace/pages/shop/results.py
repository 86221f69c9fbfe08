"""What the storefront shows for a state: a page of cards, how many there are, and what one can narrow by. The API's own selectors."""

import math
from dataclasses import dataclass
from typing import Any

from catalog import selectors
from catalog.api.filters import COUNTED, matching_of
from catalog.search import search
from catalog.selectors import Card, Counts, Names, Row, Section, Sort, Total
from marketplace.core import bounds
from marketplace.core.money import Currency

from .query import ShopForm

PAGE_SIZE = 24


@dataclass(frozen=True)
class Results:
    """A page of the storefront.

    Args:
        cards: Its listings.
        total: How many there are in all.
        pages: How many pages.
        names: Categories and licences to choose from.
        counts: How many listings each choice has; None where a search ranks instead of counting.
    """

    cards: list[Card]
    total: Total
    pages: int
    names: Names
    counts: Counts | None


def results_of(form: ShopForm, currency: Currency) -> Results:
    """Return what is shown: in four queries, or six for a search; labels that narrow cost one more, however many."""
    filters = form.filters(currency)
    category, tier = filters.get("category"), filters.get("tier")
    start, order = (form.page_number - 1) * PAGE_SIZE, form.order_in(currency)
    if form.query:
        return _found(form, filters)
    names, counts = selectors.names_to_choose_from(), selectors.counts_to_choose_from(category, tier)
    if filters.keys() <= COUNTED:
        total = Total(sum(counts.categories.values()) if category is None else counts.categories.get(category, 0))
        rows = [] if start >= total.listings else _rows(Section(category, tier), order, start)
    else:
        page = selectors.find(matching_of(filters), sort=order, start=start, limit=PAGE_SIZE)
        total, rows = page.total, page.rows
    cards = selectors.cards_of(row.id for row in rows)
    return Results(cards, total, math.ceil(total.listings / PAGE_SIZE), names, counts)


def _rows(section: Section, order: Sort, start: int) -> list[Row]:
    return selectors.rows_of(selectors.page_on_shelf(section, sort=order, start=start, limit=PAGE_SIZE), order)


def _found(form: ShopForm, filters: dict[str, Any]) -> Results:
    """Return the best hits of a search: one page, for what comes after them is no answer."""
    names = selectors.names_to_choose_from()
    hits = search(form.query, within=matching_of(filters).queryset() if filters else None, limit=bounds.SEARCH_LIMIT).hits
    cards = selectors.cards_of(hit.id for hit in hits)
    return Results(cards, Total(len(cards), exact=len(hits) < bounds.SEARCH_LIMIT), 1, names, None)


def page_numbers(current: int, pages: int) -> list[int | None]:
    """Return the numbers to link to: the ends and the neighbours; None where some are left out."""
    near = sorted({1, pages, *range(max(1, current - 1), min(pages, current + 1) + 1)} - {0})
    found: list[int | None] = []
    for number in near:
        if found and found[-1] is not None and number - found[-1] > 1:
            found.append(number - 1 if number - found[-1] == 2 else None)
        found.append(number)
    return found

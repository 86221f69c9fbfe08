"""The results of the storefront: a page of cards, their number, and the filters to choose from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from catalog import bounds
from catalog.filters import IndexRows, ListingFilter
from catalog.search import search
from catalog.selectors.browse import CARDS, Row, Total, list_listings
from catalog.selectors.cards import FilterCounts, FilterNames, card_of, cards_of, filter_counts, filter_names, popular_cards
from marketplace.core.money import Currency

from .query import ShopForm

PAGE_SIZE = 24
# Shown where nothing matches.
POPULAR = 3


@dataclass(frozen=True)
class ShopResults:
    """A page of the storefront."""

    cards: list[Row]
    total: Total
    pages: int
    # Categories and licences to choose from.
    names: FilterNames
    # How many listings each choice has; None where a search ranks instead of counting.
    counts: FilterCounts | None
    # For a search without hits, similar words that have some.
    suggestions: Sequence[str] = ()
    # What is bought most, where nothing matches.
    popular: Sequence[Row] = ()


def results_of(form: ShopForm, currency: Currency) -> ShopResults:
    """Return the results, in six queries at most besides those of a search."""
    given = form.given | {"currency": currency}
    listings = ListingFilter.matching(CARDS, given)
    names = filter_names(form.chosen)
    if form.query:
        return _search_results(form.query, listings if given.keys() - {"currency"} else None, names)
    page = list_listings(listings, given, sort=form.order, limit=PAGE_SIZE, start=(form.page_number - 1) * PAGE_SIZE)
    counts = filter_counts(form.chosen.get("category"), form.chosen.get("tier"))
    cards = [card_of(row) for row in page.rows]
    return ShopResults(cards, page.total, math.ceil(page.total.count / PAGE_SIZE), names, counts, popular=_popular_if_empty(page.total))


def _search_results(query: str, listings: IndexRows | None, names: FilterNames) -> ShopResults:
    """Return the best hits of a search, on one page."""
    found = search(query, within=listings, limit=bounds.SEARCH_LIMIT)
    cards = cards_of(hit.id for hit in found.hits)
    total = Total(len(cards), exact=found.next_cursor is None)
    return ShopResults(cards, total, 1, names, None, found.alternatives, popular=_popular_if_empty(total))


def _popular_if_empty(total: Total) -> Sequence[Row]:
    return () if total.count else popular_cards(limit=POPULAR)

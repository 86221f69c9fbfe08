"""What can be read of the catalog."""

from .browse import Place, Row, Sort, Total, page_after, page_of, page_on_shelf, places_on_shelf, total_matching, total_on_shelf
from .cards import (
    Card,
    Counts,
    Names,
    Picture,
    cards_of,
    cards_on_shelf,
    counts_to_choose_from,
    items_of_store,
    names_to_choose_from,
    newest_addresses,
    open_store,
    picture_of,
)
from .detail import detail_for_sale
from .facets import COUNTED as FACETED
from .facets import Facet, Facets, facets_of, facets_on_shelf
from .listings import listing_for_sale, listings_for_sale, preview_by_id
from .taxonomy import active_tiers, categories_with_counts, category_names

__all__ = [
    "FACETED",
    "Card",
    "Counts",
    "Facet",
    "Facets",
    "Names",
    "Picture",
    "Place",
    "Row",
    "Sort",
    "Total",
    "active_tiers",
    "cards_of",
    "cards_on_shelf",
    "categories_with_counts",
    "category_names",
    "counts_to_choose_from",
    "detail_for_sale",
    "facets_of",
    "facets_on_shelf",
    "items_of_store",
    "listing_for_sale",
    "listings_for_sale",
    "names_to_choose_from",
    "newest_addresses",
    "open_store",
    "page_after",
    "page_of",
    "page_on_shelf",
    "picture_of",
    "places_on_shelf",
    "preview_by_id",
    "total_matching",
    "total_on_shelf",
]

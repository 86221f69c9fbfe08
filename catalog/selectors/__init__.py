"""What can be read of the catalog."""

from .arms import ask
from .browse import Place, Row, Section, Sort, Total, page_on_shelf, places_on_shelf, rows_of, total_of, total_on
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
    slugs_for_sale,
)
from .detail import detail_for_sale
from .facets import COUNTED as FACETED
from .facets import Facet, Facets, facets_of_listings, facets_of_shelf, facets_on
from .listings import listing_for_sale, listings_for_sale, preview_by_id, titles_of
from .matching import Counted, Found, Matching, find
from .taxonomy import active_tiers, categories_with_counts, category_names, every_tier

__all__ = [
    "FACETED",
    "Card",
    "Counted",
    "Counts",
    "Facet",
    "Facets",
    "Found",
    "Matching",
    "Names",
    "Picture",
    "Place",
    "Row",
    "Section",
    "Sort",
    "Total",
    "active_tiers",
    "ask",
    "cards_of",
    "cards_on_shelf",
    "categories_with_counts",
    "category_names",
    "counts_to_choose_from",
    "detail_for_sale",
    "every_tier",
    "facets_of_listings",
    "facets_of_shelf",
    "facets_on",
    "find",
    "items_of_store",
    "listing_for_sale",
    "listings_for_sale",
    "names_to_choose_from",
    "newest_addresses",
    "open_store",
    "page_on_shelf",
    "picture_of",
    "places_on_shelf",
    "preview_by_id",
    "rows_of",
    "slugs_for_sale",
    "titles_of",
    "total_of",
    "total_on",
]

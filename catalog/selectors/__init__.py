"""What can be read of the catalog."""

from .browse import Place, Row, Sort, Total, page_after, page_of, page_on_shelf, total_matching, total_on_shelf
from .detail import detail_for_sale
from .facets import Facet, Facets, facets_of, facets_on_shelf
from .listings import listing_for_sale, listings_for_sale, preview_by_id
from .taxonomy import active_tiers, categories_with_counts, category_names

__all__ = [
    "Facet",
    "Facets",
    "Place",
    "Row",
    "Sort",
    "Total",
    "active_tiers",
    "categories_with_counts",
    "category_names",
    "detail_for_sale",
    "facets_of",
    "facets_on_shelf",
    "listing_for_sale",
    "listings_for_sale",
    "page_after",
    "page_of",
    "page_on_shelf",
    "preview_by_id",
    "total_matching",
    "total_on_shelf",
]

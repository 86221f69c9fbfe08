"""What can be read of the catalog."""

from .listings import Sort, browse_rows, listing_for_sale, listings_for_sale, preview_by_id
from .taxonomy import active_tiers, categories_with_counts, category_names

__all__ = [
    "Sort",
    "active_tiers",
    "browse_rows",
    "categories_with_counts",
    "category_names",
    "listing_for_sale",
    "listings_for_sale",
    "preview_by_id",
]

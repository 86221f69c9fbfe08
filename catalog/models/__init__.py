"""The catalog's tables."""

from .files import Deliverable, Preview
from .listings import Listing, ListingStats
from .manifests import AgentManifest
from .reviews import ListingReview
from .taxonomy import Category, LicenseTier, Store

__all__ = [
    "AgentManifest",
    "Category",
    "Deliverable",
    "LicenseTier",
    "Listing",
    "ListingReview",
    "ListingStats",
    "Preview",
    "Store",
]

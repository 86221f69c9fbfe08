"""The catalog's tables."""

from .catalog_version import CatalogVersion
from .files import Deliverable, Preview
from .listings import Listing, ListingStats, UncountedPurchase
from .manifests import AgentManifest
from .reviews import ListingReview, RejectionReason
from .search import SearchDocument, SearchSynonym, SearchTerm
from .shelf import NO_INR, ShelfCount, ShelfItem, ShelfLabels
from .taxonomy import Category, LicenseTier, RetiredTerms, Store

__all__ = [
    "NO_INR",
    "AgentManifest",
    "CatalogVersion",
    "Category",
    "Deliverable",
    "LicenseTier",
    "Listing",
    "ListingReview",
    "ListingStats",
    "Preview",
    "RejectionReason",
    "RetiredTerms",
    "SearchDocument",
    "SearchSynonym",
    "SearchTerm",
    "ShelfCount",
    "ShelfItem",
    "ShelfLabels",
    "Store",
    "UncountedPurchase",
]

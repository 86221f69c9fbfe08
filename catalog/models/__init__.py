"""The catalog's tables."""

from .catalog_version import CatalogVersion
from .discounts import Discount
from .featured import FeaturedListing
from .files import Deliverable, FileFacts, FilePreview, FormerPreview, Preview, StorePicture
from .listing_index import LabelKind, ListingCount, ListingIndex, ListingLabel, ListingPrice
from .listings import Listing, ListingStats, PurchaseCountChange
from .manifests import AgentManifest
from .reviews import ListingReview, RejectionReason
from .search import SearchDocument, SearchSynonym, SearchTerm
from .taxonomy import Category, LicenseTerms, LicenseTier, Store

__all__ = [
    "AgentManifest",
    "CatalogVersion",
    "Category",
    "Deliverable",
    "Discount",
    "FeaturedListing",
    "FileFacts",
    "FilePreview",
    "FormerPreview",
    "LabelKind",
    "LicenseTerms",
    "LicenseTier",
    "Listing",
    "ListingCount",
    "ListingIndex",
    "ListingLabel",
    "ListingPrice",
    "ListingReview",
    "ListingStats",
    "Preview",
    "PurchaseCountChange",
    "RejectionReason",
    "SearchDocument",
    "SearchSynonym",
    "SearchTerm",
    "Store",
    "StorePicture",
]

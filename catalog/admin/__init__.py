"""The catalog's admin: the review queue, listings, files and taxonomy."""

from .discounts import DiscountAdmin
from .featured import FeaturedListingAdmin
from .files import DeliverableAdmin
from .listings import ListingAdmin
from .reviews import ListingReviewAdmin
from .taxonomy import CategoryAdmin, LicenseTermsAdmin, LicenseTierAdmin, RejectionReasonAdmin, SearchSynonymAdmin, StoreAdmin

__all__ = [
    "CategoryAdmin",
    "DeliverableAdmin",
    "DiscountAdmin",
    "FeaturedListingAdmin",
    "LicenseTermsAdmin",
    "LicenseTierAdmin",
    "ListingAdmin",
    "ListingReviewAdmin",
    "RejectionReasonAdmin",
    "SearchSynonymAdmin",
    "StoreAdmin",
]

"""Reads of the vendor side."""

from django.db.models import QuerySet, prefetch_related_objects

from catalog.models import Deliverable, Listing, ListingReview, Store
from catalog.selectors.listings import lookup
from marketplace.accounts.models import User
from marketplace.core.errors import NotFound

from .errors import VendorNotApproved, VendorProfileMissing
from .models import VendorProfile, VendorStatus


def profile_of(user: User) -> VendorProfile:
    """Return the user's vendor profile with its store.

    Raises:
        VendorProfileMissing: the user has not applied.
    """
    profile = VendorProfile.objects.select_related("store").filter(user=user).first()
    if profile is None:
        raise VendorProfileMissing
    return profile


def approved_profile_of(user: User) -> VendorProfile:
    """Return the user's profile when it is approved.

    Raises:
        VendorNotApproved: there is none, or it is pending or suspended.
    """
    profile = VendorProfile.objects.select_related("store").filter(user=user).first()
    if profile is None or profile.status != VendorStatus.APPROVED:
        raise VendorNotApproved(vendorStatus=None if profile is None else profile.status)
    return profile


def listings_of(profile: VendorProfile) -> QuerySet[Listing]:
    """Return the vendor's listings, newest first, with what a record of them shows."""
    return Listing.objects.filter(store=profile.store_id).select_related("store", "category").order_by("-id")


def listing_of(profile: VendorProfile, asset_id: str) -> Listing:
    """Return the vendor's listing by id or slug.

    Raises:
        NotFound: unknown, or another vendor's.
    """
    listing = listings_of(profile).filter(**lookup(asset_id)).first()
    if listing is None:
        raise NotFound
    return listing


def with_files(listing: Listing) -> Listing:
    """Return the listing with its files and previews read."""
    prefetch_related_objects([listing], "previews", "live_deliverable", "candidate_deliverable")
    return listing


def files_of(listing: Listing) -> QuerySet[Deliverable]:
    """Return every file that is kept of the listing, newest upload first."""
    return Deliverable.objects.filter(listing=listing).defer("technical").order_by("-id")


def reviews_of(listing: Listing) -> QuerySet[ListingReview]:
    """Return the listing's submissions, newest first."""
    return ListingReview.objects.filter(listing=listing).order_by("-id")


def bio_of(store: Store) -> str:
    """Return what a vendor says of the store, nothing where no profile stands behind it."""
    return VendorProfile.objects.filter(store=store).values_list("bio", flat=True).first() or ""

"""Queries of the vendor API and the studio."""

import uuid
from collections import Counter

from django.db.models import Count, F, FilteredRelation, OuterRef, Q, QuerySet, Subquery, Sum, prefetch_related_objects
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from catalog.models import Deliverable, Discount, Listing, ListingReview, Preview, Store, StorePicture
from catalog.models.files import PreviewKind, StorePictureKind
from catalog.models.listings import ListingStatus
from catalog.pricing import with_running_discount
from catalog.selectors.cards import Picture, picture_of
from catalog.selectors.listings import lookup
from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.errors import NotFound
from marketplace.core.models import AuditEntry
from marketplace.review.waiting import Wait, wait_of

from . import bounds
from .errors import VendorNotApproved, VendorProfileMissing
from .models import PayoutDetails, Upload, VendorProfile, VendorStatus


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
    """Return the user's approved profile with its store.

    Raises:
        VendorNotApproved: there is none, or it is pending or suspended.
    """
    profile = VendorProfile.objects.select_related("store", "user").filter(user=user).first()
    if profile is None or profile.status != VendorStatus.APPROVED:
        raise VendorNotApproved(vendorStatus=None if profile is None else profile.status)
    return profile


def wait_of_profile(profile: VendorProfile) -> Wait | None:
    """Return how long a profile will wait for a decision, None if it does not wait."""
    return wait_of(profile, since="applied_at", waiting={"status": VendorStatus.PENDING})


def payout_details_of(profile: VendorProfile) -> dict[str, PayoutDetails]:
    """Return the bank accounts that apply, by currency."""
    rows = PayoutDetails.objects.filter(profile=profile, withdrawn_at__isnull=True).order_by("created_at", "id")
    return {details.currency: details for details in rows}


def has_earlier_bank_account(details: PayoutDetails) -> bool:
    """Tell whether an earlier bank account applies if this one is withdrawn with all later ones, as `undo_payout_change` does."""
    began = PayoutDetails.objects.filter(pk=details.pk).values("created_at")
    earlier = PayoutDetails.objects.filter(profile=details.profile_id, currency=details.currency, created_at__lt=began)
    return earlier.filter(withdrawn_at__isnull=True).exists()


def payout_method_of(profile: VendorProfile) -> str | None:
    """Return what may be shown of the vendor's bank accounts; None if there is none."""
    rows = sorted(payout_details_of(profile).items())
    return ", ".join(f"{details.label} ({currency})" for currency, details in rows) or None


def has_waited(details: PayoutDetails) -> bool:
    """Tell whether a bank account is old enough for a payout, by the database's clock."""
    return PayoutDetails.objects.filter(pk=details.pk, created_at__lte=Now() - bounds.PAYOUT_WAIT).exists()


def listings_of(profile: VendorProfile) -> QuerySet[Listing]:
    """Return the vendor's listings, newest first, with the related rows that the API's summary needs."""
    return Listing.objects.filter(store=profile.store_id).select_related("store", "category").order_by("-id")


def listing_of(profile: VendorProfile, asset_id: str) -> Listing:
    """Return the vendor's listing by id or slug with its files, which may be replaced at any time.

    Raises:
        NotFound: unknown, or another vendor's.
    """
    listings = listings_of(profile).select_related("approved_deliverable", "candidate_deliverable")
    listing = listings.filter(**lookup(asset_id)).first()
    if listing is None:
        raise NotFound
    return listing


def listings_in_studio(profile: VendorProfile, *, status: str, search: str, after: uuid.UUID | None) -> QuerySet[Listing]:
    """Return the vendor's listings for the studio, newest first, with `sales`, the `findings` of the last review, and its thumbnail.

    `search` is a part of the title or slug; `after` is the id of the last listing of the previous page.
    """
    last_review = ListingReview.objects.filter(listing=OuterRef("pk")).order_by("-id")
    listings = with_running_discount(listings_of(profile).defer("description", "readme"))
    if status:
        listings = listings.filter(status=status)
    if search:
        listings = listings.filter(Q(title__icontains=search) | Q(slug__icontains=search))
    if after:
        listings = listings.filter(pk__lt=after)
    return listings.annotate(
        sales=Coalesce("stats__purchases", 0),
        findings=Subquery(last_review.values("findings")[:1]),
        picture=FilteredRelation("previews", condition=Q(previews__kind=PreviewKind.GALLERY, previews__slot=0)),
        picture_id=F("picture__id"),
        picture_details=F("picture__details"),
        picture_renditions=F("picture__renditions"),
    )


def listing_counts_of(profile: VendorProfile) -> Counter[str]:
    """Return the number of the vendor's listings by status."""
    counted = Listing.objects.filter(store=profile.store_id).order_by().values_list("status").annotate(Count("id"))
    return Counter(dict(counted))


def own_listing(user: User, slug: str) -> Listing:
    """Return the listing of an approved vendor with the profile, the category and the files, and its `sales`, in one query.

    Raises:
        NotFound: unknown, or another vendor's.
        VendorNotApproved: the user's store is closed.
    """
    files = ("approved_deliverable", "candidate_deliverable")
    joined = ("store__vendor_profile", "category", *files)
    # These columns may be large, and pages show little of them.
    long = [f"{file}__{column}" for file in files for column in ("technical", "entries")]
    listings = Listing.objects.select_related(*joined).defer(*long).annotate(sales=Coalesce("stats__purchases", 0))
    listing = with_running_discount(listings).filter(store__vendor_profile__user=user, **lookup(slug)).first()
    if listing is None:
        raise NotFound
    profile = listing.store.vendor_profile
    if profile.status != VendorStatus.APPROVED:
        raise VendorNotApproved(vendorStatus=profile.status)
    return listing


def preview_of(listing: Listing, preview_id: uuid.UUID | None) -> Preview:
    """Return a preview of the listing.

    Raises:
        NotFound: unknown, or another listing's.
    """
    preview = None if preview_id is None else Preview.objects.filter(listing=listing, pk=preview_id).first()
    if preview is None:
        raise NotFound
    return preview


def files_of(listing: Listing) -> QuerySet[Deliverable]:
    """Return all files of the listing, newest upload first."""
    return Deliverable.objects.filter(listing=listing).defer("technical").order_by("-id")


def unfinished_uploads_of_listing(listing: Listing) -> QuerySet[Upload]:
    """Return the listing's uploads that can be continued or finished, newest first."""
    return Upload.objects.filter(listing=listing, deliverable=None, expires_at__gt=timezone.now()).defer("parts")


def unfinished_uploads_of_vendor(profile: VendorProfile) -> QuerySet[Upload]:
    """Return the vendor's uploads that can be continued or finished, newest first."""
    return uploads_of(profile).filter(deliverable=None)


def uploads_of(profile: VendorProfile) -> QuerySet[Upload]:
    """Return the vendor's uploads that have not expired, newest first."""
    return Upload.objects.filter(listing__store=profile.store_id, expires_at__gt=timezone.now()).select_related("listing", "deliverable")


def upload_of(profile: VendorProfile, upload_id: uuid.UUID | None) -> Upload:
    """Return one of the vendor's uploads.

    Raises:
        NotFound: unknown, expired, or another vendor's.
    """
    upload = None if upload_id is None else uploads_of(profile).filter(pk=upload_id).first()
    if upload is None:
        raise NotFound
    return upload


def unapproved_listings(store: Store) -> QuerySet[Listing]:
    """Return the store's listings that were never approved, as drafts or in review."""
    waiting = (ListingStatus.DRAFT, ListingStatus.PENDING_REVIEW)
    return Listing.objects.filter(store=store, status__in=waiting, approved_deliverable=None)


def unapproved_bytes(store: Store, *, without: Upload | None = None) -> int:
    """Return the bytes of what no reviewer has approved: new files, previews of listings that were never on sale, and unfinished uploads.

    An upload counts with the length that was announced, so that uploads which are on their way do not exceed the limit together. An expired
    one, which its vendor can neither continue nor delete, does not count; `purge` deletes it within a day.
    `without` is an upload that does not count, because it has become the file that is being added.
    """
    # Only candidates count: a file that was blocked, replaced and unblocked waits for no review, and its vendor cannot delete it.
    candidates = Listing.objects.filter(store=store).values("candidate_deliverable")
    files = Deliverable.objects.filter(pk__in=candidates, approved_at=None, blocked_at=None).aggregate(bytes=Sum("file_size"))
    previews = Preview.objects.filter(listing__store=store, listing__approved_deliverable=None).aggregate(bytes=Sum("size"))
    uploads = Upload.objects.filter(listing__store=store, deliverable=None, expires_at__gt=timezone.now())
    if without is not None:
        uploads = uploads.exclude(pk=without.pk)
    return sum(int(each["bytes"] or 0) for each in (files, previews, uploads.aggregate(bytes=Sum("size"))))


def reviews_of(listing: Listing) -> QuerySet[ListingReview]:
    """Return the listing's submissions, takedowns and restorations, newest first."""
    return ListingReview.objects.filter(listing=listing).order_by("-id")


def last_review_of(listing: Listing) -> ListingReview | None:
    """Return the listing's last submission, takedown or restoration."""
    return reviews_of(listing).defer("snapshot", "checks").first()


def decision_on(profile: VendorProfile) -> AuditEntry | None:
    """Return the last decision about the vendor, with its reason."""
    decisions = [f"vendor.{verb}" for verb in ("approve", "reject", "suspend", "reinstate")]
    return history_of(profile).filter(action__in=decisions).first()


def bio_of(store: Store) -> str:
    """Return the vendor's description of the store, an empty string where the store has no profile."""
    return VendorProfile.objects.filter(store=store).values_list("bio", flat=True).first() or ""


def pictures_of(store: Store) -> dict[str, StorePicture]:
    """Return the store's pictures by kind, read once for each instance of the store."""
    prefetch_related_objects([store], "pictures")
    return {picture.kind: picture for picture in store.pictures.all()}


def small_picture_of(store: Store, kind: StorePictureKind) -> Picture | None:
    """Return a picture of the store in the size of a card, None where there is none."""
    found = pictures_of(store).get(kind)
    return None if found is None else picture_of(found.pk, found.details, found.renditions)


def discounts_of(listing: Listing) -> QuerySet[Discount]:
    """Return the discounts of a listing, the latest beginning first, with the database's time as `now`, by which their status is told."""
    return Discount.objects.filter(listing=listing).annotate(now=Now())

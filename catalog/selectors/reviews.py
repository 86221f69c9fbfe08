"""What reviewers look at."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from marketplace.accounts.models import User
from marketplace.core.ids import parse_id
from marketplace.review.claims import claimed_by_others

from ..models import Deliverable, Listing, ListingReview, Preview, Store
from ..models.listings import ListingStatus
from ..models.reviews import ReviewKind, ReviewStatus


@dataclass(frozen=True)
class VendorRecord:
    """What became of a vendor's submissions so far.

    Args:
        listings: How many listings there are.
        published: How many of them are for sale.
        approved: Submissions that were approved.
        rejected: Submissions that were rejected.
        withdrawn: Submissions that the vendor took back.
        takedowns: Published listings that were taken down.
        blocked: Files that were marked as malicious.
    """

    listings: int
    published: int
    approved: int
    rejected: int
    withdrawn: int
    takedowns: int
    blocked: int


def queue() -> QuerySet[ListingReview]:
    """Return what waits for a decision, the oldest first."""
    return ListingReview.objects.filter(status=ReviewStatus.PENDING).order_by("submitted_at", "id")


def open_to(actor: User, *, category_slug: str = "", kind: ReviewKind | None = None) -> QuerySet[ListingReview]:
    """Return what waits that this reviewer may decide on and nobody else is at, the oldest first."""
    waiting = queue().exclude(claimed_by_others(actor))
    waiting = waiting.exclude(listing__store__owner=actor).exclude(submitted_by=actor)
    if category_slug:
        waiting = waiting.filter(listing__category__slug=category_slug)
    return waiting if kind is None else waiting.filter(kind=kind)


def files_under_review(review: ListingReview) -> QuerySet[Deliverable]:
    """Return the file that was submitted with the review; nothing when there was none."""
    file_id = parse_id((review.snapshot.get("file") or {}).get("id", ""))
    return Deliverable.objects.none() if file_id is None else Deliverable.objects.filter(pk=file_id, listing_id=review.listing_id)


def deliverable_under_review(review: ListingReview) -> Deliverable | None:
    """Return the file that was submitted with the review, None when there was none."""
    return files_under_review(review).first()


def is_submitted(deliverable: Deliverable) -> bool:
    """Tell whether a submission waits with this very file."""
    waiting = queue().filter(listing=deliverable.listing_id, snapshot__file__id=str(deliverable.pk))
    return waiting.exists()


def is_blocked(deliverable: Deliverable) -> bool:
    """Tell whether a reviewer marked these bytes as malicious, in whatever listing."""
    return deliverable.blocked_at is not None or Deliverable.objects.filter(sha256=deliverable.sha256, blocked_at__isnull=False).exists()


def listings_with_the_bytes_of(files: QuerySet[Deliverable]) -> QuerySet[Listing]:
    """Return the other listings that hold the same file as the one of this queryset, waiting, for sale or neither."""
    same = Deliverable.objects.filter(sha256__in=files.values("sha256")).values("listing")
    others = Listing.objects.filter(pk__in=same).exclude(pk__in=files.values("listing"))
    return others.select_related("store").only("title", "status", "store__name").order_by("-id")


def with_copies(files: QuerySet[Deliverable]) -> QuerySet[Any]:
    """Return files with `copies`, in how many other listings the same bytes are."""
    same = Deliverable.objects.order_by().filter(sha256=OuterRef("sha256")).exclude(listing=OuterRef("listing"))
    return files.annotate(copies=_number(same.values("sha256"), "listing"))


def cases_of_store(store: Store) -> QuerySet[ListingReview]:
    """Return every case about a vendor's listings, newest first, as a list shows them."""
    shown = ("kind", "status", "findings", "submitted_at", "decided_at", "listing__title")
    return ListingReview.objects.filter(listing__store=store).select_related("listing").only(*shown).order_by("-submitted_at", "-id")


def with_record(stores: QuerySet[Store]) -> QuerySet[Any]:
    """Return stores with the figures of `VendorRecord`, which is what `record_of` makes of them."""
    listings = Listing.objects.order_by().filter(store=OuterRef("pk")).values("store")
    cases = ListingReview.objects.order_by().filter(listing__store=OuterRef("pk")).values("listing__store")
    decided = cases.exclude(kind=ReviewKind.TAKEDOWN)
    files = Deliverable.objects.order_by().filter(listing__store=OuterRef("pk"), blocked_at__isnull=False).values("listing__store")
    return stores.annotate(
        listing_count=_number(listings),
        published=_number(listings.filter(status=ListingStatus.PUBLISHED)),
        approved=_number(decided.filter(status=ReviewStatus.APPROVED)),
        rejected=_number(decided.filter(status=ReviewStatus.REJECTED)),
        withdrawn=_number(decided.filter(status=ReviewStatus.WITHDRAWN)),
        takedowns=_number(cases.filter(kind=ReviewKind.TAKEDOWN, status=ReviewStatus.REJECTED)),
        blocked=_number(files),
    )


def record_of(store: Any) -> VendorRecord:
    """Return what became of a vendor's submissions so far.

    Args:
        store: A store of `with_record`.
    """
    names = ("published", "approved", "rejected", "withdrawn", "takedowns", "blocked")
    return VendorRecord(listings=store.listing_count, **{name: getattr(store, name) for name in names})


def _number(rows: "QuerySet[Any, Any]", of: str = "pk") -> Coalesce:
    """Return how many rows there are of a group that an outer query names."""
    counted = rows.annotate(number=Count(of, distinct=of != "pk")).values("number")
    return Coalesce(Subquery(counted), 0)


def previews_of(listing: Listing) -> QuerySet[Preview]:
    """Return the listing's previews in the order of its page."""
    return Preview.objects.filter(listing=listing).order_by("kind", "slot")


def approvals_of(listing: Listing) -> QuerySet[ListingReview]:
    """Return the cases in which a reviewer approved the listing, the last one first."""
    return ListingReview.objects.filter(listing=listing, status=ReviewStatus.APPROVED).order_by("-decided_at", "-id")

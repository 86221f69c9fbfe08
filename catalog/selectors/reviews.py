"""What reviewers look at."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from marketplace.accounts.models import User
from marketplace.core.claims import claimed_by_others
from marketplace.core.ids import parse_id

from ..models import Deliverable, Listing, ListingReview, Store
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


def deliverable_under_review(review: ListingReview) -> Deliverable | None:
    """Return the file that was submitted with the review, None when there was none."""
    file_id = parse_id((review.snapshot.get("file") or {}).get("id", ""))
    return None if file_id is None else Deliverable.objects.filter(pk=file_id, listing_id=review.listing_id).first()


def is_submitted(deliverable: Deliverable) -> bool:
    """Tell whether a submission waits with this very file."""
    waiting = queue().filter(listing=deliverable.listing_id, snapshot__file__id=str(deliverable.pk))
    return waiting.exists()


def is_blocked(deliverable: Deliverable) -> bool:
    """Tell whether a reviewer marked these bytes as malicious, in whatever listing."""
    return deliverable.blocked_at is not None or Deliverable.objects.filter(sha256=deliverable.sha256, blocked_at__isnull=False).exists()


def listings_with_the_same_bytes(deliverable: Deliverable) -> QuerySet[Listing]:
    """Return the other listings that hold the same file, waiting, for sale or neither."""
    same = Deliverable.objects.filter(sha256=deliverable.sha256).values("listing")
    return Listing.objects.filter(pk__in=same).exclude(pk=deliverable.listing_id).select_related("store").order_by("-id")


def cases_of_store(store: Store) -> QuerySet[ListingReview]:
    """Return every case about a vendor's listings, newest first."""
    return ListingReview.objects.filter(listing__store=store).select_related("listing", "decided_by").order_by("-submitted_at", "-id")


def record_of_store(store: Store) -> VendorRecord:
    """Return what became of a vendor's submissions so far, in three queries."""
    counts: Counter[tuple[bool, str]] = Counter()
    for kind, status, count in ListingReview.objects.filter(listing__store=store).values_list("kind", "status").annotate(Count("id")):
        counts[kind == ReviewKind.TAKEDOWN, status] += count
    for_sale = Count("id", filter=Q(status="Published"))
    listings = Listing.objects.filter(store=store).aggregate(all=Count("id"), published=for_sale)
    return VendorRecord(
        listings=listings["all"],
        published=listings["published"],
        approved=counts[False, ReviewStatus.APPROVED],
        rejected=counts[False, ReviewStatus.REJECTED],
        withdrawn=counts[False, ReviewStatus.WITHDRAWN],
        takedowns=counts[True, ReviewStatus.REJECTED],
        blocked=Deliverable.objects.filter(listing__store=store, blocked_at__isnull=False).count(),
    )

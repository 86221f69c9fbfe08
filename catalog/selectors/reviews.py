"""Reads for reviewers."""

import uuid
from collections.abc import Iterable
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery, Window
from django.db.models.functions import Coalesce

from marketplace.core.ids import parse_id
from marketplace.review.waiting import Wait, wait_of

from ..models import Deliverable, FileFacts, FormerPreview, Listing, ListingReview, Store
from ..models.listings import ListingStatus
from ..models.reviews import ReviewKind, ReviewStatus

# The most earlier decisions on a listing that are looked at.
MAX_DECISIONS = 20


def wait_of_review(review: ListingReview | None) -> Wait | None:
    """Return how long a submission will wait, None if none waits. Reviews that takedowns and appeals created are not counted."""
    decided = ListingReview.objects.filter(decided_by__isnull=False, submitted_by__isnull=False)
    return None if review is None else wait_of(review, waiting={"status": ReviewStatus.PENDING}, decided=decided)


def submitted_files_of(review: ListingReview) -> QuerySet[Deliverable]:
    """Return a queryset of the submitted file, empty if there was none."""
    file_id = parse_id(review.submitted_file_id)
    return Deliverable.objects.none() if file_id is None else Deliverable.objects.filter(pk=file_id, listing_id=review.listing_id)


def is_in_review(deliverable: Deliverable) -> bool:
    """Tell whether this file is in a pending submission."""
    waiting = ListingReview.objects.filter(status=ReviewStatus.PENDING, listing=deliverable.listing_id)
    return waiting.filter(snapshot__file__id=str(deliverable.pk)).exists()


def is_blocked(deliverable: Deliverable) -> bool:
    """Tell whether a reviewer marked these bytes as malicious, in this or any other listing."""
    return deliverable.blocked_at is not None or Deliverable.objects.filter(sha256=deliverable.sha256, blocked_at__isnull=False).exists()


def listings_with_the_bytes_of(files: QuerySet[Deliverable]) -> QuerySet[Any]:
    """Return the other listings, of any status, that have the same bytes as the file of this queryset; `total` of each is their number."""
    same = Deliverable.objects.filter(sha256__in=files.values("sha256")).values("listing")
    others = Listing.objects.filter(pk__in=same).exclude(pk__in=files.values("listing"))
    return others.select_related("store").only("title", "status", "store__name").annotate(total=Window(Count("pk"))).order_by("-id")


def reviews_of_store(store: Store) -> QuerySet[ListingReview]:
    """Return all reviews of a store's listings, newest first, with the fields that a list shows."""
    shown = ("kind", "status", "findings", "submitted_at", "decided_at", "listing__title")
    return ListingReview.objects.filter(listing__store=store).select_related("listing").only(*shown).order_by("-submitted_at", "-id")


def store_with_record(store_id: uuid.UUID) -> Any:
    """Return a store with its record: figures about its vendor's submissions so far, in one query."""
    listings = Listing.objects.order_by().filter(store=OuterRef("pk")).values("store")
    cases = ListingReview.objects.order_by().filter(listing__store=OuterRef("pk")).values("listing__store")
    decided = cases.exclude(kind=ReviewKind.TAKEDOWN)
    files = Deliverable.objects.order_by().filter(listing__store=OuterRef("pk"), blocked_at__isnull=False).values("listing__store")
    return Store.objects.annotate(
        listing_count=_count_of(listings),
        published=_count_of(listings.filter(status=ListingStatus.PUBLISHED)),
        approved=_count_of(decided.filter(status=ReviewStatus.APPROVED)),
        rejected=_count_of(decided.filter(status=ReviewStatus.REJECTED)),
        withdrawn=_count_of(decided.filter(status=ReviewStatus.WITHDRAWN)),
        takedowns=_count_of(cases.filter(kind=ReviewKind.TAKEDOWN, status=ReviewStatus.REJECTED)),
        blocked=_count_of(files),
    ).get(pk=store_id)


def _count_of(rows: QuerySet[Any, Any]) -> Coalesce:
    """Return a subquery that counts the rows of a group of the outer query."""
    return Coalesce(Subquery(rows.annotate(number=Count("pk")).values("number")), 0)


def decisions_before(review: ListingReview) -> QuerySet[ListingReview]:
    """Return the decisions on the same listing before this submission, takedowns included, latest first."""
    decided = ListingReview.objects.filter(listing=review.listing_id, status__in=(ReviewStatus.APPROVED, ReviewStatus.REJECTED))
    return decided.filter(pk__lt=review.pk).select_related("decided_by").order_by("-decided_at", "-id")


def compared_reviews_of(listing: Listing) -> list[ListingReview]:
    """Return the submissions with which the next one will be compared: the one that waits, the last decided one, and the last approved one."""
    pending = ListingReview.objects.filter(listing=listing, status=ReviewStatus.PENDING)
    decided = ListingReview.objects.filter(listing=listing, status__in=(ReviewStatus.APPROVED, ReviewStatus.REJECTED))
    submissions = [review for review in decided.order_by("-decided_at", "-id")[:MAX_DECISIONS] if review.is_vendor_submission]
    approved = [review for review in submissions if review.status == ReviewStatus.APPROVED]
    return list({review.pk: review for review in (*pending, *submissions[:1], *approved[:1])}.values())


def approved_snapshots(listing: Listing, files: Iterable[Deliverable]) -> dict[str, dict[str, Any]]:
    """Return the snapshots with which these files were approved, by the ids of the files; the latest one for a file that was approved again."""
    ids = [str(file.pk) for file in files]
    reviews = ListingReview.objects.filter(listing=listing, status=ReviewStatus.APPROVED, snapshot__file__id__in=ids)
    return {snapshot["file"]["id"]: snapshot for snapshot in reviews.order_by("decided_at", "id").values_list("snapshot", flat=True)}


def facts_of_files(listing: Listing, *digests: str) -> dict[str, Any]:
    """Return the recorded facts of a listing's files by their SHA-256."""
    rows = FileFacts.objects.filter(listing=listing, sha256__in={digest for digest in digests if digest})
    return dict(rows.values_list("sha256", "facts"))


def former_pictures_of(listing: Listing) -> dict[str, FormerPreview]:
    """Return the listing's replaced pictures that are kept, by their SHA-256."""
    return {picture.sha256: picture for picture in FormerPreview.objects.filter(listing=listing)}


def approvals_of(listing: Listing) -> QuerySet[ListingReview]:
    """Return the approved reviews of a listing, latest first."""
    return ListingReview.objects.filter(listing=listing, status=ReviewStatus.APPROVED).order_by("-decided_at", "-id")

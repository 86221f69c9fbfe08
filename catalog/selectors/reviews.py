"""What reviewers look at."""

from django.db.models import QuerySet

from marketplace.core.ids import parse_id

from ..models import Deliverable, ListingReview, Store


def deliverable_under_review(review: ListingReview) -> Deliverable | None:
    """Return the file that was submitted with the review, None when there was none."""
    file_id = parse_id((review.snapshot.get("file") or {}).get("id", ""))
    return None if file_id is None else Deliverable.objects.filter(pk=file_id, listing_id=review.listing_id).first()


def cases_of_store(store: Store) -> QuerySet[ListingReview]:
    """Return every case about a vendor's listings, newest first."""
    return ListingReview.objects.filter(listing__store=store).select_related("listing").order_by("-submitted_at", "-id")

"""Webhook events of the catalog, which contain ids and links only."""

import uuid
from typing import Any

from developers.event_types import EventType
from developers.models import WebhookEvent
from developers.webhooks.publishing import api_url, new_event, publish_events, publish_merged
from marketplace.core.events import subscribe, subscribe_later
from marketplace.jobs.policy import job

from .events import ListingEdited, ListingReviewed, ListingUnpublished, StoreVisibilityChanged
from .models import Listing
from .models.listings import ListingStatus
from .models.reviews import ReviewKind, ReviewStatus

_APPROVED = {ReviewKind.LISTING: EventType.ASSET_PUBLISHED, ReviewKind.UPDATE: EventType.ASSET_UPDATED}


def connect() -> None:
    """Subscribe to the catalog's events."""
    subscribe(ListingReviewed, _publish_review)
    subscribe(ListingUnpublished, _publish_removal)
    subscribe(ListingEdited, _publish_edit)
    subscribe_later(StoreVisibilityChanged, publish_store_events)


@job()
def publish_store_events(store_id: str, *, is_open: bool) -> None:
    """Publish an event for each listing of a store that was opened or closed."""
    listings = Listing.objects.filter(store_id=store_id, status=ListingStatus.PUBLISHED, store__is_open=is_open)
    event = EventType.ASSET_PUBLISHED if is_open else EventType.ASSET_REMOVED
    # Read completely before the first event is written: on SQLite, a transaction that reads cannot write after others have written.
    for listing_id, slug in list(listings.order_by("pk").values_list("pk", "slug")):
        publish_events(new_event(event, subject=listing_id, data=_asset(listing_id, slug)))


def _publish_review(event: ListingReviewed) -> None:
    review, listing = event.review, event.review.listing
    data = {
        "assetId": str(listing.pk),
        "slug": listing.slug,
        "reviewId": str(review.pk),
        "kind": review.kind,
        "decision": review.status,
        "url": api_url(f"vendor/assets/{listing.pk}/reviews"),
    }
    events = [new_event(EventType.LISTING_REVIEWED, subject=listing.pk, data=data, owner_id=listing.store.owner_id)]
    if review.status == ReviewStatus.APPROVED and listing.store.is_open:
        events.append(new_event(_APPROVED[ReviewKind(review.kind)], subject=listing.pk, data=_asset(listing.pk, listing.slug)))
    publish_events(*events)


def _publish_removal(event: ListingUnpublished) -> None:
    listing = Listing.objects.values("slug", "store__is_open").get(pk=event.listing_id)
    # When a store closes, the job `publish_store_events` publishes the removal of its listings. If it has not run yet, it will not find this one,
    # which is unpublished by now; so its removal is published here.
    if listing["store__is_open"] or not _was_removed(event.listing_id):
        publish_events(new_event(EventType.ASSET_REMOVED, subject=event.listing_id, data=_asset(event.listing_id, listing["slug"])))


def _was_removed(listing_id: uuid.UUID) -> bool:
    """Tell whether the last event about a listing's presence in the catalog says that it left."""
    events = WebhookEvent.objects.filter(subject=str(listing_id), type__in=(EventType.ASSET_PUBLISHED, EventType.ASSET_REMOVED))
    return events.order_by("-id").values_list("type", flat=True).first() == EventType.ASSET_REMOVED


def _publish_edit(event: ListingEdited) -> None:
    listing = Listing.objects.values("slug", "store__is_open").get(pk=event.listing_id)
    if listing["store__is_open"]:
        data = _asset(event.listing_id, listing["slug"])
        publish_merged(new_event(EventType.ASSET_UPDATED, subject=event.listing_id, data=data))


def _asset(listing_id: uuid.UUID, slug: str) -> dict[str, Any]:
    return {"assetId": str(listing_id), "slug": slug, "url": api_url(f"assets/{listing_id}")}

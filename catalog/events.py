"""Events of the catalog, for the apps above it and for its webhook events."""

import uuid
from dataclasses import dataclass

from marketplace.core.events import Event

from .models import ListingReview


@dataclass(frozen=True)
class ListingPublished(Event):
    """A listing was published, or a new file of it was approved."""

    listing_id: uuid.UUID


@dataclass(frozen=True)
class ListingUnpublished(Event):
    """A listing left the catalog: its vendor unpublished it, or a reviewer took it down."""

    listing_id: uuid.UUID


@dataclass(frozen=True)
class ListingEdited(Event):
    """The public content of a published listing changed."""

    listing_id: uuid.UUID


@dataclass(frozen=True)
class StoreVisibilityChanged(Event):
    """A store was opened or closed, with its published listings."""

    store_id: uuid.UUID
    is_open: bool


@dataclass(frozen=True)
class BlockChanged(Event):
    """A reviewer marked all files with these bytes as malicious, or undid that."""

    sha256: str
    blocked: bool
    reason: str


@dataclass(frozen=True)
class ListingReviewed(Event):
    """A reviewer decided on a submission, took a listing down, or restored it on appeal."""

    review: ListingReview

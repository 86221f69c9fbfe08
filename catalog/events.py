"""What the catalog tells the apps above it."""

import uuid
from dataclasses import dataclass

from marketplace.core.events import Event


@dataclass(frozen=True)
class ListingPublished(Event):
    """A listing entered the catalog, or its file was exchanged for a newer one that a reviewer approved."""

    listing_id: uuid.UUID


@dataclass(frozen=True)
class ListingUnpublished(Event):
    """A listing left the catalog: its vendor withdrew it from sale, or a reviewer took it down."""

    listing_id: uuid.UUID


@dataclass(frozen=True)
class ListingEdited(Event):
    """What buyers see of a published listing changed."""

    listing_id: uuid.UUID


@dataclass(frozen=True)
class StoreShown(Event):
    """A store opened or closed, and its published listings came into the catalog or left it."""

    store_id: uuid.UUID
    is_open: bool


@dataclass(frozen=True)
class ListingReviewed(Event):
    """A reviewer decided on a submission or took a listing down."""

    review_id: uuid.UUID

"""Background jobs of the library."""

import uuid

from catalog.events import ListingPublished
from marketplace.core.events import subscribe_later
from marketplace.jobs.policy import Retries, job

from .services.building import build_when_published


@job(retries=Retries(attempts=6, first=30))
def build_published(listing_id: str) -> None:
    """Build the packages of a published listing before the first download."""
    build_when_published(listing_id=uuid.UUID(listing_id))


subscribe_later(ListingPublished, build_published)

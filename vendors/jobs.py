"""Background jobs of vendors' listings."""

import uuid

from catalog.events import ListingPublished
from marketplace.core.events import subscribe_later
from marketplace.jobs.policy import PREVIEWS, Retries, job

from .services.file_previews import make_file_previews


@job(queue_name=PREVIEWS, retries=Retries(attempts=4, first_seconds=60))
def make_previews(listing_id: str) -> None:
    """Make the previews of a published listing's file."""
    make_file_previews(listing_id=uuid.UUID(listing_id))


subscribe_later(ListingPublished, make_previews)

"""Background jobs of the library."""

import uuid

from catalog.events import BlockChanged, ListingPublished
from marketplace.core.events import subscribe_later
from marketplace.jobs.policy import Retries, job

from .services.announcements import announce_new_file, tell_downloaders
from .services.building import prepare_listing_packages


@job(retries=Retries(attempts=6, first_seconds=30))
def build_published(listing_id: str) -> None:
    """Enqueue the mails to the licence holders of a published listing, and prepare its packages before the first download."""
    # First, so that holders get their mail even if a package cannot be prepared; a retry sends no mail twice.
    announce_new_file.enqueue(listing_id=listing_id)
    prepare_listing_packages(listing_id=uuid.UUID(listing_id))


subscribe_later(ListingPublished, build_published)
subscribe_later(BlockChanged, tell_downloaders)

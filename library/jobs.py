"""Background jobs of the library."""

import uuid

from django.db import transaction

from catalog.events import FileBlocked, ListingPublished
from marketplace.core.events import subscribe_later
from marketplace.jobs.policy import Retries, job

from .services.announcements import announce_update, tell_holders, warn_downloaders
from .services.building import build_when_published


@job(retries=Retries(attempts=6, first=30))
def build_published(listing_id: str) -> None:
    """Enqueue the mails to the licence holders of a published listing, and build its packages before the first download."""
    # First, so that holders get their mail even if a package cannot be built; a retry sends no mail twice.
    announce_new_file.enqueue(listing_id)
    build_when_published(listing_id=uuid.UUID(listing_id))


@job()
def announce_new_file(listing_id: str) -> None:
    """Tell the licence holders of a listing that a new file is on sale, if there is one, and at most once a day."""
    announce_update(
        listing_id=uuid.UUID(listing_id),
        postpone=lambda moment: announce_new_file.using(run_after=moment).enqueue(listing_id),
        send=lambda deliverable_id: tell_holders_of_file.enqueue(listing_id, str(deliverable_id)),
    )


@job()
@transaction.atomic
def tell_holders_of_file(listing_id: str, deliverable_id: str, after: str | None = None) -> None:
    """Send the mails about a new file, batch by batch, each in a job."""
    last = None if after is None else uuid.UUID(after)
    next_after = tell_holders(listing_id=uuid.UUID(listing_id), deliverable_id=uuid.UUID(deliverable_id), after=last)
    if next_after is not None:
        tell_holders_of_file.enqueue(listing_id, deliverable_id, str(next_after))


@job()
@transaction.atomic
def warn_of_blocked_file(sha256: str, reason: str, after: str | None = None) -> None:
    """Send the mails about a malicious file, batch by batch, each in a job."""
    last = None if after is None else uuid.UUID(after)
    next_after = warn_downloaders(sha256=sha256, reason=reason, after=last)
    if next_after is not None:
        warn_of_blocked_file.enqueue(sha256, reason, str(next_after))


subscribe_later(ListingPublished, build_published)
subscribe_later(FileBlocked, warn_of_blocked_file)

"""The versions of a listing: every file that a reviewer approved stays one."""

from django.db.models import QuerySet

from marketplace.core.ids import parse_id

from ..models import Deliverable, Listing
from ..models.files import DeliverableStatus


def approved_versions(listing: Listing) -> QuerySet[Deliverable]:
    """Return the files that were ever approved, the newest approval first; blocked ones too, `blocked_at` tells."""
    return Deliverable.objects.filter(listing=listing, approved_at__isnull=False).order_by("-approved_at", "-id")


def deliverable_of_version(listing: Listing, version: str) -> Deliverable | None:
    """Return the approved file of this label, or of this file id where it has none; None when no version is called so.

    It may be blocked: look at `blocked_at` before giving it to anyone.
    """
    if not version:
        return None
    # Labels are shorter than ids.
    file_id = parse_id(version)
    return approved_versions(listing).filter(**({"version": version} if file_id is None else {"pk": file_id})).first()


def status_of(deliverable: Deliverable, listing: Listing) -> DeliverableStatus:
    """Return where a file of the listing stands."""
    if deliverable.blocked_at is not None:
        return DeliverableStatus.BLOCKED
    if deliverable.pk == listing.live_deliverable_id:
        return DeliverableStatus.LIVE
    if deliverable.pk == listing.candidate_deliverable_id:
        return DeliverableStatus.CANDIDATE
    return DeliverableStatus.SUPERSEDED

"""Deletes drafts that were never submitted."""

import uuid

from django.db import transaction

from catalog.models import Listing
from catalog.services.transitions import lock_own_listing
from marketplace.accounts.models import User
from marketplace.core import audit

from ..errors import DraftNotDeletable
from .files import delete_after_commit, keys_of


@transaction.atomic
def delete_draft(*, listing: Listing, actor: User) -> uuid.UUID:
    """Delete a draft with its files and previews, and return its id; stored objects are deleted after the commit.

    Raises:
        DraftNotDeletable: it was submitted before, or one of its files is kept as evidence.
        NotFound: it is not the actor's.
        PreconditionFailed: it has changed since the state that If-Match names.
    """
    listing = lock_own_listing(listing, actor)
    if listing.was_submitted:
        raise DraftNotDeletable
    files, previews = list(listing.deliverables.all()), list(listing.previews.all())
    if any(file.is_kept for file in files):
        raise DraftNotDeletable("One of its files is marked as malicious and is kept as evidence.")
    audit.record("listing.delete", listing, actor=actor, from_state=listing.status, slug=listing.slug)
    listing_id: uuid.UUID = listing.pk
    # The listing's reference to its candidate would protect the file from the deletion.
    Listing.objects.filter(pk=listing_id).update(candidate_deliverable=None)
    Listing.objects.filter(pk=listing_id).delete()
    delete_after_commit(*(file.object_key for file in files), *(key for each in previews for key in keys_of(each)))
    return listing_id

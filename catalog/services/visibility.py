"""Updates search, browsing and the catalog's version after a listing or a store has changed."""

from django.db import transaction

from marketplace.core.events import emit

from ..catalog_version import change_version
from ..events import ListingEdited, StoreVisibilityChanged
from ..models import Listing, Store
from ..models.listings import ListingStatus
from ..search.index import update_documents, update_store_visibility
from .listing_index import refresh_listings, refresh_store


@transaction.atomic(savepoint=False)
def listing_changed(listing: Listing) -> None:
    """Update search and the browse index and invalidate cached responses after a listing was saved, in the caller's transaction.

    Call it after a transition to or from Published or an approved update, and `listing_edited` after an edit of a listing or its previews.
    """
    change_version()
    update_documents([listing.pk])
    refresh_listings([listing.pk])


@transaction.atomic(savepoint=False)
def listing_edited(listing: Listing) -> None:
    """Call `listing_changed` after an edit of a listing if it is published, and emit `ListingEdited`."""
    if listing.status == ListingStatus.PUBLISHED:
        listing_changed(listing)
        emit(ListingEdited(listing.pk))


@transaction.atomic
def store_edited(store: Store) -> None:
    """Update the browse index and invalidate cached responses after a store was renamed, or its logo was changed."""
    change_version()
    refresh_store(store)


@transaction.atomic
def store_visibility_changed(store: Store) -> None:
    """Update what is derived from the store's listings after it was opened or closed, and emit an event."""
    change_version()
    update_store_visibility(store)
    refresh_store(store)
    emit(StoreVisibilityChanged(store.pk, store.is_open))

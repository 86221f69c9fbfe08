"""What follows when a listing or a store changes: search finds it or no longer does, and cached answers end."""

from ..models import Listing, Store
from ..models.listings import ListingStatus
from ..search.index import index_listing, remove_listing, show_store


def listing_changed(listing: Listing) -> None:
    """Bring search and cached answers in line with a listing, in the caller's transaction, after its row was saved.

    Call it after every transition, and after every edit of a published listing and its previews.
    """
    if listing.status == ListingStatus.PUBLISHED:
        index_listing(listing)
    else:
        remove_listing(listing.pk)


def store_changed(store: Store) -> None:
    """Bring search and cached answers in line with a store that was opened, closed or renamed, in the caller's transaction."""
    show_store(store)

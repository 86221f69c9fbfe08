"""Updates search, browsing and the catalog's version after a listing or a store has changed."""

from django.db import transaction

from marketplace.core.events import emit

from ..catalog_version import change_version
from ..events import ListingEdited, StoreShown
from ..models import Listing, Store
from ..search.index import show_store, update_documents
from .listing_index import refresh_listings, refresh_store


@transaction.atomic(savepoint=False)
def listing_changed(listing: Listing) -> None:
    """Update search, the browse index and cached answers after a change of a listing, in the caller's transaction, after its row was saved.

    Call it after every transition; after an edit of a published listing and its previews, `listing_edited`.
    """
    change_version()
    update_documents([listing.pk])
    refresh_listings([listing.pk])


@transaction.atomic
def listing_edited(listing: Listing) -> None:
    """Do so after an edit of a published listing, and say that it was edited."""
    listing_changed(listing)
    emit(ListingEdited(listing.pk))


@transaction.atomic
def store_changed(store: Store) -> None:
    """Update search, the browse index and cached answers after a store was opened, closed or renamed, in the caller's transaction."""
    show_store(store)
    refresh_store(store)
    emit(StoreShown(store.pk, store.is_open))

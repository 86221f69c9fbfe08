"""Writes the index in the transaction of the change, so that a listing can be found once its publication commits.

Writers are serialized by a lock on the row of the catalog's version, held until the commit, so that counts of documents are
exact and concurrent publications never deadlock, whatever words they share.
"""

import uuid

from django.db import transaction

from ..models import AgentManifest, Listing, SearchDocument, Store
from ..models.search import Tier
from ..services.catalog_version import change_version
from . import terms
from .documents import all_terms, columns_of, heading_terms, indexed_tags


@transaction.atomic
def index_listing(listing: Listing) -> None:
    """Index a published listing by its current words, and invalidate cached answers."""
    change_version()
    write_document(listing)


@transaction.atomic
def remove_listing(listing_id: uuid.UUID) -> None:
    """Remove a listing from the index, if it is there, and invalidate cached answers."""
    change_version()
    document = SearchDocument.objects.filter(listing_id=listing_id).first()
    if document is not None:
        gone, headings = all_terms(document), heading_terms(document)
        document.delete()
        terms.change(gone, headings, by=-1)


@transaction.atomic
def show_store(store: Store) -> None:
    """Add the listings of an opened store to the full-text indexes, or remove those of a closed one; invalidate cached answers."""
    change_version()
    documents = SearchDocument.objects.filter(listing__store=store)
    if store.is_open:
        # Not as newcomers: closing and reopening a store must not improve the ranking.
        documents.filter(tier=Tier.HIDDEN).update(tier=Tier.REST)
    else:
        documents.exclude(tier=Tier.HIDDEN).update(tier=Tier.HIDDEN)


def write_document(listing: Listing) -> bool:
    """Update one document and the vocabulary from its listing; return whether anything differed.

    The caller holds the lock.
    """
    document = SearchDocument.objects.filter(listing_id=listing.pk).first() or SearchDocument(listing_id=listing.pk)
    # Read under the lock: the store may have been closed while this transaction waited for it.
    hidden = not Store.objects.filter(pk=listing.store_id, is_open=True).exists()
    manifest = AgentManifest.objects.filter(listing=listing.pk).values_list("body", flat=True).first()
    tags = indexed_tags(listing.tags, manifest)
    columns = columns_of(listing.title, tags, listing.short_description, listing.description)
    wanted: dict[str, str | int] = {**columns, "tier": _tier(document, hidden=hidden)}
    if document.pk is not None and all(getattr(document, name) == value for name, value in wanted.items()):
        return False
    before, headings_before = all_terms(document), heading_terms(document)
    for name, value in wanted.items():
        setattr(document, name, value)
    document.save()
    after, headings_after = all_terms(document), heading_terms(document)
    terms.change(before - after, headings_before - headings_after, by=-1)
    terms.change(after - before, headings_after - headings_before, by=1)
    return True


def _tier(document: SearchDocument, *, hidden: bool) -> int:
    if hidden:
        return Tier.HIDDEN
    return Tier.REST if document.tier == Tier.HIDDEN else document.tier

"""Changes of the editors' list for the start page."""

from django.db import transaction

from marketplace.accounts.models import User
from marketplace.core import audit

from ..models import FeaturedListing


@transaction.atomic
def save_featured_listing(*, featured: FeaturedListing, changed: list[str], actor: User) -> FeaturedListing:
    """Add a listing to the list or move it."""
    audit.save_and_record(featured, changed=changed, actor=actor, listing=featured.listing.slug)
    return featured


@transaction.atomic
def remove_featured_listing(*, featured: FeaturedListing, actor: User) -> None:
    """Take a listing off the list; it stays on sale."""
    audit.record("featuredlisting.delete", featured, actor=actor, listing=featured.listing.slug)
    featured.delete()

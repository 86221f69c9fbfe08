"""Generates the AI manifest when its vendor asks for it; approval generates it as well (`catalog.services.review`)."""

from django.db import transaction

from catalog.manifests import ensure_manifest
from catalog.models import AgentManifest, Listing
from catalog.services.visibility import listing_edited
from marketplace.accounts.models import User
from marketplace.core import audit

from .listings import lock_editable


@transaction.atomic
def generate_manifest(*, listing: Listing, actor: User) -> AgentManifest:
    """Generate the manifest from the listing's current state, unless the stored one is up to date.

    Raises:
        ListingLocked: the listing is under review.
        PreconditionFailed: it has changed since the state that If-Match names.
    """
    listing = lock_editable(listing)
    before = AgentManifest.objects.filter(listing=listing).values_list("source_digest", flat=True).first()
    manifest = ensure_manifest(listing)
    if manifest.source_digest != before:
        audit.record("listing.generate_manifest", listing, actor=actor, sourceDigest=manifest.source_digest)
        # The search index may contain tags of the manifest.
        listing_edited(listing)
    return manifest

"""Stores one generated manifest for each listing. Publishing a listing, or its vendor, generates it again when it is stale."""

from ..models import AgentManifest, Listing
from ..selectors.taxonomy import active_tiers
from .generate import build
from .sources import digest_of, sources_of

_COLUMNS = ("body", "source_digest", "generated_at")


def manifest_of(listing: Listing) -> AgentManifest:
    """Return the listing's manifest as it was last made, stale or not: reading makes one only where there is none."""
    return AgentManifest.objects.filter(listing=listing).first() or ensure_manifest(listing)


def stored_manifest(listing: Listing) -> tuple[AgentManifest | None, bool]:
    """Return the manifest as it was last made, if it ever was, and whether it would be the same now."""
    manifest = AgentManifest.objects.filter(listing=listing).first()
    if manifest is None:
        return None, False
    return manifest, manifest.source_digest == digest_of(sources_of(listing, active_tiers()))


def ensure_manifest(listing: Listing) -> AgentManifest:
    """Return the listing's manifest, made now where there is none or its sources have changed.

    Whoever publishes it calls `listing_changed` as well, so that cached answers show it.
    """
    sources = sources_of(listing, active_tiers())
    digest = digest_of(sources)
    manifest = AgentManifest.objects.filter(listing=listing).first()
    if manifest is not None and manifest.source_digest == digest:
        return manifest
    manifest = AgentManifest(listing=listing, body=build(sources), source_digest=digest)
    # Two at once make the same from the same sources: whichever is written last changes nothing.
    AgentManifest.objects.bulk_create([manifest], update_conflicts=True, unique_fields=["listing"], update_fields=_COLUMNS)
    return manifest

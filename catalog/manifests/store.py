"""Stores one generated manifest for each listing. Publishing a listing or a request of its vendor regenerates a stale one."""

from ..models import AgentManifest, Listing
from ..selectors.taxonomy import active_tiers
from .generate import build
from .sources import digest_of, sources_of

_COLUMNS = ("body", "source_digest", "generated_at")


def manifest_of(listing: Listing) -> AgentManifest:
    """Return the stored manifest, stale or not; generate it only if there is none."""
    return AgentManifest.objects.filter(listing=listing).first() or ensure_manifest(listing)


def stored_manifest(listing: Listing) -> tuple[AgentManifest | None, bool]:
    """Return the stored manifest, if there is one, and whether it is up to date."""
    manifest = AgentManifest.objects.filter(listing=listing).first()
    if manifest is None:
        return None, False
    return manifest, manifest.source_digest == digest_of(sources_of(listing, active_tiers()))


def ensure_manifest(listing: Listing) -> AgentManifest:
    """Return the listing's manifest, regenerated if it is missing or stale.

    A caller that publishes the listing calls `listing_changed` too, which invalidates cached responses.
    """
    sources = sources_of(listing, active_tiers())
    digest = digest_of(sources)
    manifest = AgentManifest.objects.filter(listing=listing).first()
    if manifest is not None and manifest.source_digest == digest:
        return manifest
    manifest = AgentManifest(listing=listing, body=build(sources), source_digest=digest)
    # Concurrent transactions write the same manifest.
    AgentManifest.objects.bulk_create([manifest], update_conflicts=True, unique_fields=["listing"], update_fields=_COLUMNS)
    return manifest

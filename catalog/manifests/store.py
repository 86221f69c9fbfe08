"""Keeps one generated manifest for each listing, and makes it anew when it is stale."""

from ..models import AgentManifest, Listing
from ..selectors.taxonomy import active_tiers
from .generate import build
from .sources import digest_of, sources_of


def ensure_manifest(listing: Listing) -> AgentManifest:
    """Return the listing's manifest, made now where there is none or its sources have changed."""
    sources = sources_of(listing, active_tiers())
    digest = digest_of(sources)
    manifest = AgentManifest.objects.filter(listing=listing).first()
    if manifest is not None and manifest.source_digest == digest:
        return manifest
    # Two at once make the same from the same sources: whichever is written last changes nothing.
    manifest, _ = AgentManifest.objects.update_or_create(listing=listing, defaults={"body": build(sources), "source_digest": digest})
    return manifest

"""Agent manifests: descriptions of listings for AI clients, generated from the listing and its reviewed file alone."""

from .store import ensure_manifest, manifest_of, stored_manifest

__all__ = ["ensure_manifest", "manifest_of", "stored_manifest"]

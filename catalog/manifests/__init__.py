"""Agent manifests: what AI clients read about a listing, made from nothing but the listing and its reviewed file."""

from .store import ensure_manifest, manifest_of, stored_manifest

__all__ = ["ensure_manifest", "manifest_of", "stored_manifest"]

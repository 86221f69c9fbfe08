"""AI manifests: descriptions of listings for AI assistants, generated from their sources (`sources.sources_of`), without a language model."""

from .store import ensure_manifest, manifest_of, stored_manifest

__all__ = ["ensure_manifest", "manifest_of", "stored_manifest"]

"""The stored AI manifest of a listing."""

from django.db import models

from .listings import Listing


class AgentManifest(models.Model):
    """The AI manifest of a listing, generated from its sources (`manifests.sources.sources_of`), without a language model."""

    listing = models.OneToOneField(Listing, primary_key=True, on_delete=models.CASCADE, related_name="agent_manifest")
    body = models.JSONField()
    # Hash of the sources; the manifest is stale when they have another one.
    source_digest = models.CharField(max_length=64)
    generated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"Manifest of {self.listing_id}"

"""What AI clients read about a listing."""

from django.db import models

from .listings import Listing


class AgentManifest(models.Model):
    """The generated agent manifest (reference section 2), deterministic from the listing and its technical data."""

    listing = models.OneToOneField(Listing, primary_key=True, on_delete=models.CASCADE, related_name="agent_manifest")
    body = models.JSONField()
    # Hash of what it was made from: another hash now means that it is stale.
    source_digest = models.CharField(max_length=64)
    generated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"Manifest of {self.listing_id}"

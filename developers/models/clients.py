"""The metadata of OAuth clients: a change waits for a review."""

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from marketplace.review.models import Claimable

from .apps import App


class ClientMetadataStatus(models.TextChoices):
    """The status of a client's metadata: whether the latest waits for a review."""

    UNCHANGED = "Unchanged"
    CHANGED = "Changed"


class ClientMetadata(Claimable):
    """The document of a client with a metadata document, as accepted and as last fetched, or the new redirect URIs of a developer's app.

    A client with a metadata document may use the redirect URIs that are in both: one that the document drops is refused at once, a new one waits
    for the review. A developer's app keeps the reviewed ones until then.
    """

    app = models.OneToOneField(App, primary_key=True, on_delete=models.CASCADE, related_name="client_metadata")
    # Of the document; empty for an app of a developer.
    host = models.CharField(max_length=255, db_index=True, blank=True)
    status = models.CharField(max_length=16, choices=ClientMetadataStatus.choices, default=ClientMetadataStatus.UNCHANGED)
    # `name` and `redirect_uris`: what a reviewer accepted; of a pending client what was fetched first.
    reviewed: Any = models.JSONField()
    # The same as last fetched, or as the developer wants them to be.
    latest: Any = models.JSONField()
    # When the document was last read; while a change waits, since when.
    read_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-app_id",)
        verbose_name = verbose_name_plural = "client metadata"
        constraints = (models.CheckConstraint(condition=Q(status__in=ClientMetadataStatus.values), name="clientmetadata_status_known"),)

    def __str__(self) -> str:
        return f"{self.app} ({self.host})" if self.host else str(self.app)

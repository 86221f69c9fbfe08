"""Reviews of the names and redirect URIs of apps: a change waits for one."""

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from marketplace.review.models import Claimable

from .apps import App


class MetadataReviewStatus(models.TextChoices):
    """Whether a change of the metadata waits for a reviewer; a refused one does not, although the latest metadata differ from the reviewed ones."""

    UNCHANGED = "Unchanged"
    CHANGED = "Changed"


class MetadataReview(Claimable):
    """An app's name and redirect URIs, as reviewed, and as its document or its developer last gave them.

    Each client with a metadata document has one. It may use the redirect URIs that are in both: one that the document drops is refused at once,
    a new one waits for the review. A developer's app gets one when new redirect URIs have to be reviewed, and keeps the reviewed ones until then.
    """

    app = models.OneToOneField(App, primary_key=True, on_delete=models.CASCADE, related_name="metadata_review")
    # The host of the metadata document; empty for a developer's app.
    host = models.CharField(max_length=255, db_index=True, blank=True)
    status = models.CharField(max_length=16, choices=MetadataReviewStatus.choices, default=MetadataReviewStatus.UNCHANGED)
    # `name` and `redirect_uris`: what a reviewer accepted; for a pending client what was fetched first.
    reviewed: Any = models.JSONField()
    # The same as last fetched, or as the developer wants them to be.
    latest: Any = models.JSONField()
    # When the document was last read; while a change waits, since when.
    read_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-app_id",)
        constraints = (models.CheckConstraint(condition=Q(status__in=MetadataReviewStatus.values), name="metadatareview_status_known"),)

    def __str__(self) -> str:
        return f"{self.app} ({self.host})" if self.host else str(self.app)

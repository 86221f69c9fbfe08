"""Editorial review: one case for each submission."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from marketplace.core.ids import new_id

from .listings import Listing


class ReviewKind(models.TextChoices):
    """What is under review."""

    LISTING = "Listing"
    # The candidate file of a published listing.
    UPDATE = "Update"
    # A published listing that a reviewer took down.
    TAKEDOWN = "Takedown"


class ReviewStatus(models.TextChoices):
    """Where the case stands."""

    PENDING = "Pending"
    APPROVED = "Approved"
    REJECTED = "Rejected"
    WITHDRAWN = "Withdrawn"


class ListingReview(models.Model):
    """One submission and what came of it; findings are `[{code, field, message, hint}]`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    listing = models.ForeignKey(Listing, on_delete=models.CASCADE, related_name="reviews")
    kind = models.CharField(max_length=16, choices=ReviewKind.choices, default=ReviewKind.LISTING)
    status = models.CharField(max_length=16, choices=ReviewStatus.choices, default=ReviewStatus.PENDING)
    submitted_at = models.DateTimeField()
    submitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    # The checks as they came out at submission: [{name, passed, detail}].
    checks = models.JSONField(default=list)
    # The listing's fields as they were submitted; the last approved one is what editors compare with.
    snapshot = models.JSONField(default=dict)
    findings = models.JSONField(default=list)
    note = models.TextField(blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    claimed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    claimed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=("listing",), condition=Q(status="Pending"), name="listingreview_one_open"),
            models.CheckConstraint(condition=Q(status__in=ReviewStatus.values), name="listingreview_status_known"),
            models.CheckConstraint(condition=Q(kind__in=ReviewKind.values), name="listingreview_kind_known"),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.listing}"

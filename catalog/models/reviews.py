"""Editorial review: a `ListingReview` for each submission, takedown, and restoration by an appeal."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from marketplace.core.ids import new_id
from marketplace.review.models import Claimable

from .listings import Listing

CODE_CHARS = 60
FIELD_CHARS = 60
MESSAGE_CHARS = 300


# Codes of the findings of a takedown and of a blocked file. They are reserved: no rejection reason can have them.
TAKEDOWN = "takedown"
MALICIOUS_FILE = "malicious_file"


class ReviewKind(models.TextChoices):
    """What a review decided on."""

    LISTING = "Listing"
    # The candidate file of a published listing.
    UPDATE = "Update"
    # A published listing that a reviewer took down.
    TAKEDOWN = "Takedown"


class ReviewStatus(models.TextChoices):
    """The status of a review."""

    PENDING = "Pending"
    APPROVED = "Approved"
    REJECTED = "Rejected"
    WITHDRAWN = "Withdrawn"


class ListingReview(Claimable):
    """A submission and its outcome; or a takedown or a restoration by an appeal, which nobody submitted. Findings are `[{code, field, message, hint}]`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    listing = models.ForeignKey(Listing, on_delete=models.CASCADE, related_name="reviews")
    kind = models.CharField(max_length=16, choices=ReviewKind.choices, default=ReviewKind.LISTING)
    status = models.CharField(max_length=16, choices=ReviewStatus.choices, default=ReviewStatus.PENDING)
    submitted_at = models.DateTimeField()
    submitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    # Results of the checks at submission: [{name, passed, detail, warning}].
    checks = models.JSONField(default=list)
    # The listing's fields at submission; reviewers compare it with the last decided submission (`is_vendor_submission`).
    snapshot = models.JSONField(default=dict)
    findings = models.JSONField(default=list)
    note = models.TextField(blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=("listing",), condition=Q(status="Pending"), name="listingreview_one_open"),
            models.CheckConstraint(condition=Q(status__in=ReviewStatus.values), name="listingreview_status_known"),
            models.CheckConstraint(condition=Q(kind__in=ReviewKind.values), name="listingreview_kind_known"),
        )
        # The queue of pending reviews, oldest first.
        indexes = (
            models.Index(fields=("submitted_at", "id"), condition=Q(status="Pending"), name="listingreview_queue"),
            # Recent decisions, for charts.
            models.Index(fields=("decided_at",), name="listingreview_decided"),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.listing}"

    @property
    def submitted_file_id(self) -> str:
        """The id of the file at submission; empty without one."""
        return str((self.snapshot.get("file") or {}).get("id", ""))

    @property
    def is_vendor_submission(self) -> bool:
        """Whether the vendor submitted it and no takedown ended it. False for the records that a takedown or an appeal creates."""
        ended = {finding.get("code") for finding in self.findings} & {TAKEDOWN, MALICIOUS_FILE}
        return self.kind != ReviewKind.TAKEDOWN and self.submitted_by_id is not None and not ended


class RejectionReason(models.Model):
    """A reason that reviewers choose from when they reject a submission; vendors read its message and hint."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # Stable code for programs; findings contain it, so it never changes.
    code = models.SlugField(max_length=CODE_CHARS, unique=True)
    # The listing's field by its name in the API; empty for the whole listing.
    field = models.CharField(max_length=FIELD_CHARS, blank=True)
    message = models.CharField(max_length=MESSAGE_CHARS)
    hint = models.CharField(max_length=MESSAGE_CHARS)
    is_active = models.BooleanField(default=True)

    class Meta:
        ordering = ("field", "code")

    def __str__(self) -> str:
        return self.message

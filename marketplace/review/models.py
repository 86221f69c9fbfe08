"""Claims on rows that wait for a decision, saved replies, and appeals."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from marketplace.core import bounds
from marketplace.core.ids import new_id
from marketplace.core.models import AuditEntry


class Claimable(models.Model):
    """A row that one reviewer at a time can claim."""

    claimed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    claimed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class SavedReplyUse(models.TextChoices):
    """The decisions that saved replies are offered for."""

    APPLICATION_APPROVE = "application.approve", "Developer application: approve"
    APPLICATION_REJECT = "application.reject", "Developer application: reject"
    APPLICATION_ASK = "application.ask", "Developer application: ask a question"
    VENDOR_APPROVE = "vendor.approve", "Vendor: approve"
    VENDOR_REJECT = "vendor.reject", "Vendor: reject"
    VENDOR_SUSPEND = "vendor.suspend", "Vendor: suspend"
    METADATA_ACCEPT = "metadata_review.accept", "Changed client: accept"
    METADATA_REFUSE = "metadata_review.refuse", "Changed client: refuse"


class SavedReply(models.Model):
    """A frequent reason that reviewers can choose instead of writing it each time."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    use = models.CharField("decision", max_length=40, choices=SavedReplyUse.choices)
    text = models.CharField(max_length=300)
    is_active = models.BooleanField(default=True)

    class Meta:
        ordering = ("use", "text")
        verbose_name = "saved reply"
        verbose_name_plural = "saved replies"
        constraints = (
            models.UniqueConstraint(fields=("use", "text"), name="savedreply_once"),
            models.CheckConstraint(condition=models.Q(use__in=SavedReplyUse.values), name="savedreply_use_known"),
        )

    def __str__(self) -> str:
        return self.text


class AppealKind(models.TextChoices):
    """What a decision that can be appealed is about."""

    ASSET = "asset", "A listing"
    STORE = "store", "A store"
    APP = "app", "An app"
    APPLICATION = "application", "A developer application"


class AppealStatus(models.TextChoices):
    """The status of an appeal."""

    PENDING = "Pending"
    DISMISSED = "Dismissed"
    ACCEPTED = "Accepted"


class Appeal(Claimable):
    """A request to decide again, by the owner of what a decision is about; one for each decision."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # The entry of the audit log that records who decided, on what, when and why.
    decision = models.OneToOneField(AuditEntry, on_delete=models.PROTECT, related_name="appeal")
    appellant = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField("why it is wrong", max_length=bounds.REASON_CHARS)
    status = models.CharField(max_length=16, choices=AppealStatus.choices, default=AppealStatus.PENDING)
    submitted_at = models.DateTimeField(default=timezone.now)
    answer = models.TextField(max_length=bounds.REASON_CHARS, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ("-id",)
        default_permissions = ("view",)
        permissions = (("decide_appeal", "Can decide on appeals"),)
        constraints = (
            models.CheckConstraint(
                condition=Q(status="Pending", decided_at__isnull=True)
                | Q(status__in=("Dismissed", "Accepted"), decided_at__isnull=False, decided_by__isnull=False) & ~Q(answer=""),
                name="appeal_status_consistent",
            ),
        )
        indexes = (
            models.Index(fields=("submitted_at", "id"), condition=Q(status="Pending"), name="appeal_queue"),
            models.Index(fields=("decided_at",), name="appeal_decided"),
            models.Index(fields=("appellant", "-id"), name="appeal_of"),
        )

    def __str__(self) -> str:
        return f"Appeal of {self.appellant}"

"""Purchases above a spending limit that wait for the wallet's owner."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from developers.models import App
from marketplace.core import bounds as core_bounds
from marketplace.core.ids import new_id

from .. import bounds
from .orders import Order
from .quotes import Quote


class ApprovalStatus(models.TextChoices):
    """The status of an approval. Completed means that the purchase was made."""

    WAITING = "Waiting"
    APPROVED = "Approved"
    DECLINED = "Declined"
    COMPLETED = "Completed"
    # Not stored: one that waited, or was approved, until `expires_at`.
    EXPIRED = "Expired"


class Approval(models.Model):
    """A purchase that an app or a personal token asks the wallet's owner to allow. Its quote guarantees the price until it expires.

    Unless it was used, it is deleted with its quote, a day after it has expired.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    quote = models.OneToOneField(Quote, on_delete=models.CASCADE, related_name="approval")
    # Who asked: an app, or else a token, by the id that its rotations share; and the name of either at that time.
    app = models.ForeignKey(App, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    spender_id = models.UUIDField(null=True, blank=True)
    spender_name = models.CharField(max_length=core_bounds.NAME_CHARS)
    # The request that asked, and that completes the purchase.
    idempotency_key = models.CharField(max_length=core_bounds.IDEMPOTENCY_KEY_CHARS)
    fingerprint = models.CharField(max_length=64)
    # Why it is to be bought, in the words of the app; and the name of the limit that it exceeds.
    reason = models.CharField(max_length=bounds.APPROVAL_REASON_CHARS, blank=True)
    exceeded_limit = models.CharField(max_length=16)
    status = models.CharField(max_length=16, choices=ApprovalStatus.choices, default=ApprovalStatus.WAITING)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    order = models.OneToOneField(Order, null=True, blank=True, on_delete=models.PROTECT, related_name="approval")

    class Meta:
        ordering = ("-id",)
        default_permissions = ("view",)
        constraints = (
            # Either app or token is NULL, and NULLs are distinct in a unique constraint.
            models.UniqueConstraint(fields=("owner", "app", "idempotency_key"), name="approval_once_for_app_key"),
            models.UniqueConstraint(fields=("owner", "spender_id", "idempotency_key"), name="approval_once_for_token_key"),
            models.CheckConstraint(condition=Q(app__isnull=True) ^ Q(spender_id__isnull=True), name="approval_app_or_token"),
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="approval_lasts"),
            models.CheckConstraint(
                condition=Q(status="Waiting", decided_at__isnull=True, order__isnull=True)
                | Q(status__in=("Approved", "Declined"), decided_at__isnull=False, order__isnull=True)
                | Q(status="Completed", decided_at__isnull=False, order__isnull=False),
                name="approval_status_consistent",
            ),
        )

    def __str__(self) -> str:
        return str(self.id)

    @property
    def current_status(self) -> ApprovalStatus:
        """The status, Expired where it ended without a decision or without a purchase."""
        is_open = self.status in {ApprovalStatus.WAITING, ApprovalStatus.APPROVED}
        return ApprovalStatus.EXPIRED if is_open and self.expires_at <= timezone.now() else ApprovalStatus(self.status)

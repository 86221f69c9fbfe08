"""Refunds that buyers ask for."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from marketplace.core import bounds
from marketplace.core.ids import new_id
from marketplace.review.models import Claimable

from .orders import Order


class RefundReason(models.TextChoices):
    """Why a buyer asks for a refund."""

    FAULTY = "faulty", "It does not open or does not work"
    NOT_AS_DESCRIBED = "not_as_described", "It is not what the page described"
    MISTAKE = "mistake", "I bought it by mistake"
    OTHER = "other", "Another reason"


class RefundRequestStatus(models.TextChoices):
    """The status of a request; the last three are final."""

    # The vendor is to answer.
    WAITING = "Waiting"
    # By the vendor: the buyer can ask staff.
    DECLINED = "Declined"
    # Staff decide.
    IN_REVIEW = "InReview"
    REFUNDED = "Refunded"
    # By staff.
    REFUSED = "Refused"
    # The purchase was charged back meanwhile.
    CLOSED = "Closed"


class RefundRequest(Claimable):
    """A buyer's request for a refund, one for each order. The vendor answers, then staff decide."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    order = models.OneToOneField(Order, on_delete=models.PROTECT, related_name="refund_request")
    vendor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)
    status = models.CharField(max_length=16, choices=RefundRequestStatus.choices)
    reason = models.CharField(max_length=24, choices=RefundReason.choices)
    details = models.CharField(max_length=bounds.REASON_CHARS, blank=True)
    asked_at = models.DateTimeField(default=timezone.now)
    # When staff take over; empty if the vendor was not asked.
    answer_by = models.DateTimeField(null=True, blank=True)
    # Why the vendor declined, and why the buyer does not accept that.
    answer = models.CharField(max_length=bounds.REASON_CHARS, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    objection = models.CharField(max_length=bounds.REASON_CHARS, blank=True)
    escalated_at = models.DateTimeField(null=True, blank=True)
    # Why staff refused.
    decision = models.CharField(max_length=bounds.REASON_CHARS, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name = "refund request"
        default_permissions = ("view",)
        permissions = (("decide_refundrequest", "Can decide on refund requests"),)
        constraints = (
            models.CheckConstraint(condition=Q(reason__in=RefundReason.values), name="refundrequest_reason_known"),
            models.CheckConstraint(
                condition=Q(
                    status="Waiting", answer_by__isnull=False, answered_at__isnull=True, escalated_at__isnull=True, ended_at__isnull=True
                )
                | Q(status="Declined", answered_at__isnull=False, escalated_at__isnull=True, ended_at__isnull=True) & ~Q(answer="")
                | Q(status="InReview", escalated_at__isnull=False, ended_at__isnull=True)
                | Q(status="Refused", escalated_at__isnull=False, ended_at__isnull=False) & ~Q(decision="")
                | Q(status__in=("Refunded", "Closed"), ended_at__isnull=False, decision=""),
                name="refundrequest_status_consistent",
            ),
        )
        indexes = (
            models.Index(fields=("answer_by",), condition=Q(status="Waiting"), name="refundrequest_unanswered"),
            models.Index(fields=("escalated_at",), condition=Q(status="InReview"), name="refundrequest_in_review"),
            models.Index(fields=("vendor", "-asked_at", "-id"), name="refundrequest_newest"),
        )

    def __str__(self) -> str:
        return str(self.id)

    @property
    def is_overdue(self) -> bool:
        """Whether the vendor's time to answer is over; the request may not have been passed on to staff yet."""
        return self.status == RefundRequestStatus.WAITING and self.answer_by is not None and self.answer_by <= timezone.now()

"""A developer's application and the conversation about it."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from marketplace.core import bounds
from marketplace.core.ids import new_id
from marketplace.review.models import Claimable


class ApplicationStatus(models.TextChoices):
    """The status of an application."""

    PENDING = "Pending"
    APPROVED = "Approved"
    REJECTED = "Rejected"
    MORE_INFO_NEEDED = "MoreInfoNeeded"
    # The approval was withdrawn, and the developer's apps were suspended.
    WITHDRAWN = "Withdrawn"


OPEN_STATUSES = (ApplicationStatus.PENDING, ApplicationStatus.MORE_INFO_NEEDED)
# After these a new application can be submitted.
CLOSED_STATUSES = (ApplicationStatus.REJECTED, ApplicationStatus.WITHDRAWN)


class DeveloperApplication(Claimable):
    """A user's application for developer access; its approval makes the user an approved developer."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="developer_applications")
    status = models.CharField(max_length=16, choices=ApplicationStatus.choices, default=ApplicationStatus.PENDING)
    company = models.CharField(max_length=bounds.NAME_CHARS, blank=True)
    website = models.URLField(max_length=bounds.URL_CHARS, blank=True)
    what = models.TextField("what is being built", max_length=bounds.REASON_CHARS)
    why = models.TextField("why it needs the API", max_length=bounds.REASON_CHARS)
    decision_reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ("-id",)
        permissions = (("decide_developerapplication", "Can decide on developer applications"),)
        constraints = (
            models.UniqueConstraint(fields=("user",), condition=Q(status__in=OPEN_STATUSES), name="application_one_open"),
            models.UniqueConstraint(fields=("user",), condition=Q(status="Approved"), name="application_one_approved"),
            models.CheckConstraint(condition=Q(status__in=ApplicationStatus.values), name="application_status_known"),
        )

    def __str__(self) -> str:
        return f"Application of {self.user}"


class ApplicationMessage(models.Model):
    """A message of the conversation: a reviewer's question or the developer's answer."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    application = models.ForeignKey(DeveloperApplication, on_delete=models.CASCADE, related_name="messages")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(max_length=bounds.REASON_CHARS)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.author} at {self.at:%Y-%m-%d %H:%M}"

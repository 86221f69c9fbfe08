"""Claims on rows that wait for a decision, and saved replies."""

from django.conf import settings
from django.db import models

from marketplace.core.ids import new_id


class Claimable(models.Model):
    """A row that one reviewer at a time can claim."""

    claimed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    claimed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """An abstract model."""

        abstract = True


class SavedReplyUse(models.TextChoices):
    """The decisions that saved replies are offered for."""

    APPLICATION_APPROVE = "application.approve", "Developer application: approve"
    APPLICATION_REJECT = "application.reject", "Developer application: reject"
    APPLICATION_ASK = "application.ask", "Developer application: ask a question"
    VENDOR_APPROVE = "vendor.approve", "Vendor: approve"
    VENDOR_SUSPEND = "vendor.suspend", "Vendor: suspend"
    DOCUMENT_ACCEPT = "client_document.accept", "Changed client: accept"
    DOCUMENT_REFUSE = "client_document.refuse", "Changed client: refuse"


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

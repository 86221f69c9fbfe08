"""Tables that every app may write to."""

from typing import Any, NoReturn

from django.conf import settings
from django.db import models

from .ids import new_id


class AuditEntry(models.Model):
    """One decision or credential event: who did what to which subject, when and why.

    Never changed: triggers refuse it, whoever asks (`marketplace.core.apps`).
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    at = models.DateTimeField(auto_now_add=True)
    # Empty for the service itself (a job, a command).
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    # `noun.verb`, such as `listing.approve`.
    action = models.CharField(max_length=64)
    subject_type = models.CharField(max_length=64)
    subject_id = models.CharField(max_length=64)
    from_state = models.CharField(max_length=32, blank=True)
    to_state = models.CharField(max_length=32, blank=True)
    reason = models.TextField(blank=True)
    data = models.JSONField(default=dict)
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "audit entries"
        indexes = (
            models.Index(fields=("subject_type", "subject_id", "-id"), name="audit_subject"),
            models.Index(fields=("request_id",), condition=~models.Q(request_id=""), name="audit_request"),
        )

    def __str__(self) -> str:
        return f"{self.action} {self.subject_type} {self.subject_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert once; an entry is never changed."""
        if not self._state.adding:
            self.delete()
        super().save(*args, **kwargs)

    def delete(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Refuse: the audit log only grows."""
        message = "audit entries are never changed or deleted"
        raise TypeError(message)


class ReadyUse(models.TextChoices):
    """The decisions that ready words are offered for."""

    APPLICATION_APPROVE = "application.approve", "Developer application: approve"
    APPLICATION_REJECT = "application.reject", "Developer application: reject"
    APPLICATION_ASK = "application.ask", "Developer application: ask a question"
    VENDOR_APPROVE = "vendor.approve", "Vendor: approve"
    VENDOR_SUSPEND = "vendor.suspend", "Vendor: suspend"
    DOCUMENT_ACCEPT = "client_document.accept", "Changed client: accept"
    DOCUMENT_REFUSE = "client_document.refuse", "Changed client: refuse"


class ReadyWords(models.Model):
    """A reason that reviewers give often, to choose instead of writing it each time."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    use = models.CharField("decision", max_length=40, choices=ReadyUse.choices)
    words = models.CharField(max_length=300)
    is_active = models.BooleanField(default=True)

    class Meta:
        ordering = ("use", "words")
        verbose_name = "saved reply"
        verbose_name_plural = "saved replies"
        constraints = (
            models.UniqueConstraint(fields=("use", "words"), name="readywords_once"),
            models.CheckConstraint(condition=models.Q(use__in=ReadyUse.values), name="readywords_use_known"),
        )

    def __str__(self) -> str:
        return self.words

"""The audit log, and responses by Idempotency-Key."""

from django.conf import settings
from django.db import models

from . import bounds
from .ids import new_id


class AuditEntry(models.Model):
    """An entry of the audit log: who did what to which subject, when and why.

    Entries are never changed; triggers enforce it (`marketplace.core.apps`).
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    at = models.DateTimeField(auto_now_add=True)
    # Null for the service itself (a job, a command), and for users who delete their own account.
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


class IdempotencyRecord(models.Model):
    """The response to a request with an Idempotency-Key, saved in the transaction of the request."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # The app or personal token that sent it, else the owner: two senders may use the same key.
    requester_id = models.UUIDField()
    key = models.CharField(max_length=bounds.IDEMPOTENCY_KEY_CHARS)
    # Hash of the operation and its input: the same key with different input is an error.
    fingerprint = models.CharField(max_length=64)
    response = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("owner", "requester_id", "key"), name="idempotencyrecord_key_used"),)

    def __str__(self) -> str:
        return self.key

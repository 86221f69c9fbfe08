"""Exports of a user's personal data."""

from django.conf import settings
from django.db import models

from marketplace.core.ids import new_id


class AccountExport(models.Model):
    """A user's latest export, kept encrypted until it expires or is replaced by a newer one."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    requested_at = models.DateTimeField()
    # Empty while it is being written.
    encrypted = models.TextField(blank=True)
    size = models.PositiveBigIntegerField(default=0)
    expires_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        indexes = (models.Index(fields=("expires_at",), name="accountexport_expires"),)

    def __str__(self) -> str:
        return str(self.id)

    @property
    def ready(self) -> bool:
        """Whether it can be downloaded."""
        return bool(self.encrypted)

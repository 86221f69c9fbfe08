"""Announcements of new versions."""

from django.db import models

from catalog.models import Deliverable, Listing


class UpdateAnnouncement(models.Model):
    """The last file of a listing that its licence holders were mailed about."""

    listing = models.OneToOneField(Listing, primary_key=True, on_delete=models.CASCADE, related_name="+")
    deliverable = models.ForeignKey(Deliverable, on_delete=models.CASCADE, related_name="+", db_index=False)
    announced_at = models.DateTimeField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.deliverable_id} at {self.announced_at}"

"""Listings that users keep for later."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from catalog.models import Listing
from marketplace.core.ids import new_id


class Favourite(models.Model):
    """A listing that a user keeps for later."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="favourites", db_index=False)
    listing = models.ForeignKey(Listing, on_delete=models.CASCADE, related_name="+")
    added_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-added_at", "-id")
        default_permissions = ()
        constraints = (models.UniqueConstraint(fields=("user", "listing"), name="favourite_once"),)
        indexes = (models.Index(fields=("user", "-added_at", "-id"), name="favourite_newest"),)

    def __str__(self) -> str:
        return f"{self.listing_id} of {self.user_id}"

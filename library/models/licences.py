"""Licences: which user may use which listing, on which terms."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from catalog import bounds as catalog_bounds
from catalog.models import Deliverable, LicenseTier, Listing
from marketplace.core import bounds
from marketplace.core.ids import new_id


class Licence(models.Model):
    """One buyer's right to one listing under one tier, from a purchase until a refund.

    Title, vendor and version are what they were called at the purchase: certificates say what was bought.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    buyer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="licences")
    listing = models.ForeignKey(Listing, on_delete=models.PROTECT, related_name="licences")
    tier = models.ForeignKey(LicenseTier, on_delete=models.PROTECT, related_name="+")
    # Orders live in a package above this one, hence the plain reference.
    order_id = models.UUIDField(editable=False)
    title = models.CharField(max_length=catalog_bounds.TITLE_CHARS)
    store_name = models.CharField(max_length=bounds.NAME_CHARS)
    version = models.CharField(max_length=catalog_bounds.VERSION_CHARS, blank=True)
    # The file that was on sale at the purchase; later reviewed ones replace it in the buyer's downloads.
    deliverable = models.ForeignKey(Deliverable, on_delete=models.PROTECT, related_name="+")
    acquired_at = models.DateTimeField(default=timezone.now)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoke_reason = models.CharField(max_length=bounds.REASON_CHARS, blank=True)

    class Meta:
        ordering = ("-acquired_at", "-id")
        constraints = (
            models.UniqueConstraint(fields=("buyer", "listing", "tier"), condition=Q(revoked_at__isnull=True), name="licence_one_live"),
            models.UniqueConstraint(fields=("order_id",), name="licence_one_for_order"),
        )
        indexes = (models.Index(fields=("buyer", "-acquired_at", "-id"), condition=Q(revoked_at__isnull=True), name="licence_newest"),)

    def __str__(self) -> str:
        return f"{self.tier_id} licence of {self.listing_id}"

    @property
    def live(self) -> bool:
        """Tell whether it was never revoked."""
        return self.revoked_at is None

"""Discounts: a percentage off the prices of a listing, for a while."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from marketplace.core.ids import new_id

from .. import bounds
from .listings import Listing


class DiscountStatus(models.TextChoices):
    """Whether a discount applies."""

    PLANNED = "Planned"
    RUNNING = "Running"
    ENDED = "Ended"


class Discount(models.Model):
    """A discount of a listing from `starts_at` until just before `ends_at`, by the database's clock.

    With a code it applies to the purchases that name the code, without one to all. A trigger refuses two discounts of a listing
    with the same code, or without one, at the same time.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    listing = models.ForeignKey(Listing, on_delete=models.CASCADE, related_name="discounts", db_index=False)
    percent = models.PositiveSmallIntegerField()
    # In upper case; empty for a discount that everybody gets.
    code = models.CharField(max_length=bounds.DISCOUNT_CODE_CHARS, blank=True)
    starts_at = models.DateTimeField(db_default=Now())
    ends_at = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-starts_at", "-id")
        permissions = (("end_discount", "Can end discounts of vendors"),)
        constraints = (
            models.CheckConstraint(condition=Q(percent__range=(1, bounds.MAX_DISCOUNT_PERCENT)), name="discount_percent_range"),
            models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="discount_lasts"),
        )
        indexes = (models.Index(fields=("listing", "code", "ends_at"), name="discount_of_listing"),)

    def __str__(self) -> str:
        return f"{self.percent} % until {self.ends_at:%Y-%m-%d %H:%M}"

    @property
    def status(self) -> DiscountStatus:
        """The status at the database's time, if the query annotated it as `now`, else at the server's."""
        now = getattr(self, "now", None) or timezone.now()
        # One that was ended before its beginning ends before it.
        if now >= self.ends_at:
            return DiscountStatus.ENDED
        return DiscountStatus.PLANNED if now < self.starts_at else DiscountStatus.RUNNING

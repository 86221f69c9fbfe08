"""Spending limits: set by a wallet's owner for an app or a token, or by staff for an app."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from marketplace.core.ids import new_id
from marketplace.core.money import WALLET_CURRENCIES

from .apps import App
from .credentials import AccessToken

AMOUNTS = ("per_purchase_minor", "per_day_minor", "total_minor")
_SOME_AMOUNT = Q(per_purchase_minor__isnull=False) | Q(per_day_minor__isnull=False) | Q(total_minor__isnull=False)


def _not_zero(field: str) -> Q:
    return Q(**{f"{field}__isnull": True}) | Q(**{f"{field}__gt": 0})


class SpendingLimit(models.Model):
    """A limit of what an app, or a token without one, may spend from a wallet in one currency, in minor units."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # The wallet's owner; None for a limit that staff set for the app, which applies to each wallet by itself.
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="spending_limits")
    app = models.ForeignKey(App, null=True, blank=True, on_delete=models.CASCADE, related_name="spending_limits")
    # A token without an app.
    token = models.ForeignKey(AccessToken, null=True, blank=True, on_delete=models.CASCADE, related_name="spending_limits")
    currency = models.CharField(max_length=3, choices=[(currency.value, currency.value) for currency in WALLET_CURRENCIES])
    per_purchase_minor = models.PositiveBigIntegerField(null=True, blank=True)
    # Days are in UTC.
    per_day_minor = models.PositiveBigIntegerField(null=True, blank=True)
    total_minor = models.PositiveBigIntegerField(null=True, blank=True)
    # Slugs of the categories that may be bought from; empty: all.
    categories = models.JSONField(default=list, blank=True)
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("currency", "id")
        constraints = (
            models.CheckConstraint(condition=Q(app__isnull=True) ^ Q(token__isnull=True), name="spendinglimit_app_or_token"),
            models.CheckConstraint(condition=Q(owner__isnull=False) | Q(app__isnull=False), name="spendinglimit_without_owner_is_for_app"),
            models.CheckConstraint(
                condition=Q(currency__in=[currency.value for currency in WALLET_CURRENCIES]), name="spendinglimit_wallet_currency"
            ),
            models.CheckConstraint(condition=_SOME_AMOUNT, name="spendinglimit_some_amount"),
            *(models.CheckConstraint(condition=_not_zero(field), name=f"spendinglimit_{field}_above_zero") for field in AMOUNTS),
            models.UniqueConstraint(fields=("owner", "app", "currency"), name="spendinglimit_once_for_app"),
            models.UniqueConstraint(fields=("token", "currency"), name="spendinglimit_once_for_token"),
            models.UniqueConstraint(fields=("app", "currency"), condition=Q(owner=None), name="spendinglimit_one_of_app"),
        )

    def __str__(self) -> str:
        return f"{self.currency} limit of {self.app or self.token}"

"""Licences of users for listings."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from catalog import bounds as catalog_bounds
from catalog.models import Deliverable, LicenseTerms, LicenseTier, Listing
from catalog.models.listings import AiTraining
from marketplace.core import bounds
from marketplace.core.ids import new_id

# A replaced licence permits nothing, but its tier is not sold to its holder again: a refund of the upgrade restores it.
CURRENT = Q(revoked_at__isnull=True, replaced_at__isnull=True)


class Licence(models.Model):
    """A licence for a listing under a tier, from the purchase until a refund, a charge-back or an upgrade.

    Title, store name, version and the term for AI training are those at the purchase.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # The user whose library it is in, not always the one who paid; empty until a licence for someone else is claimed.
    holder = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="licences")
    # Whom it was bought for, if not for the buyer; erased when the account that claimed it is deleted.
    licensee_name = models.CharField(max_length=bounds.NAME_CHARS, blank=True)
    licensee_email = models.EmailField(blank=True)
    # SHA-256 of the secret in the claim link; empty until one is sent.
    claim_digest = models.CharField(max_length=64, blank=True)
    # Set at the purchase if it was for someone else, and at each later link: not empty marks such a licence for ever.
    claim_sent_at = models.DateTimeField(null=True, blank=True)
    # When the licensee took it by the link.
    claimed_at = models.DateTimeField(null=True, blank=True)
    listing = models.ForeignKey(Listing, on_delete=models.PROTECT, related_name="licences")
    tier = models.ForeignKey(LicenseTier, on_delete=models.PROTECT, related_name="+")
    # Those at the purchase.
    terms = models.ForeignKey(LicenseTerms, on_delete=models.PROTECT, related_name="+", db_index=False)
    # No foreign key: orders belong to an app above this one.
    order_id = models.UUIDField(editable=False)
    title = models.CharField(max_length=catalog_bounds.TITLE_CHARS)
    store_name = models.CharField(max_length=bounds.NAME_CHARS)
    version = models.CharField(max_length=catalog_bounds.VERSION_CHARS, blank=True)
    ai_training = models.CharField(max_length=10, choices=AiTraining.choices, default=AiTraining.FORBIDDEN)
    # The file on sale at the purchase; buyers download later approved files instead.
    deliverable = models.ForeignKey(Deliverable, on_delete=models.PROTECT, related_name="+")
    acquired_at = models.DateTimeField(default=timezone.now)
    revoked_at = models.DateTimeField(null=True, blank=True)
    # While the payment is disputed, nothing can be downloaded.
    suspended_at = models.DateTimeField(null=True, blank=True)
    # The licence that this one replaces, and when this one was replaced by an upgrade that was not revoked.
    replaces = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="replaced_by", db_index=False)
    replaced_at = models.DateTimeField(null=True, blank=True)
    revoke_reason = models.CharField(max_length=bounds.REASON_CHARS, blank=True)

    class Meta:
        ordering = ("-acquired_at", "-id")
        constraints = (
            models.UniqueConstraint(
                fields=("holder", "listing", "tier"), condition=Q(revoked_at__isnull=True), name="licence_one_unrevoked"
            ),
            models.UniqueConstraint(
                fields=("licensee_email", "listing", "tier"),
                condition=Q(revoked_at__isnull=True) & ~Q(licensee_email=""),
                name="licence_one_for_licensee",
            ),
            models.UniqueConstraint(fields=("claim_digest",), condition=~Q(claim_digest=""), name="licence_claim_once"),
            models.CheckConstraint(
                condition=Q(holder__isnull=False) | Q(~Q(licensee_email=""), claim_sent_at__isnull=False, claimed_at__isnull=True),
                name="licence_has_licensee",
            ),
            models.UniqueConstraint(fields=("order_id",), name="licence_one_for_order"),
            models.UniqueConstraint(fields=("replaces",), condition=Q(revoked_at__isnull=True), name="licence_one_upgrade"),
            models.CheckConstraint(condition=Q(ai_training__in=AiTraining.values), name="licence_ai_training_known"),
        )
        indexes = (models.Index(fields=("holder", "-acquired_at", "-id"), condition=CURRENT, name="licence_newest"),)

    def __str__(self) -> str:
        return f"Licence for {self.title}"

    @property
    def is_for_other(self) -> bool:
        """Tell whether its buyer bought it for someone else, who may have claimed it."""
        return self.claim_sent_at is not None

    @property
    def is_current(self) -> bool:
        """Tell whether it is neither revoked nor replaced by an upgrade."""
        return self.revoked_at is None and self.replaced_at is None

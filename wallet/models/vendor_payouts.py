"""Payouts to vendors."""

from django.db import models
from django.db.models import Q

from marketplace.core import bounds as core_bounds
from marketplace.core.ids import new_id

from .. import bounds
from .ledger import Journal, LedgerAccount


class VendorPayout(models.Model):
    """A payout of a vendor's earnings in one currency and run; the journal has the amount. Append-only."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.CharField(max_length=bounds.PAYOUT_RUN_CHARS)
    account = models.ForeignKey(LedgerAccount, on_delete=models.PROTECT, related_name="payouts")
    journal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="payout")
    # From the vendor's profile at the time of the payout.
    payout_method = models.CharField(max_length=core_bounds.NAME_CHARS)

    class Meta:
        ordering = ("-id",)
        permissions = (("export_vendorpayout", "Can export payouts with payout methods"),)
        constraints = (
            models.UniqueConstraint(fields=("run", "account"), name="vendorpayout_once_in_run"),
            models.CheckConstraint(condition=~Q(run="") & ~Q(payout_method=""), name="vendorpayout_has_run_and_method"),
        )

    def __str__(self) -> str:
        return f"{self.run} {self.id}"

    @property
    def amount_minor(self) -> int:
        """The amount paid."""
        return -(self.journal.vendor_net_minor or 0)

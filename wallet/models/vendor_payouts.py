"""Payouts to vendors, in batches of one currency."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from marketplace.core import bounds as core_bounds
from marketplace.core.ids import new_id
from marketplace.core.money import scaled
from vendors.models import PayoutDetails

from .. import bounds
from .ledger import Journal, LedgerAccount
from .quotes import CURRENCIES


class BatchStatus(models.TextChoices):
    """The status of a batch; payouts are added while it is prepared."""

    PREPARED = "Prepared"
    EXPORTED = "Exported"
    CANCELLED = "Cancelled"


class PayoutBatch(models.Model):
    """The payouts of one run in one currency, which the bank gets in one file. Only `status`, `exported_at` and `exported_by` change."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.CharField(max_length=bounds.PAYOUT_RUN_CHARS)
    currency = models.CharField(max_length=3, choices=[(code, code) for code in CURRENCIES])
    # The currency of the bank transfers: that of the earnings, or EUR at the operator's rate.
    transfer_currency = models.CharField(max_length=3)
    # EUR for one unit of the earnings' currency.
    rate = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    status = models.CharField(max_length=16, choices=BatchStatus.choices, default=BatchStatus.PREPARED)
    created_at = models.DateTimeField(default=timezone.now)
    exported_at = models.DateTimeField(null=True, blank=True)
    exported_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "payout batches"
        permissions = (
            ("prepare_payoutbatch", "Can prepare payouts to vendors"),
            ("export_payoutbatch", "Can export payouts with bank accounts"),
        )
        constraints = (
            models.UniqueConstraint(fields=("run", "currency"), name="payoutbatch_once_in_run"),
            models.UniqueConstraint(fields=("currency",), condition=Q(status="Prepared"), name="payoutbatch_one_open"),
            models.CheckConstraint(condition=Q(currency__in=CURRENCIES) & ~Q(run=""), name="payoutbatch_has_run_and_currency"),
            models.CheckConstraint(
                condition=Q(transfer_currency=F("currency"), rate__isnull=True)
                | Q(transfer_currency="EUR", rate__isnull=False, rate__gt=0),
                name="payoutbatch_rate_consistent",
            ),
            models.CheckConstraint(
                condition=Q(status="Exported", exported_at__isnull=False)
                | Q(status__in=("Prepared", "Cancelled"), exported_at__isnull=True),
                name="payoutbatch_status_consistent",
            ),
        )

    def __str__(self) -> str:
        return f"{self.run} {self.currency}"

    def transfer_minor(self, amount_minor: int) -> int:
        """Return the amount of the bank transfer for an amount of earnings, in `transfer_currency`."""
        return amount_minor if self.rate is None else scaled(amount_minor, self.rate)


class PayoutStatus(models.TextChoices):
    """The status of a payout. One that is paid may still bounce; the last two are final, and returned the amount to the vendor."""

    PREPARED = "Prepared"
    EXPORTED = "Exported"
    PAID = "Paid"
    BOUNCED = "Bounced"
    CANCELLED = "Cancelled"


class VendorPayout(models.Model):
    """A payout of a vendor's earnings in one batch; the journal has the amount.

    Only status, return journal, reason and time of settlement change; a trigger prevents other changes (`wallet.triggers`).
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    batch = models.ForeignKey(PayoutBatch, on_delete=models.PROTECT, related_name="payouts", db_index=False)
    account = models.ForeignKey(LedgerAccount, on_delete=models.PROTECT, related_name="payouts")
    journal = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="payout")
    details = models.ForeignKey(PayoutDetails, on_delete=models.PROTECT, related_name="payouts")
    status = models.CharField(max_length=16, choices=PayoutStatus.choices, default=PayoutStatus.PREPARED)
    # The journal that returned the amount to the vendor.
    return_journal = models.OneToOneField(Journal, null=True, blank=True, on_delete=models.PROTECT, related_name="returned_payout")
    # Why it bounced or was cancelled; a vendor is told why it bounced.
    reason = models.CharField(max_length=core_bounds.REASON_CHARS, blank=True)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        permissions = (
            ("export_vendorpayout", "Can export the list of payouts"),
            ("settle_vendorpayout", "Can record payouts as paid or bounced, and cancel them"),
            ("settle_former_vendor", "Can pay or keep the earnings of suspended, deactivated or deleted vendors"),
        )
        constraints = (
            models.UniqueConstraint(fields=("batch", "account"), name="vendorpayout_once_in_batch"),
            models.CheckConstraint(
                condition=Q(status__in=("Prepared", "Exported"), return_journal__isnull=True, reason="", settled_at__isnull=True)
                | Q(status="Paid", return_journal__isnull=True, reason="", settled_at__isnull=False)
                | Q(status__in=("Bounced", "Cancelled"), return_journal__isnull=False, settled_at__isnull=False) & ~Q(reason=""),
                name="vendorpayout_status_consistent",
            ),
        )

    def __str__(self) -> str:
        return f"{self.batch} {self.id}"

    @property
    def amount_minor(self) -> int:
        """The amount, in the currency of the earnings."""
        return -(self.journal.vendor_net_minor or 0)

"""Payouts of wallets that their owners requested."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import bounds as core_bounds
from marketplace.core.fields import EncryptedTextField
from marketplace.core.ids import new_id
from marketplace.review.models import Claimable

from .. import bounds
from .ledger import Journal, LedgerAccount

# What the bank details are encrypted for.
PURPOSE = "wallet.payment-details"


class WalletPayoutStatus(models.TextChoices):
    """The status of a request; the last three are final."""

    WAITING = "Waiting"
    PAID = "Paid"
    REFUSED = "Refused"
    CANCELLED = "Cancelled"


class WalletPayout(Claimable):
    """An amount of a wallet set aside to be paid out; the journal `hold` has the amount.

    Unlike vendors' earnings, which are paid in runs (`VendorPayout`), it is requested by the owner and decided by staff,
    and the bank details are erased with the account. Only its claim, status, reason, reference and closing journal change, the
    last four until it is final, and bank details can only be erased; a trigger (`wallet.triggers`) prevents other changes.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    wallet = models.ForeignKey(LedgerAccount, on_delete=models.PROTECT, related_name="wallet_payouts")
    hold = models.OneToOneField(Journal, on_delete=models.PROTECT, related_name="wallet_payout")
    # The journal that paid or returned it.
    closing_journal = models.OneToOneField(Journal, null=True, blank=True, on_delete=models.PROTECT, related_name="closed_wallet_payout")
    status = models.CharField(max_length=16, choices=WalletPayoutStatus.choices, default=WalletPayoutStatus.WAITING)
    # Bank details, for the owner and paying staff; erased when it is refused or cancelled, some time after payment, and with the account.
    payment_details = EncryptedTextField(purpose=PURPOSE, blank=True)
    # The bank's reference of the payment.
    reference = models.CharField(max_length=bounds.PAYMENT_REFERENCE_CHARS, blank=True)
    # The reason for a refusal.
    reason = models.CharField(max_length=core_bounds.REASON_CHARS, blank=True)
    requested_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-id",)
        verbose_name = "wallet payout"
        permissions = (("decide_walletpayout", "Can decide on wallet payouts and view bank details"),)
        constraints = (
            models.UniqueConstraint(fields=("wallet",), condition=Q(status="Waiting"), name="walletpayout_one_open"),
            models.CheckConstraint(
                condition=Q(status="Waiting", closing_journal__isnull=True, reference="", reason="") & ~Q(payment_details="")
                | Q(status="Paid", closing_journal__isnull=False, reason="") & ~Q(reference="")
                | Q(status="Refused", closing_journal__isnull=False, reference="", payment_details="") & ~Q(reason="")
                | Q(status="Cancelled", closing_journal__isnull=False, reference="", payment_details="", reason=""),
                name="walletpayout_status_consistent",
            ),
        )
        indexes = (
            models.Index(fields=("requested_at",), condition=Q(status="Waiting"), name="walletpayout_waiting"),
            models.Index(fields=("wallet", "-id"), name="walletpayout_of_wallet"),
            models.Index(fields=("reference",), condition=~Q(reference=""), name="walletpayout_by_reference"),
        )

    def __str__(self) -> str:
        return str(self.id)

    @property
    def amount_minor(self) -> int:
        """The amount set aside."""
        return -(self.hold.wallet_net_minor or 0)

    @property
    def currency(self) -> str:
        """The currency of the wallet."""
        return self.wallet.currency

    @property
    def decided_by(self) -> User | None:
        """The user who paid, refused or cancelled it."""
        return None if self.closing_journal is None else self.closing_journal.actor

    @property
    def decided_at(self) -> datetime | None:
        """The time of that decision."""
        return None if self.closing_journal is None else self.closing_journal.at

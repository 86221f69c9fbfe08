"""The double-entry ledger. The triggers of `wallet.triggers` make it append-only."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from marketplace.core import bounds as core_bounds
from marketplace.core.ids import new_id
from marketplace.ui.formatting import money

from .. import bounds
from .orders import Order
from .quotes import CURRENCIES


class AccountKind(models.TextChoices):
    """The kind of an account. Wallets, vendors' earnings and what is set aside or owed belong to a user, the others to the marketplace."""

    WALLET = "wallet"
    VENDOR = "vendor"
    COMMISSION = "commission"
    TAX = "tax"
    # Money outside of the service: where credit comes from, and what left by bank transfer.
    FUNDING = "funding"
    PAYOUT = "payout"
    # Set aside from a wallet until it is paid out or returned.
    HELD = "held"
    # Refunds owed to deleted accounts.
    UNCLAIMED = "unclaimed"
    # Credit, up to the amount of a top-up that is disputed or returns to its card; and vendors' shares of suspended purchases.
    FROZEN = "frozen"
    WITHHELD = "withheld"
    # What a buyer owes for a card payment that was returned: negative.
    RECEIVABLE = "receivable"
    # What was owed, and is not collected any more.
    WRITTEN_OFF = "written_off"


# Set aside from a wallet or from earnings.
ASIDE_KINDS = (AccountKind.HELD.value, AccountKind.FROZEN.value, AccountKind.WITHHELD.value)
OWNED_KINDS = (AccountKind.WALLET.value, AccountKind.VENDOR.value, AccountKind.RECEIVABLE.value, *ASIDE_KINDS)
# Their balances are updated by each transfer and never negative.
BOUNDED_KINDS = (AccountKind.WALLET.value, *ASIDE_KINDS)


class LedgerAccount(models.Model):
    """An account in one currency; only `balance_minor` and `entries` change.

    The balances of wallets and of what is set aside are current, so that a debit is decided on one row. The other accounts' balances
    include only the journals that have a digest (`CoveredJournal`) and are updated when digests are added, because a row updated by
    every sale would serialise all sales.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=16, choices=AccountKind.choices)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="ledger_accounts")
    currency = models.CharField(max_length=3)
    may_go_negative = models.BooleanField()
    balance_minor = models.BigIntegerField(default=0)
    # The number of journals of a wallet; each journal has the next number and the balance after it.
    entries = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("kind", "owner", "currency"), condition=Q(owner__isnull=False), name="ledgeraccount_one_of_owner"
            ),
            models.UniqueConstraint(fields=("kind", "currency"), condition=Q(owner__isnull=True), name="ledgeraccount_one_of_platform"),
            # The target of a transfer's composite foreign key.
            models.UniqueConstraint(fields=("id", "currency"), name="ledgeraccount_id_currency"),
            models.CheckConstraint(condition=Q(kind__in=AccountKind.values), name="ledgeraccount_kind_known"),
            models.CheckConstraint(condition=Q(currency__in=CURRENCIES), name="ledgeraccount_currency_known"),
            models.CheckConstraint(
                condition=Q(kind__in=OWNED_KINDS, owner__isnull=False) | (~Q(kind__in=OWNED_KINDS) & Q(owner__isnull=True)),
                name="ledgeraccount_owner_matches_kind",
            ),
            models.CheckConstraint(
                condition=Q(kind="wallet", may_go_negative=False)
                | Q(kind__in=ASIDE_KINDS, may_go_negative=False, entries=0)
                | (~Q(kind__in=BOUNDED_KINDS) & Q(may_go_negative=True, entries=0)),
                name="ledgeraccount_bounds_fit_kind",
            ),
            models.CheckConstraint(condition=Q(may_go_negative=True) | Q(balance_minor__gte=0), name="ledgeraccount_no_overdraft"),
            # JSON numbers are not exact beyond this.
            models.CheckConstraint(condition=Q(balance_minor__lte=bounds.MAX_BALANCE_MINOR), name="ledgeraccount_balance_exact"),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.currency}"


class JournalKind(models.TextChoices):
    """The kinds of journal, by the reason why money moved."""

    FUNDING = "funding"
    SALE = "sale"
    REFUND = "refund"
    PAYOUT = "payout"
    # A payout that bounced or was cancelled: the amount is the vendor's again.
    PAYOUT_RETURN = "payout_return"
    # The earnings of a suspended, deactivated or deleted vendor are paid by hand, or kept by the marketplace.
    MANUAL_PAYOUT = "manual_payout"
    KEPT_EARNINGS = "kept_earnings"
    # Set aside from a wallet, then either returned to it or paid out.
    HOLD = "hold"
    RETURN = "return"
    SETTLEMENT = "settlement"
    # A refund owed to a deleted account, paid out by a bank.
    REFUND_PAYOUT = "refund_payout"
    # Credit of a top-up is frozen, then either returned to the wallet or to the card.
    FREEZE = "freeze"
    UNFREEZE = "unfreeze"
    CARD_RETURN = "card_return"
    # A vendor's share is withheld during a dispute or a refund to the card, then released.
    WITHHOLD = "withhold"
    RELEASE = "release"
    # What a buyer owes is paid from the wallet, or written off.
    REPAYMENT = "repayment"
    WRITE_OFF = "write_off"


_NO_WALLET = Q(wallet__isnull=True, wallet_entry__isnull=True, wallet_net_minor__isnull=True, wallet_balance_minor__isnull=True)
_NO_VENDOR = Q(vendor__isnull=True, vendor_net_minor__isnull=True)


class Journal(models.Model):
    """One event that moved money, with its actor, reason and request; its transfers belong together.

    The net amounts for the wallet and the vendor, at most one each, are denormalised here:
    owners page through them, and a trigger refuses an entry that does not continue its wallet's balance (`wallet.triggers`).
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=16, choices=JournalKind.choices)
    at = models.DateTimeField(auto_now_add=True)
    # Empty where no person decided: commands, jobs, events of providers, refunds at once.
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=core_bounds.REASON_CHARS)
    request_id = models.CharField(max_length=64, blank=True)
    order = models.ForeignKey(Order, null=True, blank=True, on_delete=models.PROTECT, related_name="journals", db_index=False)
    # A journal is undone by one with reversed transfers, at most once.
    undoes = models.OneToOneField("self", null=True, blank=True, on_delete=models.PROTECT, related_name="undone_by")
    wallet = models.ForeignKey(
        LedgerAccount, null=True, blank=True, on_delete=models.PROTECT, related_name="wallet_journals", db_index=False
    )
    wallet_entry = models.PositiveBigIntegerField(null=True, blank=True)
    wallet_net_minor = models.BigIntegerField(null=True, blank=True)
    wallet_balance_minor = models.BigIntegerField(null=True, blank=True)
    # The account of the vendor's earnings.
    vendor = models.ForeignKey(
        LedgerAccount, null=True, blank=True, on_delete=models.PROTECT, related_name="vendor_journals", db_index=False
    )
    vendor_net_minor = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=("order", "kind"), name="journal_once_for_order"),
            models.UniqueConstraint(fields=("wallet", "wallet_entry"), name="journal_wallet_entry_once"),
            models.CheckConstraint(
                condition=Q(
                    kind__in=(
                        "funding",
                        "payout",
                        "hold",
                        "settlement",
                        "freeze",
                        "card_return",
                        "withhold",
                        "release",
                        "repayment",
                        "write_off",
                        "manual_payout",
                        "kept_earnings",
                    ),
                    order__isnull=True,
                    undoes__isnull=True,
                )
                | Q(kind__in=("return", "payout_return", "unfreeze"), order__isnull=True, undoes__isnull=False)
                | Q(kind__in=("sale", "refund_payout"), order__isnull=False, undoes__isnull=True)
                | Q(kind="refund", order__isnull=False, undoes__isnull=False),
                name="journal_matches_kind",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="journal_has_reason"),
            models.CheckConstraint(
                # A refund to a deleted account has a wallet only if part of it was paid by card, or pays a debt.
                condition=(
                    Q(
                        kind__in=(
                            "payout",
                            "payout_return",
                            "manual_payout",
                            "kept_earnings",
                            "settlement",
                            "refund_payout",
                            "refund",
                            "card_return",
                            "withhold",
                            "release",
                            "write_off",
                        )
                    )
                    & _NO_WALLET
                )
                | Q(
                    Q(kind__in=("funding", "refund", "return", "unfreeze"), wallet_net_minor__gt=0)
                    | Q(kind__in=("sale", "hold", "freeze", "repayment"), wallet_net_minor__lt=0),
                    # A check that evaluates to NULL passes.
                    wallet__isnull=False,
                    wallet_entry__isnull=False,
                    wallet_net_minor__isnull=False,
                    wallet_balance_minor__isnull=False,
                    wallet_entry__gte=1,
                    wallet_balance_minor__gte=0,
                ),
                name="journal_wallet_matches_kind",
            ),
            models.CheckConstraint(
                condition=(~Q(kind__in=("payout", "payout_return", "manual_payout", "kept_earnings", "withhold", "release")) & _NO_VENDOR)
                | Q(
                    Q(kind__in=("payout", "manual_payout", "kept_earnings", "refund", "withhold"), vendor_net_minor__lt=0)
                    | Q(kind__in=("sale", "payout_return", "release"), vendor_net_minor__gt=0),
                    vendor__isnull=False,
                    vendor_net_minor__isnull=False,
                ),
                name="journal_vendor_matches_kind",
            ),
        )
        indexes = (
            models.Index(fields=("wallet", "at", "id"), condition=Q(wallet__isnull=False), name="journal_of_wallet"),
            models.Index(fields=("vendor", "at", "id"), condition=Q(vendor__isnull=False), name="journal_of_vendor"),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.at:%Y-%m-%d %H:%M}"


class Transfer(models.Model):
    """An amount moved from one account to another; a composite foreign key requires the same currency."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # Indexed by the constraint below.
    journal = models.ForeignKey(Journal, on_delete=models.PROTECT, related_name="transfers", db_index=False)
    debit = models.ForeignKey(LedgerAccount, on_delete=models.PROTECT, related_name="debits")
    credit = models.ForeignKey(LedgerAccount, on_delete=models.PROTECT, related_name="credits")
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3, choices=[(code, code) for code in CURRENCIES])

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=("journal", "debit", "credit"), name="transfer_once_in_journal"),
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="transfer_positive"),
            models.CheckConstraint(condition=~Q(debit=F("credit")), name="transfer_between_different_accounts"),
        )

    def __str__(self) -> str:
        return money(self.amount_minor, self.currency)

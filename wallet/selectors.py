"""Reads of wallets and orders. They create nothing: a wallet that was never funded reads as zero."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from marketplace.accounts.models import User
from marketplace.core.ids import first_id_at, parse_id
from marketplace.core.money import Currency

from .models import (
    CoveredJournal,
    CreditReference,
    Journal,
    LedgerAccount,
    Order,
    Quote,
    Transfer,
    VendorPayout,
    WalletPayout,
    WalletSettings,
)
from .models.ledger import AccountKind, JournalKind
from .models.wallet_payouts import WalletPayoutStatus

# No transaction takes as long: each gives up after seconds of waiting.
LATE = timedelta(hours=1)
_ALL = Q()


@dataclass(frozen=True)
class Wallet:
    """What a user sees of the wallet."""

    balance_inr_minor: int
    balance_usd_minor: int
    currency_preference: str

    def balance_minor(self, currency: str) -> int:
        """Return the balance in one of the wallet's currencies."""
        return self.balance_inr_minor if currency == Currency.INR else self.balance_usd_minor


def wallet_of(user: User) -> Wallet:
    """Return the user's balances and preference."""
    balances = balances_of(user)
    return Wallet(balances.get(Currency.INR, 0), balances.get(Currency.USD, 0), currency_preference_of(user))


def balances_of(user: User) -> dict[str, int]:
    """Return the balances by currency; one that was never funded is not in it."""
    wallets = LedgerAccount.objects.filter(kind=AccountKind.WALLET, owner=user)
    return dict(wallets.values_list("currency", "balance_minor"))


def currency_preference_of(user: User) -> str:
    """Return the currency in which the user buys unless another is named."""
    chosen = WalletSettings.objects.filter(owner=user).values_list("currency_preference", flat=True).first()
    return chosen or Currency.INR.value


def orders_of(user: User) -> QuerySet[Order]:
    """Return the user's purchases, newest first."""
    return Order.objects.filter(buyer=user).order_by("-created_at", "-id")


def order_of(user: User, order_id: str) -> Order | None:
    """Return one of the user's purchases with what its receipt shows, None when it is not theirs."""
    key = parse_id(order_id)
    return None if key is None else orders_of(user).select_related("listing__store", "buyer").filter(pk=key).first()


def quote_of(user: User, quote_id: str) -> Quote | None:
    """Return a price that the user was promised with its listing, and `used_by`, the order that it became; None when it is not theirs."""
    key = parse_id(quote_id)
    quotes = Quote.objects.select_related("listing__store", "listing__category", "tier").annotate(used_by=F("orders__pk"))
    return None if key is None else quotes.filter(owner=user, pk=key).first()


def movements_of(account: LedgerAccount) -> QuerySet[Journal]:
    """Return what moved a wallet or a vendor's earnings, newest first, with the orders."""
    side = "wallet" if account.kind == AccountKind.WALLET else "vendor"
    return Journal.objects.filter(**{side: account}).select_related("order", side).order_by("-at", "-id")


def accounts_of(user: User, kind: AccountKind = AccountKind.WALLET) -> QuerySet[LedgerAccount]:
    """Return the user's accounts of one kind, one for each currency that was ever used."""
    return LedgerAccount.objects.filter(kind=kind, owner=user)


def credit_of(*, source: str, reference: str) -> CreditReference | None:
    """Return what was credited for a payment, None when nothing was."""
    references = CreditReference.objects.select_related("journal__wallet__owner")
    return references.filter(source=source, reference=reference).first()


def with_ledger_balance(accounts: QuerySet[LedgerAccount], which: Q = _ALL) -> "QuerySet[Any, Any]":
    """Return the accounts with `entries_minor`, what their transfers say they hold, or only those of them that are named."""

    def total(side: str) -> Coalesce:
        sums = Transfer.objects.filter(which, **{side: OuterRef("pk")}).order_by().values(side).annotate(total=Sum("amount_minor"))
        return Coalesce(Subquery(sums.values("total")), 0)

    return accounts.annotate(entries_minor=total("credit") - total("debit"))


def with_earnings(accounts: QuerySet[LedgerAccount]) -> "QuerySet[Any, Any]":
    """Return vendors' accounts with `earned_minor`: what was earned and is not paid out, below zero after refunds of what was.

    It is the balance, which has everything that is covered, and what is not covered yet. That is looked for among the youngest
    journals: what was still being written `LATE` after it began is not told before it is covered.
    """
    last_covered = CoveredJournal.objects.order_by("-ledger_digest", "-position").values_list("journal__at", flat=True).first()
    uncovered = Journal.objects.filter(vendor=OuterRef("pk"), covered__isnull=True)
    if last_covered is not None:
        uncovered = uncovered.filter(at__gt=last_covered - LATE)
    young = uncovered.order_by().values("vendor").annotate(total=Sum("vendor_net_minor")).values("total")
    return accounts.annotate(earned_minor=F("balance_minor") + Coalesce(Subquery(young), 0))


def earnings_of(user: User) -> list[Any]:
    """Return a vendor's accounts with `earned_minor`, one for each currency in which anything was ever earned."""
    return list(with_earnings(accounts_of(user, AccountKind.VENDOR)))


def vendor_accounts(*, currency: str | None = None, store_slug: str | None = None) -> QuerySet[LedgerAccount]:
    """Return the accounts of vendors with their owners and stores."""
    accounts = (
        LedgerAccount.objects.filter(kind=AccountKind.VENDOR).select_related("owner__store").order_by("owner__store__slug", "currency")
    )
    if currency is not None:
        accounts = accounts.filter(currency=currency)
    return accounts if store_slug is None else accounts.filter(owner__store__slug=store_slug)


def accounts_to_pay() -> QuerySet[LedgerAccount]:
    """Return vendors' accounts that hold earnings, as of the last adding digests."""
    return LedgerAccount.objects.filter(kind=AccountKind.VENDOR, balance_minor__gt=0)


def orders_since(start: datetime) -> QuerySet[Order]:
    """Return the orders made since then; their ids tell when they were made, and are indexed."""
    return Order.objects.filter(pk__gte=first_id_at(start), created_at__gte=start)


def payouts() -> QuerySet[VendorPayout]:
    """Return what was paid to vendors, newest first, with what a list shows of each."""
    return VendorPayout.objects.select_related("journal", "account__owner__store").order_by("-id")


def paid_by_currency(rows: QuerySet[VendorPayout]) -> dict[str, int]:
    """Return the sums of payouts."""
    sums = rows.order_by().values("account__currency").annotate(paid=-Sum("journal__vendor_net_minor"))
    return dict(sums.values_list("account__currency", "paid"))


def wallet_payouts() -> QuerySet[WalletPayout]:
    """Return what was asked to be paid out of wallets, with what is shown of each."""
    return WalletPayout.objects.select_related("asked", "settled__actor", "wallet__owner")


def wallet_payout_of(user: User, wallet_payout_id: uuid.UUID) -> WalletPayout | None:
    """Return what a user asked to be paid out, None when it is not theirs."""
    return wallet_payouts().filter(wallet__owner=user, pk=wallet_payout_id).first()


def open_wallet_payouts_of(user: uuid.UUID) -> QuerySet[WalletPayout]:
    """Return what of a user's wallets waits to be paid out, one for each currency at most."""
    return wallet_payouts().filter(wallet__owner=user, status=WalletPayoutStatus.WAITING).order_by("wallet__currency")


def unclaimed_refunds() -> QuerySet[Order]:
    """Return the orders that were refunded after their buyer's account was deleted, and whose money nobody has claimed."""
    journals = Journal.objects.filter(order=OuterRef("pk"))
    waits = Exists(journals.filter(kind=JournalKind.REFUND, wallet__isnull=True))
    return Order.objects.filter(waits, ~Exists(journals.filter(kind=JournalKind.CLAIM)), price_minor__gt=0)


def held_sums() -> dict[str, int]:
    """Return what is set aside to be paid out, by currency."""
    held = LedgerAccount.objects.filter(kind=AccountKind.HELD, balance_minor__gt=0).order_by("currency")
    return dict(held.values("currency").annotate(total=Sum("balance_minor")).values_list("currency", "total"))


def unclaimed_sums() -> dict[str, int]:
    """Return what refunds wait to be claimed, by currency."""
    rows = unclaimed_refunds().order_by("currency").values("currency").annotate(total=Sum("price_minor"))
    return dict(rows.values_list("currency", "total"))

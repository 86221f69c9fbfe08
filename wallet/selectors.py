"""Reads of wallets and orders. They create nothing: a wallet that was never funded reads as zero."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, F, Max, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.functions import Coalesce

from marketplace.accounts.models import User
from marketplace.core.ids import parse_id
from marketplace.core.money import WALLET_CURRENCIES, Currency

from .models import Journal, LedgerAccount, Order, Payout, Transfer, WalletSettings
from .models.ledger import AccountKind


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
    """Return the user's purchases, newest first, with their listings."""
    return Order.objects.filter(buyer=user).select_related("listing").order_by("-created_at", "-id")


def order_of(user: User, order_id: str) -> Order | None:
    """Return one of the user's purchases with what its receipt shows, None when it is not theirs."""
    key = parse_id(order_id)
    return None if key is None else orders_of(user).select_related("listing__store", "buyer").filter(pk=key).first()


def before(rows: "QuerySet[Any, Any]", moment: str, at: datetime, row_id: uuid.UUID) -> "QuerySet[Any, Any]":
    """Return those rows of a list, newest first, that come after the one of this time and id."""
    return rows.filter(Q(**{f"{moment}__lt": at}) | Q(**{moment: at, "id__lt": row_id}))


def movements_of(user: User, kind: AccountKind = AccountKind.WALLET) -> QuerySet[Journal, Any]:
    """Return what moved money of the user's accounts of one kind.

    Newest first, each with `net_minor` (negative when it left) and `in_currency`.
    """
    accounts = LedgerAccount.objects.filter(kind=kind, owner=user)
    touching = Q(transfers__debit__in=accounts) | Q(transfers__credit__in=accounts)
    amount = F("transfers__amount_minor")
    net = Sum(Case(When(transfers__credit__in=accounts, then=amount), default=-amount))
    return Journal.objects.filter(touching).annotate(net_minor=net, in_currency=Max("transfers__currency")).order_by("-at", "-id")


def with_ledger_balance(accounts: QuerySet[LedgerAccount]) -> "QuerySet[Any, Any]":
    """Return the accounts with `entries_minor`, what their transfers say they hold."""

    def total(side: str) -> Coalesce:
        sums = Transfer.objects.filter(**{side: OuterRef("pk")}).order_by().values(side).annotate(total=Sum("amount_minor"))
        return Coalesce(Subquery(sums.values("total")), 0)

    return accounts.annotate(entries_minor=total("credit") - total("debit"))


def earnings_of(user: User) -> dict[str, int]:
    """Return what a vendor has earned and not been paid, in each currency; below zero after refunds of what was paid out."""
    accounts = with_ledger_balance(LedgerAccount.objects.filter(kind=AccountKind.VENDOR, owner=user))
    held: dict[str, int] = dict(accounts.values_list("currency", "entries_minor"))
    return {code.value: held.get(code, 0) for code in WALLET_CURRENCIES}


def vendor_accounts(*, currency: str | None = None, store_slug: str | None = None) -> QuerySet[LedgerAccount]:
    """Return the accounts of vendors with their owners and stores."""
    accounts = (
        LedgerAccount.objects.filter(kind=AccountKind.VENDOR).select_related("owner__store").order_by("owner__store__slug", "currency")
    )
    if currency is not None:
        accounts = accounts.filter(currency=currency)
    return accounts if store_slug is None else accounts.filter(owner__store__slug=store_slug)


def amount_of(payout: Payout) -> int:
    """Return what was paid."""
    return payout.journal.transfers.get().amount_minor


def ledger_balance(account_id: uuid.UUID) -> int:
    """Return what the transfers say an account holds."""
    account = LedgerAccount.objects.get(pk=account_id)
    incoming = account.credits.aggregate(total=Sum("amount_minor"))["total"] or 0
    outgoing = account.debits.aggregate(total=Sum("amount_minor"))["total"] or 0
    return incoming - outgoing

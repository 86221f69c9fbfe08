"""The ledger's own verbs: find or open accounts, move a wallet's balance, write a journal."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Q

from marketplace.core.database import insert_rows
from marketplace.core.ids import current_request_id, new_id
from marketplace.core.money import WALLET_CURRENCIES

from .. import statements
from ..models import Journal, LedgerAccount, Transfer
from ..models.ledger import BOUNDED_KINDS, AccountKind, JournalKind
from ..statements import as_id

# What each of a user's wallets holds, by currency.
Balances = dict[str, int]

# Accounts are opened in this order everywhere, so that two openers never wait for each other in a circle.
_OPENING_ORDER = tuple(AccountKind)
_FIRST, _SECOND = WALLET_CURRENCIES
_OTHER: dict[str, str] = {_FIRST: _SECOND, _SECOND: _FIRST}


@dataclass(frozen=True)
class Leg:
    """An amount from one account to another."""

    debit_id: uuid.UUID
    credit_id: uuid.UUID
    amount_minor: int


@dataclass(frozen=True)
class WalletEntry:
    """What a journal means to a wallet, as the row said that is locked from then on.

    Args:
        account_id: The wallet.
        net_minor: What came, negative when it left.
        balance_minor: What the wallet holds after it.
        number: The wallet's own count of its entries.
    """

    account_id: uuid.UUID
    net_minor: int
    balance_minor: int
    number: int


@dataclass(frozen=True)
class VendorEntry:
    """What a journal means to a vendor: what was earned, negative when it was taken back or paid out."""

    account_id: uuid.UUID
    net_minor: int


def open_accounts(currency: str, owners: Mapping[AccountKind, uuid.UUID | None]) -> dict[AccountKind, uuid.UUID]:
    """Return the id of one account of each kind, opening those that are not there yet.

    Args:
        currency: INR or USD.
        owners: Id of the user whose account to find, by kind; None for the platform's own.
    """
    wanted = Q()
    for kind, owner_id in owners.items():
        wanted |= Q(kind=kind, owner_id=owner_id) if owner_id is not None else Q(kind=kind, owner__isnull=True)
    rows = LedgerAccount.objects.filter(wanted, currency=currency).values_list("kind", "pk")
    found = {AccountKind(kind): account_id for kind, account_id in rows}
    for kind in _OPENING_ORDER:
        if kind in owners and kind not in found:
            account, _ = LedgerAccount.objects.get_or_create(
                kind=kind,
                owner_id=owners[kind],
                currency=currency,
                defaults={"may_go_negative": kind not in BOUNDED_KINDS},
            )
            found[kind] = account.pk
    return found


def debit_wallet(
    *, buyer_id: uuid.UUID, vendor_id: uuid.UUID, currency: str, amount_minor: int
) -> tuple[Balances, WalletEntry, dict[AccountKind, uuid.UUID]] | None:
    """Take an amount from a wallet unless it holds less, and lock the wallet.

    Returns:
        What the wallets hold now, the entry, and the other accounts that a sale touches; None when the balance is too low.
    """
    debited = statements.run(statements.DEBIT, buyer=buyer_id, vendor=vendor_id, currency=currency, amount=amount_minor)
    if not debited:
        return None
    wallet, balance, number, other_balance, *others = debited[0]
    owners = {AccountKind.VENDOR: vendor_id, AccountKind.COMMISSION: None, AccountKind.TAX: None}
    known = {kind: as_id(found) for kind, found in zip(owners, others, strict=True) if found is not None}
    if len(known) < len(owners):
        # The first sale of a vendor, or of all.
        known |= open_accounts(currency, {kind: owner for kind, owner in owners.items() if kind not in known})
    balances = {currency: balance, _OTHER[currency]: other_balance or 0}
    return balances, WalletEntry(as_id(wallet), -amount_minor, balance, number), known


def credit_wallet_balance(wallet_id: uuid.UUID, amount_minor: int) -> WalletEntry:
    """Add an amount to a wallet, and lock it."""
    ((_, balance, number),) = statements.run(statements.CREDIT, wallet=wallet_id, amount=amount_minor)
    return WalletEntry(wallet_id, amount_minor, balance, number)


def change_held(held_id: uuid.UUID, amount_minor: int) -> None:
    """Add an amount to what is held of a wallet, or take one from it; who changes the wallet too changes that first."""
    LedgerAccount.objects.filter(pk=held_id).update(balance_minor=F("balance_minor") + amount_minor)


def write_journal(
    *,
    kind: JournalKind,
    legs: Sequence[Leg],
    currency: str,
    reason: str,
    actor_id: uuid.UUID | None,
    order_id: uuid.UUID | None = None,
    reverses_id: uuid.UUID | None = None,
    wallet: WalletEntry | None = None,
    vendor: VendorEntry | None = None,
) -> uuid.UUID:
    """Append a journal with its transfers, in two statements; legs and a vendor's entry of nothing are left out.

    Args:
        kind: Why money moves.
        legs: From where to where.
        currency: Of all legs.
        reason: In words.
        actor_id: Who caused it; None for the service itself.
        order_id: The purchase that it is about.
        reverses_id: The journal that it undoes.
        wallet: What it means to the wallet that it touches, which the caller has locked.
        vendor: What it means to the vendor whose account it touches.
    """
    journal_id = new_id()
    journal: dict[str, Any] = {"id": journal_id, "kind": kind.value, "reason": reason, "request_id": current_request_id()}
    journal |= {"actor_id": actor_id, "order_id": order_id, "reverses_id": reverses_id}
    if wallet is not None:
        journal |= {"wallet_id": wallet.account_id, "wallet_entry": wallet.number}
        journal |= {"wallet_net_minor": wallet.net_minor, "wallet_balance_minor": wallet.balance_minor}
    if vendor is not None and vendor.net_minor:
        journal |= {"vendor_id": vendor.account_id, "vendor_net_minor": vendor.net_minor}
    insert_rows(Journal, journal)
    sides = [{"debit_id": leg.debit_id, "credit_id": leg.credit_id, "amount_minor": leg.amount_minor} for leg in legs if leg.amount_minor]
    insert_rows(Transfer, *({"journal_id": journal_id, "currency": currency} | side for side in sides))
    return journal_id

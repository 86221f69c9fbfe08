"""The basic operations of the ledger: open accounts, change balances, write journals."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Q

from marketplace.accounts.models import User
from marketplace.core.database import insert_rows
from marketplace.core.ids import current_request_id, new_id
from marketplace.core.money import WALLET_CURRENCIES

from .. import sql
from ..errors import InvalidAmount
from ..models import Journal, LedgerAccount, Transfer
from ..models.ledger import BOUNDED_KINDS, AccountKind, JournalKind
from ..sql import as_id

# Accounts are always opened in this order, to avoid deadlocks.
_OPENING_ORDER = tuple(AccountKind)
_FIRST, _SECOND = WALLET_CURRENCIES
_OTHER_CURRENCY: dict[str, str] = {_FIRST: _SECOND, _SECOND: _FIRST}


@dataclass(frozen=True)
class NewTransfer:
    """An amount from one account to another."""

    debit_id: uuid.UUID
    credit_id: uuid.UUID
    amount_minor: int


@dataclass(frozen=True)
class WalletEntry:
    """A journal's entry in a wallet, whose row is locked until the end of the transaction, with the balance after it."""

    account_id: uuid.UUID
    net_minor: int
    balance_minor: int
    number: int


@dataclass(frozen=True)
class VendorEntry:
    """A journal's entry in a vendor's account: earnings, negative for refunds and payouts."""

    account_id: uuid.UUID
    net_minor: int


@dataclass(frozen=True)
class Debit:
    """The debit of a purchase: the buyer's new balances by currency, the entry, and the ids of the other accounts of a sale."""

    balances: dict[str, int]
    wallet_entry: WalletEntry
    account_ids: dict[AccountKind, uuid.UUID]


def require_wallet_currency(currency: str) -> None:
    """Check that wallets hold this currency.

    Raises:
        InvalidAmount: they don't.
    """
    if currency not in WALLET_CURRENCIES:
        raise InvalidAmount(f"Wallets hold {' and '.join(WALLET_CURRENCIES)}, not {currency}.")


def open_accounts(currency: str, owners: Mapping[AccountKind, uuid.UUID | None]) -> dict[AccountKind, uuid.UUID]:
    """Return the id of one account of each kind, creating those that do not exist; the owner of the marketplace's accounts is None."""
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


def open_account(currency: str, kind: AccountKind, owner_id: uuid.UUID | None) -> uuid.UUID:
    """Return the id of one account, as `open_accounts` does."""
    return open_accounts(currency, {kind: owner_id})[kind]


def debit_wallet(*, buyer_id: uuid.UUID, vendor_id: uuid.UUID, currency: str, amount_minor: int) -> Debit | None:
    """Debit a wallet, and lock it; return None if the balance is too low."""
    debited = sql.run(sql.DEBIT, buyer=buyer_id, vendor=vendor_id, currency=currency, amount=amount_minor)
    if not debited:
        return None
    row = debited[0]
    owners = {AccountKind.VENDOR: vendor_id, AccountKind.COMMISSION: None, AccountKind.TAX: None}
    known = {kind: as_id(row[kind]) for kind in owners if row[kind] is not None}
    if len(known) < len(owners):
        # The first sale of the vendor or of the marketplace.
        known |= open_accounts(currency, {kind: owner for kind, owner in owners.items() if kind not in known})
    balances = {currency: row["balance"], _OTHER_CURRENCY[currency]: row["other_balance"] or 0}
    return Debit(balances, WalletEntry(as_id(row["wallet"]), -amount_minor, row["balance"], row["entry"]), known)


def change_wallet_balance(wallet_id: uuid.UUID, amount_minor: int) -> WalletEntry:
    """Add an amount, which may be negative, to a wallet's balance, and lock the wallet."""
    (row,) = sql.run(sql.ADJUST_BALANCE, wallet=wallet_id, amount=amount_minor)
    return WalletEntry(wallet_id, amount_minor, row["balance"], row["entry"])


def change_amount_set_aside(account_id: uuid.UUID, amount_minor: int) -> None:
    """Change the balance of a held, frozen or withheld account; callers that also change the wallet must change the wallet first."""
    LedgerAccount.objects.filter(pk=account_id).update(balance_minor=F("balance_minor") + amount_minor)


def write_journal(
    *,
    kind: JournalKind,
    transfers: Sequence[NewTransfer],
    currency: str,
    reason: str,
    actor: User | None,
    order_id: uuid.UUID | None = None,
    undoes_id: uuid.UUID | None = None,
    wallet_entry: WalletEntry | None = None,
    vendor_entry: VendorEntry | None = None,
) -> uuid.UUID:
    """Append a journal with its transfers, in two statements; transfers and a vendor entry of zero are left out.

    The actor is None where no person decided: commands, jobs, events of providers, refunds at once. The caller has locked the wallet.
    """
    journal_id = new_id()
    journal: dict[str, Any] = {"id": journal_id, "kind": kind.value, "reason": reason, "request_id": current_request_id()}
    journal |= {"actor_id": None if actor is None else actor.pk, "order_id": order_id, "undoes_id": undoes_id}
    if wallet_entry is not None:
        journal |= {"wallet_id": wallet_entry.account_id, "wallet_entry": wallet_entry.number}
        journal |= {"wallet_net_minor": wallet_entry.net_minor, "wallet_balance_minor": wallet_entry.balance_minor}
    if vendor_entry is not None and vendor_entry.net_minor:
        journal |= {"vendor_id": vendor_entry.account_id, "vendor_net_minor": vendor_entry.net_minor}
    insert_rows(Journal, journal)
    moved = [transfer for transfer in transfers if transfer.amount_minor]
    insert_rows(Transfer, *({"journal_id": journal_id, "currency": currency, **vars(transfer)} for transfer in moved))
    return journal_id


def set_aside(
    *,
    account: LedgerAccount,
    kind: AccountKind,
    amount_minor: int,
    journal_kind: JournalKind,
    reason: str,
    actor: User | None = None,
    undoes_id: uuid.UUID | None = None,
) -> uuid.UUID:
    """Move an amount from a wallet or a vendor's account to its owner's held, frozen or withheld account (`kind`), and return the journal's id; a negative amount moves back."""
    aside_id = open_account(account.currency, kind, account.owner_id)
    wallet_entry = change_wallet_balance(account.pk, -amount_minor) if account.kind == AccountKind.WALLET else None
    change_amount_set_aside(aside_id, amount_minor)
    source, target = (account.pk, aside_id) if amount_minor > 0 else (aside_id, account.pk)
    return write_journal(
        kind=journal_kind,
        transfers=[NewTransfer(source, target, abs(amount_minor))],
        currency=account.currency,
        reason=reason,
        actor=actor,
        undoes_id=undoes_id,
        wallet_entry=wallet_entry,
        vendor_entry=VendorEntry(account.pk, -amount_minor) if wallet_entry is None else None,
    )

"""The ledger's own verbs: find or open accounts, move a wallet's balance, write a journal."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import F, Q

from marketplace.accounts.models import User
from marketplace.core.request_id import current_request_id

from ..models import Journal, LedgerAccount, Order, Transfer
from ..models.ledger import AccountKind, JournalKind

# Accounts are opened in this order everywhere, so that two openers never wait for each other in a circle.
_OPENING_ORDER = tuple(AccountKind)


@dataclass(frozen=True)
class Leg:
    """An amount from one account to another."""

    debit: LedgerAccount
    credit: LedgerAccount
    amount_minor: int


def open_accounts(currency: str, owners: Mapping[AccountKind, uuid.UUID | None]) -> dict[AccountKind, LedgerAccount]:
    """Return one account of each kind, opening those that are not there yet.

    Args:
        currency: INR or USD.
        owners: Id of the user whose account to find, by kind; None for the platform's own.
    """
    wanted = Q()
    for kind, owner_id in owners.items():
        wanted |= Q(kind=kind, owner_id=owner_id) if owner_id is not None else Q(kind=kind, owner__isnull=True)
    found = {AccountKind(account.kind): account for account in LedgerAccount.objects.filter(wanted, currency=currency)}
    for kind in _OPENING_ORDER:
        if kind in owners and kind not in found:
            found[kind], _ = LedgerAccount.objects.get_or_create(
                kind=kind,
                owner_id=owners[kind],
                currency=currency,
                defaults={"may_go_negative": kind != AccountKind.WALLET},
            )
    return found


def debit_wallet(wallet: LedgerAccount, amount_minor: int) -> bool:
    """Take an amount from a wallet unless it holds less: decided by the row itself, whatever was read before."""
    enough = LedgerAccount.objects.filter(pk=wallet.pk, balance_minor__gte=amount_minor)
    return bool(enough.update(balance_minor=F("balance_minor") - amount_minor))


def credit_wallet_balance(wallet: LedgerAccount, amount_minor: int) -> None:
    """Add an amount to a wallet."""
    LedgerAccount.objects.filter(pk=wallet.pk).update(balance_minor=F("balance_minor") + amount_minor)


def write_journal(
    *,
    kind: JournalKind,
    legs: Sequence[Leg],
    currency: str,
    reason: str,
    actor: User | None,
    order: Order | None = None,
    reverses: Journal | None = None,
) -> Journal:
    """Append a journal with its transfers; legs of nothing are left out."""
    journal = Journal.objects.create(
        kind=kind,
        actor=actor,
        reason=reason,
        request_id=current_request_id(),
        order=order,
        reverses=reverses,
    )
    Transfer.objects.bulk_create(
        Transfer(journal=journal, debit=leg.debit, credit=leg.credit, amount_minor=leg.amount_minor, currency=currency)
        for leg in legs
        if leg.amount_minor
    )
    return journal

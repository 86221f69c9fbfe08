"""What buyers owe for returned card payments: it is collected from later credit, or written off by staff."""

import uuid
from typing import Any

from django.db import transaction

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition, SelfReview
from marketplace.core.transitions import lock

from ..models import LedgerAccount
from ..models.ledger import AccountKind, JournalKind
from ..selectors import owed_by
from .ledger import NewTransfer, change_wallet_balance, open_account, open_accounts, write_journal


def collect_owed(*, wallet_id: uuid.UUID) -> int:
    """Pay what the owner of a wallet owes from its balance, as far as that suffices, in the caller's transaction; return the amount."""
    wallet = lock(LedgerAccount.objects.filter(kind=AccountKind.WALLET), pk=wallet_id)
    owed = 0 if wallet.owner_id is None else owed_by(wallet.owner_id).get(wallet.currency, 0)
    amount = min(owed, wallet.balance_minor)
    if amount < 1:
        return 0
    receivable_id = open_account(wallet.currency, AccountKind.RECEIVABLE, wallet.owner_id)
    write_journal(
        kind=JournalKind.REPAYMENT,
        transfers=[NewTransfer(wallet.pk, receivable_id, amount)],
        currency=wallet.currency,
        reason="owed for a returned card payment",
        actor=None,
        wallet_entry=change_wallet_balance(wallet.pk, -amount),
    )
    return amount


@transaction.atomic
def write_off(*, user: User, currency: str, reason: str, actor: User) -> None:
    """Write off what a user owes in a currency: it is not collected any more.

    Raises:
        InvalidTransition: nothing is owed.
        InvalidInput: no reason.
        SelfReview: the actor owes it.
        NotFound: the user has no wallet in this currency.
    """
    reason = texts.clean_text(reason, "reason")
    if actor.pk == user.pk:
        raise SelfReview("Someone else must write off what you owe.")
    # The lock that a collection takes too, so that what is owed is not both collected and written off.
    lock(LedgerAccount.objects.filter(kind=AccountKind.WALLET), owner=user, currency=currency)
    owed = owed_by(user.pk).get(currency, 0)
    if owed < 1:
        raise InvalidTransition(f"Nothing is owed in {currency}.")
    accounts = open_accounts(currency, {AccountKind.RECEIVABLE: user.pk, AccountKind.WRITTEN_OFF: None})
    write_journal(
        kind=JournalKind.WRITE_OFF,
        transfers=[NewTransfer(accounts[AccountKind.WRITTEN_OFF], accounts[AccountKind.RECEIVABLE], owed)],
        currency=currency,
        reason=reason,
        actor=actor,
    )
    facts: dict[str, Any] = {"currency": currency, "amountMinor": owed}
    audit.record("receivable.write_off", LedgerAccount(pk=accounts[AccountKind.RECEIVABLE]), actor=actor, reason=reason, **facts)

"""Credits wallets: for a paid top-up, by staff or by a command; always with a reason.

A credit may name its payment. A payment is credited once, so that repeating a credit is safe.
"""

import re
from dataclasses import asdict, dataclass
from typing import Any

from django.db import IntegrityError, transaction

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.database import violates
from marketplace.core.errors import InvalidTransition, SelfReview
from marketplace.core.idempotency import KeyedRequest, keyed_request, save_response, saved_response
from marketplace.core.money import to_number
from marketplace.core.transitions import lock
from marketplace.ui.formatting import money

from .. import bounds
from ..errors import AlreadyCredited, InvalidAmount, ReferenceUsed
from ..models import CreditReference, Journal, LedgerAccount
from ..models.ledger import AccountKind, JournalKind
from ..selectors import credit_of
from .ledger import NewTransfer, change_wallet_balance, open_accounts, require_wallet_currency, write_journal
from .receivables import collect_owed

DEFAULT_SOURCE = "bank"
_SOURCE_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True)
class Payment:
    """The payment behind a credit: its reference, and the bank or service that assigned it."""

    reference: str
    source: str = DEFAULT_SOURCE


def credit_wallet(
    *,
    user: User,
    currency: str,
    amount_minor: int,
    reason: str,
    actor: User | None,
    payment: Payment | None = None,
    idempotency_key: str | None = None,
) -> Journal:
    """Credit a user's wallet.

    Args:
        user: The owner of the wallet.
        currency: INR or USD.
        amount_minor: From 1 to `bounds.MAX_CREDIT_MINOR` minor units.
        reason: The reason, kept in the ledger.
        actor: The staff member; None for a top-up or a command.
        payment: The payment, which is credited at most once.
        idempotency_key: The actor's key for this credit: a form sent twice credits once.

    Raises:
        InvalidAmount: the currency is not a wallet currency, or the amount or the new balance is out of range.
        InvalidInput: no reason, or an invalid reference or source.
        AlreadyCredited: the same amount was credited to this wallet for the payment.
        ReferenceUsed: the payment was credited differently.
        InvalidTransition: the account is deleted.
        SelfReview: the actor owns the wallet.
        IdempotencyKeyReused: the actor used the key for another credit.
    """
    reason = texts.clean_text(reason, "reason")
    if actor is not None and actor.pk == user.pk:
        raise SelfReview("Someone else must credit your wallet.")
    require_wallet_currency(currency)
    if not 0 < amount_minor <= bounds.MAX_CREDIT_MINOR:
        raise InvalidAmount(f"Credit from 0.01 to {to_number(bounds.MAX_CREDIT_MINOR):,.2f} at once.")
    credit = _Credit(user, currency, amount_minor, reason, actor, None if payment is None else _clean_payment(payment))
    if idempotency_key is None or actor is None:
        return _credit_once(credit, None)
    given: dict[str, Any] = {"user": str(user.pk), "currency": currency, "amount": amount_minor, "reason": reason} | credit.payment_facts
    return _credit_once(credit, keyed_request(owner=actor, key=idempotency_key, operation="wallet.credit", **given))


@dataclass(frozen=True)
class _Credit:
    user: User
    currency: str
    amount_minor: int
    reason: str
    actor: User | None
    payment: Payment | None

    @property
    def payment_facts(self) -> dict[str, Any]:
        """Reference and source of the payment, empty without one."""
        return {} if self.payment is None else asdict(self.payment)


def _credit_once(credit: _Credit, request: KeyedRequest | None) -> Journal:
    """Credit unless the request or the payment was credited before; database constraints decide between concurrent calls."""
    if response := saved_response(request):
        return Journal.objects.get(pk=response["journal"])
    _refuse_credited(credit)
    try:
        with transaction.atomic():
            journal = _credit(credit)
            if request is not None:
                save_response(request, {"journal": str(journal.pk)})
            return journal
    except IntegrityError as error:
        if response := saved_response(request):
            return Journal.objects.get(pk=response["journal"])
        _refuse_credited(credit)
        if violates(error, LedgerAccount, "ledgeraccount_balance_exact"):
            raise InvalidAmount(f"A balance cannot exceed {to_number(bounds.MAX_BALANCE_MINOR):,.2f}.") from error
        raise


def _credit(credit: _Credit) -> Journal:
    # Serialised with the deletion of the account, which must leave no money behind.
    if lock(User.objects.all(), pk=credit.user.pk).deleted:
        raise InvalidTransition("The account was deleted.")
    accounts = open_accounts(credit.currency, {AccountKind.WALLET: credit.user.pk, AccountKind.FUNDING: None})
    wallet_id = accounts[AccountKind.WALLET]
    journal_id = write_journal(
        kind=JournalKind.FUNDING,
        transfers=[NewTransfer(accounts[AccountKind.FUNDING], wallet_id, credit.amount_minor)],
        currency=credit.currency,
        reason=credit.reason,
        actor=credit.actor,
        wallet_entry=change_wallet_balance(wallet_id, credit.amount_minor),
    )
    collect_owed(wallet_id=wallet_id)
    if credit.payment is not None:
        CreditReference.objects.create(journal_id=journal_id, **credit.payment_facts)
    data: dict[str, Any] = {"currency": credit.currency, "amountMinor": credit.amount_minor} | credit.payment_facts
    audit.record("wallet.credit", LedgerAccount(pk=wallet_id), actor=credit.actor, reason=credit.reason, **data)
    return Journal.objects.get(pk=journal_id)


def _clean_payment(payment: Payment) -> Payment:
    reference = texts.clean_line(payment.reference, "reference", maximum=bounds.PAYMENT_REFERENCE_CHARS)
    source = texts.clean_line(payment.source, "source", maximum=bounds.CREDIT_SOURCE_CHARS).lower()
    if not _SOURCE_NAME.fullmatch(source):
        raise texts.invalid("source", "invalid", "Use letters, digits and hyphens.")
    return Payment(reference, source)


def _refuse_credited(credit: _Credit) -> None:
    """Refuse a payment that was credited before."""
    payment = credit.payment
    known = None if payment is None else credit_of(source=payment.source, reference=payment.reference)
    if known is None:
        return
    journal = known.journal
    wallet, amount = journal.wallet, journal.wallet_net_minor or 0
    if wallet is None or wallet.owner is None:
        message = f"journal {journal.pk} credits no wallet"
        raise RuntimeError(message)
    at = f"{journal.at:%Y-%m-%d at %H:%M} UTC"
    if (wallet.owner.pk, wallet.currency, amount) == (credit.user.pk, credit.currency, credit.amount_minor):
        raise AlreadyCredited(f"{known} was credited on {at}. Nothing was added now.")
    whose = "an account that is deleted" if wallet.owner.deleted else wallet.owner.email
    credited = f"{money(amount, wallet.currency)} to {whose} on {at}"
    raise ReferenceUsed(f"{known} credited {credited}. Nothing was added now: a reference is used for one credit.")

"""Money into wallets: by an admin or a command, always with a reason."""

from django.db import IntegrityError, transaction

from marketplace.accounts.models import User
from marketplace.core import audit, bounds, texts
from marketplace.core.db.constraints import violates
from marketplace.core.errors import InvalidTransition, SelfReview
from marketplace.core.money import WALLET_CURRENCIES, Currency, to_number
from marketplace.core.transitions import lock

from ..errors import InvalidAmount
from ..models import Journal, LedgerAccount
from ..models.ledger import AccountKind, JournalKind
from .idempotency import keep_answer, kept_answer, keyed_request
from .ledger import Leg, credit_wallet_balance, open_accounts, write_journal


def credit_wallet(
    *, user: User, currency: str, amount_minor: int, reason: str, actor: User | None, idempotency_key: str | None = None
) -> Journal:
    """Put an amount into a user's wallet.

    Args:
        user: Whose wallet.
        currency: INR or USD.
        amount_minor: From 1 to `bounds.CREDIT_MINOR` minor units.
        reason: The actor's words; kept in the ledger.
        actor: Who does it; None for the service itself.
        idempotency_key: The actor's key for this credit: a form sent twice credits once.

    Raises:
        InvalidAmount: no wallet currency, an amount out of range, or a balance that would pass its bound.
        InvalidInput: no reason.
        InvalidTransition: the account is deleted.
        SelfReview: nobody pays into their own wallet.
        IdempotencyKeyReused: the actor used the key for another credit.
    """
    reason = texts.prose(reason, "reason")
    if actor is not None and actor.pk == user.pk:
        raise SelfReview("Someone else must credit your wallet.")
    _check(currency, amount_minor)
    request = None
    if idempotency_key is not None and actor is not None:
        given = {"user": str(user.pk), "currency": currency, "amount": amount_minor, "reason": reason}
        request = keyed_request(owner=actor, key=idempotency_key, operation="wallet.credit", **given)
    if answer := kept_answer(request):
        return Journal.objects.get(pk=answer["journal"])
    try:
        with transaction.atomic():
            journal = _credit(user, currency, amount_minor, reason, actor)
            if request is not None:
                keep_answer(request, {"journal": str(journal.pk)})
            return journal
    except IntegrityError as error:
        if answer := kept_answer(request):
            return Journal.objects.get(pk=answer["journal"])
        if violates(error, LedgerAccount, "ledgeraccount_balance_exact"):
            raise InvalidAmount(f"A balance cannot pass {to_number(bounds.BALANCE_MINOR):,.2f}.") from error
        raise


def _credit(user: User, currency: str, amount_minor: int, reason: str, actor: User | None) -> Journal:
    # The row decides between this and the end of the account, which leaves no money behind.
    if lock(User.objects.all(), pk=user.pk).deleted:
        raise InvalidTransition("The account was deleted.")
    accounts = open_accounts(currency, {AccountKind.WALLET: user.pk, AccountKind.FUNDING: None})
    wallet_id = accounts[AccountKind.WALLET]
    journal_id = write_journal(
        kind=JournalKind.FUNDING,
        legs=[Leg(accounts[AccountKind.FUNDING], wallet_id, amount_minor)],
        currency=currency,
        reason=reason,
        actor_id=None if actor is None else actor.pk,
        wallet=credit_wallet_balance(wallet_id, amount_minor),
    )
    wallet = LedgerAccount(pk=wallet_id)
    audit.record("wallet.credit", wallet, actor=actor, reason=reason, currency=currency, amountMinor=amount_minor)
    return Journal.objects.get(pk=journal_id)


def _check(currency: str, amount_minor: int) -> None:
    if currency not in WALLET_CURRENCIES:
        raise InvalidAmount(f"Wallets hold {' and '.join(Currency(code) for code in WALLET_CURRENCIES)}, not {currency}.")
    if not 0 < amount_minor <= bounds.CREDIT_MINOR:
        raise InvalidAmount(f"Credit from 0.01 to {to_number(bounds.CREDIT_MINOR):,.2f} at once.")

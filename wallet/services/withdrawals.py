"""Paying wallets out: the owner asks, the money is set aside at once, staff pay or refuse, the owner may cancel until they begin.

Whoever pays claims the request first. A transfer at the bank is seen there before it is recorded here: who could still cancel then
would have the money twice.

Whoever moves both changes the wallet first and what is held of it second, so that two transactions never wait in a circle.
"""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from developers.errors import PasswordRequired
from marketplace.accounts.models import User
from marketplace.core import audit, bounds, texts
from marketplace.core.claims import is_claimed
from marketplace.core.errors import InvalidTransition, NotFound
from marketplace.core.mails import mail
from marketplace.core.money import WALLET_CURRENCIES, to_number
from marketplace.core.transitions import TransitionTable, lock, lock_for_decision

from ..errors import InsufficientBalance, InvalidAmount, TooManyWithdrawals, WithdrawalOpen
from ..models import LedgerAccount, Withdrawal
from ..models.ledger import AccountKind, JournalKind
from ..models.withdrawals import WithdrawalStatus
from ..selectors import withdrawals
from .ledger import Leg, change_held, credit_wallet_balance, open_accounts, write_journal

_MAILS = {"ask": "withdrawal_asked", "pay": "withdrawal_paid", "refuse": "withdrawal_refused", "cancel": "withdrawal_cancelled"}
_WAITING = {WithdrawalStatus.WAITING.value}
TRANSITIONS = TransitionTable(
    "withdrawal",
    {
        "pay": (_WAITING, WithdrawalStatus.PAID.value),
        "refuse": (_WAITING, WithdrawalStatus.REFUSED.value),
        "cancel": (_WAITING, WithdrawalStatus.CANCELLED.value),
    },
)


@transaction.atomic
def ask_withdrawal(
    *, user: User, currency: str, amount_minor: int | None, payment_details: str, actor: User, password_confirmed: bool = False
) -> Withdrawal:
    """Ask for money of a wallet to be paid out; it can no longer be spent from this moment on.

    Args:
        user: Whose wallet.
        currency: INR or USD.
        amount_minor: How much; None for all that the wallet holds.
        payment_details: Where to, in the owner's words.
        actor: Who asks.
        password_confirmed: Whether the user has just given the password again.

    Raises:
        PasswordRequired: the password was not given again.
        InvalidAmount: no wallet currency, or nothing.
        InvalidInput: no payment details, or too long ones.
        WithdrawalOpen: another one of this wallet waits.
        TooManyWithdrawals: this wallet was asked for money too often today.
        InsufficientBalance: the wallet holds less.
        NotFound: it is not the actor's wallet, or the account is shut.
    """
    if actor.pk != user.pk:
        raise NotFound
    if not password_confirmed:
        raise PasswordRequired("Money leaves the wallet permanently: enter your password to request the payout.")
    details = _details(payment_details)
    if not User.objects.filter(pk=user.pk, is_active=True).exists():
        raise NotFound
    if currency not in WALLET_CURRENCIES:
        raise InvalidAmount(f"Wallets hold {' and '.join(WALLET_CURRENCIES)}, not {currency}.")
    # The row decides between two that ask at once, and between this, a purchase and the end of the account.
    wallets = LedgerAccount.objects.select_for_update(no_key=True).filter(kind=AccountKind.WALLET, owner=user)
    wallet = wallets.filter(currency=currency).first()
    if wallet is not None:
        _refuse_more(wallet)
    holds = 0 if wallet is None else wallet.balance_minor
    amount = holds if amount_minor is None else amount_minor
    if amount < 1:
        raise InvalidAmount(f"The wallet holds nothing in {currency}." if amount_minor is None else "Ask for 0.01 or more.")
    if wallet is None or amount > holds:
        raise _insufficient(amount, holds, currency)
    withdrawal = _set_aside(wallet, amount, details, actor)
    audit.record(
        "withdrawal.ask", withdrawal, actor=actor, to_state=withdrawal.status, currency=currency, amountMinor=withdrawal.amount_minor
    )
    _tell(withdrawal, "ask")
    return withdrawal


@transaction.atomic
def pay_withdrawal(*, withdrawal: Withdrawal, reference: str, actor: User) -> Withdrawal:
    """Record that it was paid outside of the service.

    Args:
        withdrawal: What waits.
        reference: What names the payment at the bank.
        actor: Who paid.

    Raises:
        InvalidTransition: it waits no longer.
        InvalidInput: no reference.
        SelfReview: nobody pays themselves.
        NotFound: there is none.
    """
    reference = texts.line(reference, "reference", maximum=bounds.PAYMENT_REFERENCE_CHARS)
    withdrawal = lock_for_decision(_with_wallets(), pk=withdrawal.pk, owner="wallet.owner_id", actor=actor)
    return _settle(withdrawal, "pay", actor, reason=f"paid by {reference}", reference=reference)


@transaction.atomic
def refuse_withdrawal(*, withdrawal: Withdrawal, reason: str, actor: User) -> Withdrawal:
    """Put the money back into the wallet, and tell its owner why.

    Raises:
        InvalidTransition: it waits no longer.
        InvalidInput: no reason.
        SelfReview: nobody decides on their own.
        NotFound: there is none.
    """
    reason = texts.prose(reason, "reason")
    withdrawal = lock_for_decision(_with_wallets(), pk=withdrawal.pk, owner="wallet.owner_id", actor=actor)
    return _settle(withdrawal, "refuse", actor, reason=reason)


@transaction.atomic
def cancel_withdrawal(*, withdrawal: Withdrawal, actor: User) -> Withdrawal:
    """Put the money back into the wallet, because its owner wants it there.

    Raises:
        InvalidTransition: it waits no longer, or someone is paying it.
        NotFound: there is none, or it is not the actor's.
    """
    withdrawal = lock(_with_wallets(), pk=withdrawal.pk)
    if withdrawal.wallet.owner_id != actor.pk:
        raise NotFound
    if TRANSITIONS.allows(withdrawal, "cancel") and is_claimed(withdrawal):
        raise InvalidTransition("It is being paid at the moment. You get a mail when it is paid or refused.")
    return _settle(withdrawal, "cancel", actor, reason="cancelled by its owner")


def forgettable_details() -> QuerySet[Withdrawal]:
    """Return the payouts that were paid so long ago that nobody needs to know any more where to."""
    settled_before = timezone.now() - timedelta(days=bounds.PAYMENT_DETAILS_DAYS)
    return Withdrawal.objects.filter(status=WithdrawalStatus.PAID, settled__at__lte=settled_before).exclude(payment_details="")


def _refuse_more(wallet: LedgerAccount) -> None:
    mine = Withdrawal.objects.filter(wallet=wallet)
    if mine.filter(status=WithdrawalStatus.WAITING).exists():
        raise WithdrawalOpen
    if mine.filter(requested_at__gt=timezone.now() - timedelta(days=1)).count() >= bounds.WITHDRAWALS_A_DAY:
        raise TooManyWithdrawals(maximum=bounds.WITHDRAWALS_A_DAY)


def _details(payment_details: str) -> str:
    details = texts.prose(payment_details, "payment_details")
    if len(details) > bounds.PAYMENT_DETAILS_CHARS:
        raise texts.invalid("payment_details", "max_length", f"At most {bounds.PAYMENT_DETAILS_CHARS} characters.")
    return details


def _insufficient(amount: int, holds: int, currency: str) -> InsufficientBalance:
    price, balance = to_number(amount), to_number(holds)
    sentence = f"You ask for {price:.2f} {currency}; the wallet holds {balance:.2f} {currency}."
    return InsufficientBalance(sentence, price=price, currency=currency, balance=balance)


def _set_aside(wallet: LedgerAccount, amount: int, details: str, actor: User) -> Withdrawal:
    held_id = open_accounts(wallet.currency, {AccountKind.HELD: wallet.owner_id})[AccountKind.HELD]
    entry = credit_wallet_balance(wallet.pk, -amount)
    change_held(held_id, amount)
    asked = write_journal(
        kind=JournalKind.WITHDRAWAL,
        legs=[Leg(wallet.pk, held_id, amount)],
        currency=wallet.currency,
        reason="asked to be paid out",
        actor_id=actor.pk,
        wallet=entry,
    )
    made = Withdrawal.objects.create(wallet=wallet, asked_id=asked, payment_details=details)
    return withdrawals().get(pk=made.pk)


def _with_wallets() -> QuerySet[Withdrawal]:
    return Withdrawal.objects.select_related("asked", "wallet__owner")


def _settle(withdrawal: Withdrawal, verb: str, actor: User, *, reason: str, reference: str = "") -> Withdrawal:
    """Move what is held on, or back, and say so in the request, which the caller has locked."""
    if not TRANSITIONS.allows(withdrawal, verb):
        raise InvalidTransition(f"It is {withdrawal.status} already.", currentState=withdrawal.status)
    wallet, amount, paid = withdrawal.wallet, withdrawal.amount_minor, verb == "pay"
    accounts = open_accounts(wallet.currency, {AccountKind.HELD: wallet.owner_id, AccountKind.PAYOUT: None})
    held_id = accounts[AccountKind.HELD]
    entry = None if paid else credit_wallet_balance(wallet.pk, amount)
    change_held(held_id, -amount)
    settled = write_journal(
        kind=JournalKind.SETTLEMENT if paid else JournalKind.RETURN,
        legs=[Leg(held_id, accounts[AccountKind.PAYOUT] if paid else wallet.pk, amount)],
        currency=wallet.currency,
        reason=reason,
        actor_id=actor.pk,
        reverses_id=None if paid else withdrawal.asked_id,
        wallet=entry,
    )
    told = reason if verb == "refuse" else ""
    changes: dict[str, Any] = {"settled_id": settled, "reference": reference, "reason": told}
    if not paid:
        # Nobody pays to there any more.
        changes["payment_details"] = ""
    data = {"reference": reference} if paid else {}
    TRANSITIONS.apply(withdrawal, verb, actor=actor, reason=told, changes=changes, **data)
    _tell(withdrawal, verb)
    return withdrawal


def _tell(withdrawal: Withdrawal, verb: str) -> None:
    """Tell the owner of each step; where the money goes stays out of mails."""
    owner = withdrawal.wallet.owner
    if owner is not None:
        facts = {"amount_minor": withdrawal.amount_minor, "currency": withdrawal.currency}
        mail(owner, f"wallet/{_MAILS[verb]}", withdrawal=withdrawal, **facts)

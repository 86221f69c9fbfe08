"""Wallet payouts: the owner requests one, the money is set aside, staff pay or refuse it; the owner may cancel until it is claimed.

Staff claim a request before they pay it: an owner who could cancel between the bank transfer and its record
would get the money twice.

The wallet is always changed before the held amount, to avoid deadlocks.
"""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from developers.errors import PasswordRequired
from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.encryption import has_current_key
from marketplace.core.errors import InvalidTransition, NotFound
from marketplace.core.money import to_number
from marketplace.core.transitions import TransitionTable, lock, lock_for_decision
from marketplace.review.claims import is_claimed
from marketplace.ui.mail import mail

from .. import bounds
from ..card_credit import card_credit
from ..errors import InsufficientBalance, InvalidAmount, PayoutOpen, ReturnsToCard, TooManyPayouts
from ..models import LedgerAccount, WalletPayout
from ..models.ledger import AccountKind, JournalKind
from ..models.wallet_payouts import PURPOSE, WalletPayoutStatus
from ..selectors import wallet_payouts
from .ledger import NewTransfer, change_amount_set_aside, open_accounts, require_wallet_currency, set_aside, write_journal
from .receivables import collect_owed

_MAILS = {
    "ask": "wallet_payout_requested",
    "pay": "wallet_payout_paid",
    "refuse": "wallet_payout_refused",
    "cancel": "wallet_payout_cancelled",
}
_WAITING = {WalletPayoutStatus.WAITING.value}
WALLET_PAYOUT_TRANSITIONS = TransitionTable(
    "wallet_payout",
    {
        "pay": (_WAITING, WalletPayoutStatus.PAID.value),
        "refuse": (_WAITING, WalletPayoutStatus.REFUSED.value),
        "cancel": (_WAITING, WalletPayoutStatus.CANCELLED.value),
    },
)


@transaction.atomic
def request_wallet_payout(
    *, user: User, currency: str, amount_minor: int | None, payment_details: str, actor: User, password_confirmed: bool = False
) -> WalletPayout:
    """Request a payout of a wallet; the money is set aside and can no longer be spent.

    Without an amount it is all that was not paid by card. The payment details are bank details as free text.

    Raises:
        PasswordRequired: the password was not entered again.
        InvalidAmount: not a wallet currency, an amount below 0.01, or no amount and nothing in the wallet.
        InvalidInput: no bank details, or too long ones.
        PayoutOpen: another payout of this wallet waits.
        TooManyPayouts: too many payouts were requested in the last 24 hours.
        InsufficientBalance: the balance is too low.
        ReturnsToCard: the rest was paid by card.
        NotFound: it is not the actor's wallet, or the account is not active.
    """
    if actor.pk != user.pk:
        raise NotFound
    if not password_confirmed:
        raise PasswordRequired("Money leaves the wallet permanently: enter your password to request the payout.")
    details = _clean_payment_details(payment_details)
    if not User.objects.filter(pk=user.pk, is_active=True).exists():
        raise NotFound
    require_wallet_currency(currency)
    # Serialised with concurrent requests, purchases and the deletion of the account.
    wallet = LedgerAccount.objects.select_for_update(no_key=True).filter(kind=AccountKind.WALLET, owner=user, currency=currency).first()
    if wallet is not None:
        _check_request_limits(wallet)
    balance = 0 if wallet is None else wallet.balance_minor
    payable = balance if wallet is None else balance - card_credit(wallet)
    amount = payable if amount_minor is None else amount_minor
    if payable < max(amount, 1) <= balance:
        available = to_number(payable)
        sentence = f"{available:.2f} {currency} can be paid out. The rest was paid by card: ask us to return it to the card."
        raise ReturnsToCard(sentence, available=available, currency=currency)
    if amount < 1:
        raise InvalidAmount(f"The wallet holds nothing in {currency}." if amount_minor is None else "Ask for 0.01 or more.")
    if wallet is None or amount > payable:
        price, held = to_number(amount), to_number(balance)
        sentence = f"You ask for {price:.2f} {currency}; the wallet holds {held:.2f} {currency}."
        raise InsufficientBalance(sentence, price=price, currency=currency, balance=held)
    payout = _set_aside(wallet, amount, details, actor)
    audit.record("wallet_payout.ask", payout, actor=actor, to_state=payout.status, currency=currency, amountMinor=payout.amount_minor)
    _notify(payout, "ask")
    return payout


@transaction.atomic
def pay_wallet_payout(*, wallet_payout: WalletPayout, reference: str, actor: User) -> WalletPayout:
    """Record that a payout was paid outside of the service, with the bank's reference.

    Raises:
        InvalidTransition: it is no longer waiting.
        InvalidInput: an empty or too long reference.
        SelfReview: the actor owns the wallet.
        NotFound: there is none.
    """
    reference = texts.clean_line(reference, "reference", maximum=bounds.PAYMENT_REFERENCE_CHARS)
    wallet_payout = lock_for_decision(wallet_payouts(), pk=wallet_payout.pk, owner="wallet.owner_id", actor=actor)
    return _close(wallet_payout, "pay", actor, reason=f"paid by {reference}", reference=reference)


@transaction.atomic
def refuse_wallet_payout(*, wallet_payout: WalletPayout, reason: str, actor: User) -> WalletPayout:
    """Refuse a payout: return the money to the wallet and notify the owner.

    Raises:
        InvalidTransition: it is no longer waiting.
        InvalidInput: no reason.
        SelfReview: the actor owns the wallet.
        NotFound: there is none.
    """
    reason = texts.clean_text(reason, "reason")
    wallet_payout = lock_for_decision(wallet_payouts(), pk=wallet_payout.pk, owner="wallet.owner_id", actor=actor)
    return _close(wallet_payout, "refuse", actor, reason=reason)


@transaction.atomic
def cancel_wallet_payout(*, wallet_payout: WalletPayout, actor: User) -> WalletPayout:
    """Cancel one's own payout: return the money to the wallet.

    Raises:
        InvalidTransition: it is no longer waiting, or staff have claimed it.
        NotFound: there is none, or it is not the actor's.
    """
    wallet_payout = lock(wallet_payouts(), pk=wallet_payout.pk)
    if wallet_payout.wallet.owner_id != actor.pk:
        raise NotFound
    if WALLET_PAYOUT_TRANSITIONS.allows(wallet_payout, "cancel") and is_claimed(wallet_payout):
        raise InvalidTransition("Our staff are working on it. You get an email when it is paid or refused.")
    return _close(wallet_payout, "cancel", actor, reason="cancelled by its owner")


def payouts_with_expired_details() -> QuerySet[WalletPayout]:
    """Return the payouts whose bank details are due for erasure."""
    settled_before = timezone.now() - bounds.BANK_DETAILS_AGE
    return WalletPayout.objects.filter(status=WalletPayoutStatus.PAID, closing_journal__at__lte=settled_before).exclude(payment_details="")


def count_payouts_under_old_keys() -> int:
    """Return the number of waiting payouts whose bank details the current `SECRET_KEY` cannot decrypt; they are not re-encrypted."""
    waiting = WalletPayout.objects.filter(status=WalletPayoutStatus.WAITING)
    tokens = waiting.values_list(Cast("payment_details", TextField()), flat=True)
    return sum(not has_current_key(token, purpose=PURPOSE) for token in tokens.iterator())


def _check_request_limits(wallet: LedgerAccount) -> None:
    mine = WalletPayout.objects.filter(wallet=wallet)
    if mine.filter(status=WalletPayoutStatus.WAITING).exists():
        raise PayoutOpen
    if mine.filter(requested_at__gt=timezone.now() - timedelta(days=1)).count() >= bounds.WALLET_PAYOUTS_A_DAY:
        raise TooManyPayouts(maximum=bounds.WALLET_PAYOUTS_A_DAY)


def _clean_payment_details(payment_details: str) -> str:
    details = texts.clean_text(payment_details, "payment_details")
    if len(details) > bounds.BANK_DETAILS_CHARS:
        raise texts.invalid("payment_details", "max_length", f"At most {bounds.BANK_DETAILS_CHARS} characters.")
    return details


def _set_aside(wallet: LedgerAccount, amount: int, details: str, actor: User) -> WalletPayout:
    hold_id = set_aside(
        account=wallet,
        kind=AccountKind.HELD,
        amount_minor=amount,
        journal_kind=JournalKind.HOLD,
        reason="asked to be paid out",
        actor=actor,
    )
    made = WalletPayout.objects.create(wallet=wallet, hold_id=hold_id, payment_details=details)
    return wallet_payouts().get(pk=made.pk)


def _close(wallet_payout: WalletPayout, verb: str, actor: User, *, reason: str, reference: str = "") -> WalletPayout:
    """Pay out or return the held amount, and update the payout, which the caller has locked."""
    if not WALLET_PAYOUT_TRANSITIONS.allows(wallet_payout, verb):
        raise InvalidTransition(f"It is {wallet_payout.status} already.")
    wallet, amount = wallet_payout.wallet, wallet_payout.amount_minor
    shown_reason = reason if verb == "refuse" else ""
    changes: dict[str, Any] = {"reference": reference, "reason": shown_reason}
    if verb == "pay":
        accounts = open_accounts(wallet.currency, {AccountKind.HELD: wallet.owner_id, AccountKind.PAYOUT: None})
        change_amount_set_aside(accounts[AccountKind.HELD], -amount)
        changes["closing_journal_id"] = write_journal(
            kind=JournalKind.SETTLEMENT,
            transfers=[NewTransfer(accounts[AccountKind.HELD], accounts[AccountKind.PAYOUT], amount)],
            currency=wallet.currency,
            reason=reason,
            actor=actor,
        )
    else:
        changes["closing_journal_id"] = set_aside(
            account=wallet,
            kind=AccountKind.HELD,
            amount_minor=-amount,
            journal_kind=JournalKind.RETURN,
            reason=reason,
            actor=actor,
            undoes_id=wallet_payout.hold_id,
        )
        collect_owed(wallet_id=wallet.pk)
        # The bank details are no longer needed.
        changes["payment_details"] = ""
    data = {"reference": reference} if reference else {}
    WALLET_PAYOUT_TRANSITIONS.apply(wallet_payout, verb, actor=actor, reason=shown_reason, changes=changes, **data)
    _notify(wallet_payout, verb)
    return wallet_payout


def _notify(wallet_payout: WalletPayout, verb: str) -> None:
    """Mail the owner; bank details are not in mails."""
    owner = wallet_payout.wallet.owner
    if owner is not None:
        facts: dict[str, Any] = {"amount_minor": wallet_payout.amount_minor, "currency": wallet_payout.currency}
        mail(owner, f"wallet/{_MAILS[verb]}", wallet_payout=wallet_payout, **facts)

"""The part of a wallet's credit that was paid by card, which returns only to its card, never to a bank account."""

import datetime as dt
import uuid
from collections import defaultdict
from typing import Any

from django.db.models import F, Q, QuerySet, Sum
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core.database import row_by_id
from marketplace.core.errors import NotFound

from .models import CardReversal, Journal, LedgerAccount, TopUp, Transfer
from .models.ledger import AccountKind, JournalKind
from .models.top_ups import ReversalStatus, TopUpStatus

CREDITED = (TopUpStatus.SUCCEEDED, TopUpStatus.DISPUTED, TopUpStatus.RETURNED)


def card_credit(wallet: LedgerAccount) -> int:
    """Return how much of a wallet's balance was paid by card, in minor units."""
    return _trace_card_credit(wallet)[0]


def payable_of(user: User) -> dict[str, tuple[int, int]]:
    """Return by currency what the user's wallets hold, and how much of it can be paid out: what was not paid by card."""
    wallets = LedgerAccount.objects.filter(kind=AccountKind.WALLET, owner=user).order_by("currency")
    return {wallet.currency: (wallet.balance_minor, wallet.balance_minor - card_credit(wallet)) for wallet in wallets}


def card_part_of(sale: Journal) -> int:
    """Return how much of a purchase was paid by card and can return to it.

    That is at most what has not returned of the buyer's top-ups, less the card credit that the wallet already holds.
    """
    wallet = sale.wallet
    if wallet is None:
        return 0
    top_ups = TopUp.objects.filter(user=wallet.owner_id, currency=wallet.currency, status__in=CREDITED)
    not_returned = _sum(top_ups) - _sum(CardReversal.objects.filter(top_up__in=top_ups).exclude(status=ReversalStatus.PAYMENT_KEPT))
    card, taken = _trace_card_credit(wallet)
    return min(taken[sale.order_id], max(not_returned - card, 0))


def _trace_card_credit(wallet: LedgerAccount) -> tuple[int, defaultdict[uuid.UUID | None, int]]:
    """Return how much of the balance was paid by card, and how much of each order, or of each journal without one.

    The wallet's journals since its first top-up are followed: a purchase, a debt, or a payout takes what was not paid by card first, a
    refund returns what its purchase took, up to what it moves, and what is frozen is taken from the credit by card first. It is at most
    what has not returned of the top-ups, and what was written off of the debts for that, for which nothing came in: after a debt was paid
    with other credit, a refund returns that credit.
    """
    taken: defaultdict[uuid.UUID | None, int] = defaultdict(int)
    first = Journal.objects.filter(wallet=wallet, top_up__isnull=False).order_by("wallet_entry").first()
    if first is None:
        return 0, taken
    card, other, unreturned = 0, (first.wallet_balance_minor or 0) - (first.wallet_net_minor or 0), 0
    later = Journal.objects.filter(wallet=wallet, wallet_entry__gte=first.wallet_entry).order_by("wallet_entry")
    returned = Sum("top_up__reversals__amount_minor", filter=Q(top_up__reversals__status=ReversalStatus.PAYMENT_RETURNED), default=0)
    facts = ("pk", "kind", "wallet_net_minor", "order_id", "undoes_id", "top_up", "gone")
    for journal, kind, moved, order, undone, top_up, gone in later.annotate(gone=returned).values_list(*facts).iterator():
        net = moved or 0
        if kind in {JournalKind.SALE, JournalKind.REPAYMENT, JournalKind.HOLD}:
            # A payout takes credit by card only if it has returned to the card, or staff had added it before the provider told of the payment.
            by_card = taken[order or journal] = max(-net - other, 0)
        elif kind == JournalKind.FREEZE:
            by_card = taken[journal] = min(-net, card)
        elif top_up is not None:
            by_card, unreturned = -net, unreturned + net - gone
        elif kind == JournalKind.REFUND:
            # To a deleted account's wallet, only what can return to a card and what pays its debt is refunded.
            by_card = -min(taken[order], net)
        else:
            # The end of a freeze or of a payout gives back what was taken by card. Other credit has undone nothing: 0 was taken.
            by_card = -taken[undone]
        card, other = card - by_card, other + net + by_card
    if card > unreturned:
        written_off = Transfer.objects.filter(debit__kind=AccountKind.WRITTEN_OFF, credit__owner=wallet.owner_id, currency=wallet.currency)
        card = min(card, unreturned + written_off.aggregate(total=Sum("amount_minor", default=0))["total"])
    return card, taken


def refundable_minor(top_up: TopUp, wallet: LedgerAccount) -> int:
    """Return how much of a top-up can return to its card: what has not returned yet, is neither disputed nor on its way, and is in the wallet."""
    gone = _sum(top_up.reversals.exclude(status=ReversalStatus.PAYMENT_KEPT))
    return max(min(top_up.amount_minor - gone, card_credit(wallet)), 0)


def returned_minor(top_up: TopUp) -> int:
    """Return how much of a top-up has returned to its card."""
    return _sum(top_up.reversals.filter(status=ReversalStatus.PAYMENT_RETURNED))


def _sum(rows: "QuerySet[Any, Any]") -> int:
    total: int = rows.aggregate(total=Sum("amount_minor", default=0))["total"]
    return total


def top_ups_of(user: User) -> QuerySet[TopUp]:
    """Return the user's top-ups, newest first."""
    return TopUp.objects.filter(user=user).order_by("-created_at", "-id")


def top_up_of(user: User, top_up_id: str) -> TopUp:
    """Return one of the user's top-ups.

    Raises:
        NotFound: it is not theirs.
    """
    top_up = row_by_id(top_ups_of(user).select_related("quote__listing"), top_up_id)
    if top_up is None:
        raise NotFound
    return top_up


def unpaid_top_ups_of(user: User) -> QuerySet[TopUp]:
    """Return the user's top-ups of the last day that are not paid, newest first, including those whose payment page has closed."""
    unpaid = (TopUpStatus.PENDING, TopUpStatus.FAILED)
    return top_ups_of(user).filter(status__in=unpaid, created_at__gt=timezone.now() - dt.timedelta(days=1))


def open_top_ups_of(user_id: uuid.UUID) -> QuerySet[TopUp]:
    """Return the user's top-ups whose payment page is open."""
    return TopUp.objects.filter(user=user_id, status=TopUpStatus.PENDING, expires_at__gt=timezone.now())


def topped_up_since(user_id: uuid.UUID, currency: str, since: dt.datetime) -> int:
    """Return the sum of the user's top-ups that were requested since a time and credited, and of those that can still be paid."""
    recent = Q(status__in=CREDITED, created_at__gt=since) | Q(status=TopUpStatus.PENDING, expires_at__gt=timezone.now())
    return _sum(TopUp.objects.filter(recent, user=user_id, currency=currency))


def open_card_payments_of(user_id: uuid.UUID) -> "QuerySet[Any, Any]":
    """Return the user's top-ups that can still be paid, and those with an open dispute or refund, whose kind and amount are `reversal` and `reversal_minor`."""
    page_is_open = Q(status=TopUpStatus.PENDING, expires_at__gt=timezone.now())
    rows = TopUp.objects.filter(page_is_open | Q(reversals__status=ReversalStatus.OPEN), user=user_id)
    return rows.annotate(reversal=F("reversals__kind"), reversal_minor=F("reversals__amount_minor")).order_by("pk")

"""Refunds a purchase: reverses its journal, revokes the licence and ends the buyer's request in one transaction.

If the buyer's account is deleted, what it owes for returned card payments is paid first, as of any account, if possible from what was not paid
by card. What was paid by card then returns to the card; the rest is kept in an account of the marketplace until staff pay it out.
"""

import uuid
from typing import Any

from django.db import transaction
from django.utils import timezone

from catalog.services.purchase_counts import record_refund
from library.services.licences import revoke_licence
from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition, SelfReview
from marketplace.core.events import emit
from marketplace.core.transitions import TransitionTable, lock

from .. import bounds
from ..card_credit import card_part_of
from ..events import DeletedAccountCredited
from ..mails import announce_refund
from ..models import Journal, LedgerAccount, Order, RefundRequest
from ..models.ledger import AccountKind, JournalKind
from ..models.orders import OrderStatus
from ..models.refund_requests import RefundRequestStatus
from ..models.top_ups import ReversalStatus
from ..selectors import owed_by, upgrade_of
from ..unclaimed import unclaimed_minor
from ..webhooks import publish_refund
from .ledger import NewTransfer, VendorEntry, change_wallet_balance, open_account, open_accounts, write_journal
from .receivables import collect_owed

_COMPLETED = {OrderStatus.COMPLETED.value}
ORDER_TRANSITIONS = TransitionTable(
    "order", {"refund": (_COMPLETED, OrderStatus.REFUNDED.value), "charge_back": (_COMPLETED, OrderStatus.CHARGED_BACK.value)}
)
_WAITING, _DECLINED, _IN_REVIEW = (
    status.value for status in (RefundRequestStatus.WAITING, RefundRequestStatus.DECLINED, RefundRequestStatus.IN_REVIEW)
)
REQUEST_TRANSITIONS = TransitionTable(
    "refund_request",
    {
        "decline": ({_WAITING}, RefundRequestStatus.DECLINED.value),
        "escalate": ({_WAITING, _DECLINED}, RefundRequestStatus.IN_REVIEW.value),
        "refund": ({_WAITING, _DECLINED, _IN_REVIEW}, RefundRequestStatus.REFUNDED.value),
        "refuse": ({_IN_REVIEW}, RefundRequestStatus.REFUSED.value),
        "close": ({_WAITING, _DECLINED, _IN_REVIEW}, RefundRequestStatus.CLOSED.value),
    },
)


@transaction.atomic
def refund_order(*, order: Order, reason: str, actor: User | None) -> Order:
    """Refund the price and revoke the licence, with its download links.

    The licence that an upgrade replaced applies again, unless it is revoked.

    Raises:
        InvalidTransition: the order was refunded already, its licence was upgraded, or its payment is disputed.
        InvalidInput: no reason.
        SelfReview: the actor is the buyer.
        NotFound: there is no such order.
    """
    reason = texts.clean_text(reason, "reason")
    # The buyer first, as in a dispute. Serialised with the deletion of the account, which must leave no money behind.
    buyer = lock(User.objects.all(), pk=order.buyer_id)
    order = lock(Order.objects.all(), pk=order.pk)
    if actor is not None and actor.pk == order.buyer_id:
        raise SelfReview("Someone else must refund your purchase.")
    if order.reversal_parts.filter(reversal__status=ReversalStatus.OPEN).exists():
        raise InvalidTransition("The card payment behind this purchase is disputed: wait until that is decided.")
    ORDER_TRANSITIONS.apply(order, "refund", actor=actor, reason=reason, changes={"refunded_at": timezone.now()})
    sale = Journal.objects.filter(order=order, kind=JournalKind.SALE).first()
    if sale is not None and sale.wallet_id is not None:
        # A deleted account cannot spend credit: what does not go through its wallet waits to be paid out.
        to_wallet = _through_wallet(sale, sale.wallet_id, order) if buyer.deleted else order.price_minor
        _return_money(sale, sale.wallet_id, order, to_wallet, reason=reason, actor=actor)
        if buyer.deleted and to_wallet:
            emit(DeletedAccountCredited(buyer.pk))
    revoke_licence(order_id=order.id, reason=reason, actor=actor)
    # Checked once the licence is locked: an upgrade at the same time is either seen here or finds the licence revoked.
    if upgrade_of(order) is not None:
        raise InvalidTransition("The licence was upgraded: refund the upgrade first.")
    record_refund(listing_id=order.listing_id)
    end_refund_request(order=order, verb="refund", actor=actor, reason=reason)
    publish_refund(order)
    announce_refund.enqueue(str(order.pk))
    return order


@transaction.atomic
def end_refund_request(*, order: Order, verb: str, actor: User | None, reason: str) -> None:
    """End the open refund request of an order, which the caller has locked; do nothing if there is none."""
    refund_request = RefundRequest.objects.select_for_update().filter(order=order).first()
    if refund_request is not None and REQUEST_TRANSITIONS.allows(refund_request, verb):
        REQUEST_TRANSITIONS.apply(refund_request, verb, actor=actor, reason=reason, changes={"ended_at": timezone.now()})


@transaction.atomic
def pay_unclaimed(*, order: Order, reference: str, reason: str, actor: User) -> None:
    """Record that a refund owed to a deleted account was paid outside of the service; the reason says how the recipient was verified.

    Raises:
        InvalidTransition: the order has no unclaimed refund.
        InvalidInput: no reference, or no reason.
        NotFound: there is no such order.
    """
    reference = texts.clean_line(reference, "reference", maximum=bounds.PAYMENT_REFERENCE_CHARS)
    reason = texts.clean_text(reason, "reason")
    order = lock(Order.objects.all(), pk=order.pk)
    unclaimed = unclaimed_minor(order)
    if not unclaimed:
        raise InvalidTransition("Nothing of this order waits to be paid out.")
    accounts = open_accounts(order.currency, {AccountKind.UNCLAIMED: None, AccountKind.PAYOUT: None})
    write_journal(
        kind=JournalKind.REFUND_PAYOUT,
        transfers=[NewTransfer(accounts[AccountKind.UNCLAIMED], accounts[AccountKind.PAYOUT], unclaimed)],
        currency=order.currency,
        reason=f"paid by {reference}",
        actor=actor,
        order_id=order.pk,
    )
    paid: dict[str, Any] = {"reference": reference, "currency": order.currency, "amountMinor": unclaimed}
    audit.record("order.pay_unclaimed", order, actor=actor, reason=reason, **paid)


def _through_wallet(sale: Journal, wallet_id: uuid.UUID, order: Order) -> int:
    """Return how much of a refund goes through a deleted account's wallet: what returns to the card, and what the account owes."""
    # Staff who write a debt off lock the wallet too.
    lock(LedgerAccount.objects.all(), pk=wallet_id)
    by_card = card_part_of(sale)
    return by_card + min(owed_by(order.buyer_id).get(order.currency, 0), order.price_minor - by_card)


def _return_money(sale: Journal, wallet_id: uuid.UUID, order: Order, to_wallet_minor: int, *, reason: str, actor: User | None) -> None:
    """Reverse the transfers of the sale, first into the wallet; the rest waits to be paid out."""
    # The wallet is locked before the licence, as in a purchase, to avoid deadlocks.
    wallet_entry = change_wallet_balance(wallet_id, to_wallet_minor) if to_wallet_minor else None
    unclaimed_id = open_account(order.currency, AccountKind.UNCLAIMED, None)
    transfers, rest = [], to_wallet_minor
    for transfer in sale.transfers.order_by("id"):
        part = min(transfer.amount_minor, rest)
        rest -= part
        transfers.append(NewTransfer(transfer.credit_id, wallet_id, part))
        transfers.append(NewTransfer(transfer.credit_id, unclaimed_id, transfer.amount_minor - part))
    write_journal(
        kind=JournalKind.REFUND,
        transfers=transfers,
        wallet_entry=wallet_entry,
        vendor_entry=None if sale.vendor_id is None else VendorEntry(sale.vendor_id, -(sale.vendor_net_minor or 0)),
        currency=order.currency,
        reason=reason,
        actor=actor,
        order_id=order.pk,
        undoes_id=sale.pk,
    )
    if wallet_entry is not None:
        collect_owed(wallet_id=wallet_id)

"""Disputes and refunds of top-ups. Money returns to the card by new entries; what is not covered is owed by the buyer.

While a dispute is open, the wallet's balance, up to the disputed amount, is frozen. The rest is attributed to the purchases after the top-up,
newest first, each up to its price. A purchase of which half or more is disputed or already lost is suspended: its licence cannot be used, and
up to the vendor's share is withheld from earnings that are not paid out. A dispute that is won restores all that it suspended. One that is
lost takes the frozen credit, and ends each purchase of which at least half of the price is lost by then: from these the tax, the vendor's share
that was withheld and the commission are taken, as far as they are needed. Other purchases stay; they are restored unless lost and still
disputed parts together reach half of the price. What another dispute suspended stays suspended until that one ends. The buyer owes what is
still missing, which is collected from later credit (`wallet.services.receivables`).

The top-up, the buyer and the wallet are locked first. So the buyer's orders and licences may be locked before or after vendors' accounts.
"""

import uuid
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from django.db.models import F, OuterRef, Sum
from django.utils import timezone

from catalog.services.purchase_counts import record_refund
from library.services.licences import revoke_licence
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.database import subquery_sum
from marketplace.core.events import emit
from marketplace.core.transitions import lock
from marketplace.ui.mail import mail

from ..card_credit import refundable_minor, returned_minor
from ..events import DeletedAccountCredited
from ..mails import tell_holder
from ..models import CardReversal, Journal, LedgerAccount, Order, ReversedOrder, TopUp
from ..models.ledger import AccountKind, JournalKind
from ..models.orders import OrderStatus
from ..models.top_ups import EventKind, ReversalKind, ReversalStatus, TopUpStatus
from ..providers import PaymentEvent
from ..selectors import owed_by
from .disputed_upgrades import refund_upgrades, restore_purchases, suspend_purchases
from .ledger import NewTransfer, change_amount_set_aside, change_wallet_balance, open_account, open_accounts, write_journal
from .receivables import collect_owed
from .refunds import ORDER_TRANSITIONS, end_refund_request
from .top_ups import TOP_UP_TRANSITIONS
from .withholding import by_vendor, release_shares, tell_outcome, tell_withheld, withhold_shares

_UNPAID = {TopUpStatus.PENDING, TopUpStatus.FAILED}
_REFUNDS = {EventKind.REFUNDED, EventKind.REFUND_FAILED}
_ENDS = {
    EventKind.DISPUTE_WON: ReversalStatus.PAYMENT_KEPT,
    EventKind.REFUND_FAILED: ReversalStatus.PAYMENT_KEPT,
    EventKind.DISPUTE_LOST: ReversalStatus.PAYMENT_RETURNED,
    EventKind.REFUNDED: ReversalStatus.PAYMENT_RETURNED,
}


def apply_reversal(*, top_up: TopUp, event: PaymentEvent) -> str:
    """Apply an event about a dispute or a refund, in the caller's transaction, which has locked the top-up.

    The end of a dispute may be reported before its beginning, and a refund that staff made at the provider is first reported here.

    Returns:
        What happened; empty when the event must wait for the payment, or for the end of another dispute or refund.
    """
    if top_up.status in _UNPAID:
        return ""
    known, end = _reversal_of(top_up, event), _ENDS.get(event.kind)
    reversal = known
    if reversal is None:
        if event.kind == EventKind.REFUND_FAILED:
            return "nothing: there is no such refund"
        amount = min(event.amount_minor, top_up.amount_minor - returned_minor(top_up))
        if amount < 1:
            return "nothing: all of it has returned"
        if top_up.reversals.filter(status=ReversalStatus.OPEN).exists():
            return ""
        kind = ReversalKind.REFUND if event.kind in _REFUNDS else ReversalKind.DISPUTE
        reversal = _open(top_up, kind, event.reversal, amount)
        if end is None:
            tell_withheld(reversed_orders=reversal.reversed_orders.select_related("withholding_journal__vendor"))
    if reversal.status != ReversalStatus.OPEN:
        if end not in {None, reversal.status}:
            return f"refused: it was {reversal.status} already"
        return f"ignored: it was {reversal.status} already"
    if end is None:
        return "frozen"
    settle_reversal(reversal=reversal, end=end, vendors_told=known is not None)
    return end.value.lower()


def open_refund(*, top_up: TopUp) -> CardReversal | None:
    """Freeze what can be refunded of a top-up, which the caller has locked; None if nothing can be."""
    amount = refundable_minor(top_up, _lock_wallet(top_up))
    return _open(top_up, ReversalKind.REFUND, "", amount) if amount else None


def _reversal_of(top_up: TopUp, event: PaymentEvent) -> CardReversal | None:
    """Return the reversal that an event is about; a refund of ours may be reported before its reference is saved."""
    reversals = top_up.reversals.select_related("freeze_journal")
    known = reversals.filter(reference=event.reversal).first() if event.reversal else None
    if known is None and event.kind in _REFUNDS:
        sent = reversals.filter(kind=ReversalKind.REFUND, status=ReversalStatus.OPEN, reference="")
        known = sent.filter(amount_minor=event.amount_minor).first()
        if known is not None:
            known.reference = event.reversal
            known.save(update_fields=["reference"])
    if known is not None:
        known.top_up = top_up
    return known


def _lock_wallet(top_up: TopUp) -> LedgerAccount:
    """Return the wallet of a top-up, locked after the buyer."""
    lock(User.objects.all(), pk=top_up.user_id)
    return lock(LedgerAccount.objects.filter(kind=AccountKind.WALLET), owner=top_up.user_id, currency=top_up.currency)


def _open(top_up: TopUp, kind: ReversalKind, reference: str, amount_minor: int) -> CardReversal:
    """Freeze what the wallet holds, and attribute the rest to the newest purchases after the top-up."""
    wallet = _lock_wallet(top_up)
    frozen_minor = min(amount_minor, wallet.balance_minor)
    reversal = CardReversal.objects.create(
        top_up=top_up,
        kind=kind,
        reference=reference,
        amount_minor=amount_minor,
        freeze_journal_id=_freeze(wallet, frozen_minor, kind) if frozen_minor else None,
    )
    suspended = _record_reversed_orders(reversal, _sales_behind(reversal, wallet, amount_minor - frozen_minor))
    if kind == ReversalKind.DISPUTE:
        TOP_UP_TRANSITIONS.apply(top_up, "dispute", actor=None, dispute=reference)
        _notify(reversal, "top_up_disputed", suspended=suspended)
    return reversal


def _record_reversed_orders(reversal: CardReversal, found: Sequence[tuple[Journal, ReversedOrder]]) -> int:
    """Save what is reversed of each purchase, suspend those of which half or more is reversed by now, and return how many are suspended."""
    suspended = [(sale, row) for sale, row in found if row.suspended]
    for (_, row), withheld in zip(suspended, withhold_shares(sales=[sale for sale, _ in suspended]), strict=True):
        row.withholding_journal_id, row.withheld_minor = withheld
    ReversedOrder.objects.bulk_create(row for _, row in found)
    suspend_purchases(order_ids=[row.order_id for _, row in suspended], reason=f"{reversal.kind} of a top-up")
    return len(suspended)


def _freeze(wallet: LedgerAccount, amount_minor: int, kind: ReversalKind) -> uuid.UUID:
    frozen_id = open_account(wallet.currency, AccountKind.FROZEN, wallet.owner_id)
    entry = change_wallet_balance(wallet.pk, -amount_minor)
    change_amount_set_aside(frozen_id, amount_minor)
    return write_journal(
        kind=JournalKind.FREEZE,
        transfers=[NewTransfer(wallet.pk, frozen_id, amount_minor)],
        currency=wallet.currency,
        reason=f"{kind} of a top-up",
        actor=None,
        wallet=entry,
    )


def _sales_behind(reversal: CardReversal, wallet: LedgerAccount, uncovered_minor: int) -> list[tuple[Journal, ReversedOrder]]:
    """Attribute an amount to the newest purchases after the top-up, each up to what is not reversed of it yet.

    Those that are suspended already are left out. Nothing is saved.
    """
    credited = reversal.top_up.journal
    if credited is None:
        return []
    suspended = ReversedOrder.objects.filter(reversal__status=ReversalStatus.OPEN, suspended=True).values("order")
    reversed_before = ReversedOrder.objects.filter(order=OuterRef("order")).exclude(reversal__status=ReversalStatus.PAYMENT_KEPT)
    later = Journal.objects.filter(wallet=wallet, kind=JournalKind.SALE, wallet_entry__gt=credited.wallet_entry)
    standing = later.filter(order__status=OrderStatus.COMPLETED).exclude(order__in=suspended).select_related("order")
    counted = standing.annotate(before=subquery_sum(reversed_before, "reversed_minor", by="order"))
    found: list[tuple[Journal, ReversedOrder]] = []
    for sale in counted.order_by("-wallet_entry").iterator():
        if uncovered_minor < 1:
            break
        order = sale.order
        part = 0 if order is None else min(order.price_minor - sale.before, uncovered_minor)
        if order is not None and part > 0:
            half = 2 * (sale.before + part) >= order.price_minor
            found.append((sale, ReversedOrder(reversal=reversal, order=order, reversed_minor=part, suspended=half, withheld_minor=0)))
            uncovered_minor -= part
    return found


def settle_reversal(*, reversal: CardReversal, end: ReversalStatus, vendors_told: bool = True) -> None:
    """End an open reversal, whose top-up the caller has locked: everything is restored, or the money returns to the card.

    Without `vendors_told`, vendors do not know that their shares are withheld: they are told only of what is taken, or withheld by another dispute.
    """
    top_up = reversal.top_up
    wallet = _lock_wallet(top_up)
    kept = end == ReversalStatus.PAYMENT_KEPT
    ended = [] if kept else _ended_by(reversal)
    reversal.closing_journal_id = _unfreeze(reversal) if kept else _return_to_card(reversal, ended, wallet)
    standing = list(
        reversal.reversed_orders.filter(suspended=True, ended=False).select_related("withholding_journal__vendor", "order").order_by("pk")
    )
    release_shares(reversed_orders=[*ended, *standing])
    again = [] if kept else _keep_suspended(reversal, standing)
    tell_outcome(reversed_orders=[*ended, *standing], withheld_again=again, vendors_told=vendors_told)
    restore_purchases(reversal=reversal, order_ids=[reversed_order.order_id for reversed_order in standing])
    reversal.status, reversal.decided_at = end, timezone.now()
    reversal.save(update_fields=["status", "decided_at", "closing_journal"])
    audit.record(f"reversal.{end.value.lower()}", reversal, actor=None, currency=top_up.currency, amountMinor=reversal.amount_minor)
    refund_upgrades(buyer=top_up.user)
    is_dispute = reversal.kind == ReversalKind.DISPUTE
    if kept and is_dispute and top_up.user.deleted:
        emit(DeletedAccountCredited(top_up.user_id))
    if returned_minor(top_up) == top_up.amount_minor:
        TOP_UP_TRANSITIONS.apply(top_up, "return", actor=None)
    elif is_dispute:
        TOP_UP_TRANSITIONS.apply(top_up, "end_dispute", actor=None, dispute=reversal.reference)
    owed = owed_by(top_up.user_id).get(top_up.currency, 0)
    if is_dispute:
        template = "top_up_dispute_won" if kept else "top_up_dispute_lost"
        _notify(reversal, template, purchases=len(standing if kept else ended), owed_minor=owed)
    elif not kept:
        _notify(reversal, "top_up_refunded", owed_minor=owed)


def _keep_suspended(reversal: CardReversal, standing: Sequence[ReversedOrder]) -> list[ReversedOrder]:
    """Let another open dispute suspend those purchases of which half or more is still disputed or lost; return its records of them."""
    again = []
    for reversed_order in standing:
        rows = ReversedOrder.objects.filter(order=reversed_order.order_id).exclude(reversal__status=ReversalStatus.PAYMENT_KEPT)
        other = rows.filter(reversal__status=ReversalStatus.OPEN).exclude(reversal=reversal).order_by("-pk").first()
        counted = rows.aggregate(total=Sum("reversed_minor"))["total"]
        if other is not None and 2 * counted >= reversed_order.order.price_minor:
            ((other.withholding_journal_id, other.withheld_minor),) = withhold_shares(
                sales=[Journal.objects.get(order=reversed_order.order_id, kind=JournalKind.SALE)]
            )
            other.suspended = True
            other.save(update_fields=["suspended", "withholding_journal", "withheld_minor"])
            again.append(other)
    return again


def _ended_by(reversal: CardReversal) -> list[ReversedOrder]:
    """Return the purchases that a lost dispute or a refund ends, newest first: those of which half or more is lost with it."""
    lost_before = ReversedOrder.objects.filter(order=OuterRef("order"), reversal__status=ReversalStatus.PAYMENT_RETURNED)
    lost = F("reversed_minor") + subquery_sum(lost_before, "reversed_minor", by="order")
    rows = reversal.reversed_orders.filter(order__status=OrderStatus.COMPLETED).annotate(lost=lost)
    ended = rows.filter(lost__gte=F("order__price_minor") - F("lost")).select_related("order", "withholding_journal__vendor")
    return list(ended.order_by("-order__created_at", "-order_id"))


def _unfreeze(reversal: CardReversal) -> uuid.UUID | None:
    """Return what was frozen to the wallet; None if nothing was."""
    frozen, top_up = reversal.freeze_journal, reversal.top_up
    if frozen is None or frozen.wallet_id is None:
        return None
    frozen_id = open_account(top_up.currency, AccountKind.FROZEN, top_up.user_id)
    entry = change_wallet_balance(frozen.wallet_id, reversal.frozen_minor)
    change_amount_set_aside(frozen_id, -reversal.frozen_minor)
    journal = write_journal(
        kind=JournalKind.UNFREEZE,
        transfers=[NewTransfer(frozen_id, frozen.wallet_id, reversal.frozen_minor)],
        currency=top_up.currency,
        reason=f"{reversal.kind} of a top-up ended",
        actor=None,
        reverses_id=frozen.pk,
        wallet=entry,
    )
    collect_owed(wallet_id=frozen.wallet_id)
    return journal


def _return_to_card(reversal: CardReversal, orders: Sequence[ReversedOrder], wallet: LedgerAccount) -> uuid.UUID:
    """End these purchases, and take the amount from what is frozen and from them; the buyer owes the rest."""
    top_up = reversal.top_up
    locked = list(Order.objects.select_for_update(no_key=True).filter(pk__in=[row.order_id for row in orders]).order_by("pk"))
    missing = reversal.amount_minor - reversal.frozen_minor
    # First the tax, because the credit notes of these purchases are about all of it.
    tax = min(sum(order.tax_minor for order in locked), missing)
    missing -= tax
    reversal.reversed_orders.filter(pk__in=[row.pk for row in orders]).update(ended=True)
    for row in orders:
        row.taken_minor = min(row.withheld_minor, missing)
        missing -= row.taken_minor
    own = {AccountKind.FROZEN: top_up.user_id, AccountKind.RECEIVABLE: top_up.user_id}
    accounts = open_accounts(top_up.currency, own | dict.fromkeys((AccountKind.COMMISSION, AccountKind.TAX, AccountKind.FUNDING)))
    to = accounts[AccountKind.FUNDING]
    transfers = [NewTransfer(accounts[AccountKind.FROZEN], to, reversal.frozen_minor)]
    change_amount_set_aside(accounts[AccountKind.FROZEN], -reversal.frozen_minor)
    taken_from = by_vendor(orders)
    for vendor in sorted(taken_from, key=attrgetter("owner_id")):
        amount = sum(row.taken_minor for row in taken_from[vendor])
        withheld_id = open_account(top_up.currency, AccountKind.WITHHELD, vendor.owner_id)
        change_amount_set_aside(withheld_id, -amount)
        transfers.append(NewTransfer(withheld_id, to, amount))
    commission = min(sum(order.commission_minor for order in locked), missing)
    transfers.append(NewTransfer(accounts[AccountKind.TAX], to, tax))
    transfers.append(NewTransfer(accounts[AccountKind.COMMISSION], to, commission))
    transfers.append(NewTransfer(accounts[AccountKind.RECEIVABLE], to, missing - commission))
    reason = f"{reversal.kind} of a top-up: returned to the card"
    journal = write_journal(kind=JournalKind.CARD_RETURN, transfers=transfers, currency=top_up.currency, reason=reason, actor=None)
    collect_owed(wallet_id=wallet.pk)
    for order in locked:
        ORDER_TRANSITIONS.apply(order, "charge_back", actor=None, reason=reason)
        revoke_licence(order_id=order.pk, reason="the card payment was returned", actor=None)
        tell_holder(order)
        end_refund_request(order=order, verb="close", actor=None, reason=reason)
        record_refund(listing_id=order.listing_id)
    return journal


def _notify(reversal: CardReversal, template: str, **facts: Any) -> None:
    top_up = reversal.top_up
    if not top_up.user.deleted:
        amounts: dict[str, Any] = {
            "amount_minor": reversal.amount_minor,
            "frozen_minor": reversal.frozen_minor,
            "currency": top_up.currency,
        }
        mail(top_up.user, f"wallet/{template}", top_up=top_up, reversal=reversal, **amounts, **facts)

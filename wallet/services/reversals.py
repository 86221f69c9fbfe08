"""Disputes and refunds of top-ups. Money returns to the card by new entries; what is not covered is owed by the buyer.

While a dispute is open, the wallet's balance, up to the disputed amount, is frozen. The rest is attributed to the purchases after the top-up,
newest first, each up to its price. The part of a purchase's price that is attributed to a dispute is *disputed* until the dispute ends, then
*lost*, or, if the dispute is won, neither.
A purchase of which half of the price or more is disputed or lost is suspended: its licence cannot be used, and up to the vendor's share is
withheld from earnings that are not paid out. A dispute that is won restores all that it suspended. One that is lost takes the frozen credit,
and ends each purchase of which half of the price or more is lost by then: from these all of the tax is taken, and, as far as they are
needed, the vendor's share that was withheld and the commission. Other purchases stay; they are restored unless half or more is still disputed or lost. What
another dispute suspended stays suspended until that one ends. The buyer owes what is still missing, which is collected from later credit
(`wallet.services.receivables`).

The buyer, the top-up and the wallet are locked first. These locks serialise everything about this buyer, so it does not matter whether the
buyer's orders and licences are locked before or after vendors' accounts.
"""

import uuid
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from django.db.models import F, OuterRef, QuerySet, Sum
from django.utils import timezone

from catalog.services.purchase_counts import record_refund
from library.services.licences import revoke_licence
from marketplace.core import audit
from marketplace.core.database import subquery_sum
from marketplace.core.events import emit
from marketplace.core.transitions import lock
from marketplace.ui.mail import mail

from ..card_credit import refundable_minor, returned_minor
from ..events import DeletedAccountCredited
from ..mails import tell_holder
from ..models import CardReversal, Journal, LedgerAccount, Order, ReversalPart, TopUp
from ..models.ledger import AccountKind, JournalKind
from ..models.orders import OrderStatus
from ..models.top_ups import EventKind, ReversalKind, ReversalStatus, TopUpStatus
from ..providers import PaymentEvent
from ..selectors import owed_by
from .disputed_upgrades import refund_upgrades, restore_purchases, suspend_purchases
from .ledger import NewTransfer, change_amount_set_aside, open_account, open_accounts, set_aside, write_journal
from .receivables import collect_owed
from .refunds import ORDER_TRANSITIONS, end_refund_request
from .top_ups import TOP_UP_TRANSITIONS
from .withholding import by_vendor_account, lock_vendor_accounts, release_shares, tell_outcome, tell_withheld, withhold_shares

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
    reversal, end = _match_reversal(top_up, event), _ENDS.get(event.kind)
    vendors_told = reversal is not None
    if reversal is None:
        if event.kind == EventKind.REFUND_FAILED:
            return "nothing: there is no such refund"
        amount = min(event.amount_minor, top_up.amount_minor - returned_minor(top_up))
        if amount < 1:
            return "nothing: all of it has returned"
        if top_up.reversals.filter(status=ReversalStatus.OPEN).exists():
            return ""
        kind = ReversalKind.REFUND if event.kind in _REFUNDS else ReversalKind.DISPUTE
        reversal = _open_reversal(top_up, kind, event.reversal, amount)
        if end is None:
            tell_withheld(parts=reversal.parts.select_related("withholding_journal__vendor"))
    if reversal.status != ReversalStatus.OPEN:
        if end not in {None, reversal.status}:
            return f"refused: it was {reversal.status} already"
        return f"ignored: it was {reversal.status} already"
    if end is None:
        return "frozen"
    settle_reversal(reversal=reversal, end=end, vendors_told=vendors_told)
    return end.value.lower()


def open_refund(*, top_up: TopUp) -> CardReversal | None:
    """Freeze what can be refunded of a top-up, which the caller has locked; None if nothing can be."""
    amount = refundable_minor(top_up, _lock_wallet(top_up))
    return _open_reversal(top_up, ReversalKind.REFUND, "", amount) if amount else None


def _match_reversal(top_up: TopUp, event: PaymentEvent) -> CardReversal | None:
    """Return the reversal that an event is about; a refund of ours that is reported before its reference was saved gets it here."""
    reversals = top_up.reversals.select_related("freeze_journal")
    known = reversals.filter(reference=event.reversal).first() if event.reversal else None
    if known is None and event.kind in _REFUNDS:
        sent = reversals.filter(kind=ReversalKind.REFUND, status=ReversalStatus.OPEN, reference="")
        known = sent.filter(amount_minor=event.amount_minor).first()
        if known is not None:
            known.reference = event.reversal
            known.save(update_fields=["reference"])
    return known


def _lock_wallet(top_up: TopUp) -> LedgerAccount:
    """Return the wallet of a top-up, locked after the buyer and the top-up."""
    return lock(LedgerAccount.objects.filter(kind=AccountKind.WALLET), owner=top_up.user_id, currency=top_up.currency)


def _open_reversal(top_up: TopUp, kind: ReversalKind, reference: str, amount_minor: int) -> CardReversal:
    """Freeze what the wallet holds, and attribute the rest to the newest purchases after the top-up."""
    wallet = _lock_wallet(top_up)
    frozen_minor = min(amount_minor, wallet.balance_minor)
    reversal = CardReversal(top_up=top_up, kind=kind, reference=reference, amount_minor=amount_minor)
    if frozen_minor:
        reversal.freeze_journal_id = set_aside(
            account=wallet,
            kind=AccountKind.FROZEN,
            amount_minor=frozen_minor,
            journal_kind=JournalKind.FREEZE,
            reason=f"{kind} of a top-up",
        )
    reversal.save()
    suspended = _record_parts(reversal, _sales_behind(reversal, wallet, amount_minor - frozen_minor))
    if kind == ReversalKind.DISPUTE:
        TOP_UP_TRANSITIONS.apply(top_up, "dispute", actor=None, dispute=reference)
        _notify(reversal, "top_up_disputed", suspended=suspended)
    return reversal


def _record_parts(reversal: CardReversal, found: Sequence[tuple[Journal, ReversalPart]]) -> int:
    """Save what `_sales_behind` found, suspend the purchases that are marked as suspended, and return their number."""
    suspended = [(sale, part) for sale, part in found if part.suspended]
    withhold_shares(suspended=suspended)
    ReversalPart.objects.bulk_create(part for _, part in found)
    suspend_purchases(order_ids=[part.order_id for _, part in suspended], reason=f"{reversal.kind} of a top-up")
    return len(suspended)


def _sales_behind(reversal: CardReversal, wallet: LedgerAccount, uncovered_minor: int) -> list[tuple[Journal, ReversalPart]]:
    """Attribute an amount to the newest purchases after the top-up, each up to what is neither disputed nor lost yet.

    Purchases that are suspended already are left out. Nothing is saved. Each part is returned with its sale.
    """
    credited = reversal.top_up.journal
    if credited is None:
        return []
    suspended_already = ReversalPart.objects.filter(reversal__status=ReversalStatus.OPEN, suspended=True).values("order")
    later = Journal.objects.filter(wallet=wallet, kind=JournalKind.SALE, wallet_entry__gt=credited.wallet_entry)
    usable = later.filter(order__status=OrderStatus.COMPLETED).exclude(order__in=suspended_already).select_related("order")
    sales = usable.annotate(disputed_or_lost=subquery_sum(_disputed_or_lost(OuterRef("order")), "reversed_minor", by="order"))
    found: list[tuple[Journal, ReversalPart]] = []
    for sale in sales.order_by("-wallet_entry").iterator():
        order = sale.order
        if order is None or uncovered_minor < 1:
            break
        amount = min(order.price_minor - sale.disputed_or_lost, uncovered_minor)
        if amount > 0:
            suspended = 2 * (sale.disputed_or_lost + amount) >= order.price_minor
            found.append((sale, ReversalPart(reversal=reversal, order=order, reversed_minor=amount, suspended=suspended, withheld_minor=0)))
            uncovered_minor -= amount
    return found


def _disputed_or_lost(order: Any) -> QuerySet[ReversalPart]:
    """Return the parts of an order's price that are disputed or lost: all but those of which the payment was kept."""
    return ReversalPart.objects.filter(order=order).exclude(reversal__status=ReversalStatus.PAYMENT_KEPT)


def settle_reversal(*, reversal: CardReversal, end: ReversalStatus, vendors_told: bool = True) -> None:
    """End an open reversal, whose top-up the caller has locked: everything is restored, or the money returns to the card.

    Without `vendors_told`, vendors do not know that their shares are withheld: they are told only of what is taken, or withheld by another dispute.
    """
    top_up = reversal.top_up
    wallet = _lock_wallet(top_up)
    lock_vendor_accounts(Journal.objects.filter(order__reversal_parts__reversal=reversal).values("vendor"))
    payment_kept = end == ReversalStatus.PAYMENT_KEPT
    ended = [] if payment_kept else _ended_by(reversal)
    reversal.closing_journal_id = _unfreeze(reversal, wallet) if payment_kept else _return_to_card(reversal, ended, wallet)
    staying = list(reversal.parts.filter(suspended=True, ended=False).select_related("withholding_journal__vendor", "order").order_by("pk"))
    release_shares(parts=[*ended, *staying])
    withheld_again = [] if payment_kept else _suspend_again(reversal, staying)
    tell_outcome(parts=[*ended, *staying], withheld_again=withheld_again, vendors_told=vendors_told)
    restore_purchases(reversal=reversal, order_ids=[part.order_id for part in staying])
    reversal.status, reversal.decided_at = end, timezone.now()
    reversal.save(update_fields=["status", "decided_at", "closing_journal"])
    audit.record(f"reversal.{end.value.lower()}", reversal, actor=None, currency=top_up.currency, amountMinor=reversal.amount_minor)
    refund_upgrades(buyer=top_up.user)
    is_dispute = reversal.kind == ReversalKind.DISPUTE
    # What was refunded to the account meanwhile could not return to this card; a refund that the provider refused is left to staff.
    if top_up.user.deleted and (is_dispute or not payment_kept):
        emit(DeletedAccountCredited(top_up.user_id))
    if returned_minor(top_up) == top_up.amount_minor:
        TOP_UP_TRANSITIONS.apply(top_up, "return", actor=None)
    elif is_dispute:
        TOP_UP_TRANSITIONS.apply(top_up, "end_dispute", actor=None, dispute=reversal.reference)
    owed = owed_by(top_up.user_id).get(top_up.currency, 0)
    if is_dispute:
        template = "top_up_dispute_won" if payment_kept else "top_up_dispute_lost"
        _notify(reversal, template, purchases=len(staying if payment_kept else ended), owed_minor=owed)
    elif not payment_kept:
        _notify(reversal, "top_up_refunded", owed_minor=owed)


def _suspend_again(reversal: CardReversal, staying: Sequence[ReversalPart]) -> list[ReversalPart]:
    """Let another open dispute suspend those purchases of which half or more is still disputed or lost; return its records of them."""
    suspended = []
    for part in staying:
        parts = _disputed_or_lost(part.order_id)
        other = parts.filter(reversal__status=ReversalStatus.OPEN).exclude(reversal=reversal).order_by("-pk").first()
        total = parts.aggregate(total=Sum("reversed_minor"))["total"]
        if other is not None and 2 * total >= part.order.price_minor:
            withhold_shares(suspended=[(Journal.objects.get(order=part.order_id, kind=JournalKind.SALE), other)])
            other.suspended = True
            other.save(update_fields=["suspended", "withholding_journal", "withheld_minor"])
            suspended.append(other)
    return suspended


def _ended_by(reversal: CardReversal) -> list[ReversalPart]:
    """Return the parts whose purchase a lost dispute or a refund ends, newest purchase first: half or more of it is lost with them."""
    lost_before = ReversalPart.objects.filter(order=OuterRef("order"), reversal__status=ReversalStatus.PAYMENT_RETURNED)
    lost = F("reversed_minor") + subquery_sum(lost_before, "reversed_minor", by="order")
    rows = reversal.parts.filter(order__status=OrderStatus.COMPLETED).annotate(lost=lost)
    ended = rows.filter(order__price_minor__lte=2 * F("lost")).select_related("order", "withholding_journal__vendor")
    return list(ended.order_by("-order__created_at", "-order_id"))


def _unfreeze(reversal: CardReversal, wallet: LedgerAccount) -> uuid.UUID | None:
    """Return what was frozen to the wallet; None if nothing was."""
    if reversal.freeze_journal_id is None:
        return None
    journal_id = set_aside(
        account=wallet,
        kind=AccountKind.FROZEN,
        amount_minor=-reversal.frozen_minor,
        journal_kind=JournalKind.UNFREEZE,
        reason=f"{reversal.kind} of a top-up ended",
        undoes_id=reversal.freeze_journal_id,
    )
    collect_owed(wallet_id=wallet.pk)
    return journal_id


def _return_to_card(reversal: CardReversal, ended: Sequence[ReversalPart], wallet: LedgerAccount) -> uuid.UUID:
    """End these purchases, and take the amount from what is frozen and from them; the buyer owes the rest."""
    top_up = reversal.top_up
    orders = list(Order.objects.select_for_update(no_key=True).filter(pk__in=[each.order_id for each in ended]).order_by("pk"))
    missing = reversal.amount_minor - reversal.frozen_minor
    # First the tax, because the credit notes of these purchases are about all of it.
    tax = sum(order.tax_minor for order in orders)
    missing -= (tax_returned := min(tax, missing))
    reversal.parts.filter(pk__in=[each.pk for each in ended]).update(ended=True)
    for each in ended:
        each.taken_minor = min(each.withheld_minor, missing)
        missing -= each.taken_minor
    own = {AccountKind.FROZEN: top_up.user_id, AccountKind.RECEIVABLE: top_up.user_id}
    accounts = open_accounts(top_up.currency, own | dict.fromkeys((AccountKind.COMMISSION, AccountKind.TAX, AccountKind.FUNDING)))
    funding_id = accounts[AccountKind.FUNDING]
    transfers = [NewTransfer(accounts[AccountKind.FROZEN], funding_id, reversal.frozen_minor)]
    change_amount_set_aside(accounts[AccountKind.FROZEN], -reversal.frozen_minor)
    ended_of = by_vendor_account(ended)
    for account in sorted(ended_of, key=attrgetter("owner_id")):
        taken = sum(each.taken_minor for each in ended_of[account])
        withheld_id = open_account(top_up.currency, AccountKind.WITHHELD, account.owner_id)
        change_amount_set_aside(withheld_id, -taken)
        transfers.append(NewTransfer(withheld_id, funding_id, taken))
    commission = min(sum(order.commission_minor for order in orders), missing)
    transfers.append(NewTransfer(accounts[AccountKind.TAX], funding_id, tax_returned))
    # An earlier dispute took the rest of the price, and what it left uncovered is owed: the tax of that is not due any more.
    transfers.append(NewTransfer(accounts[AccountKind.TAX], accounts[AccountKind.COMMISSION], tax - tax_returned))
    transfers.append(NewTransfer(accounts[AccountKind.COMMISSION], funding_id, commission))
    transfers.append(NewTransfer(accounts[AccountKind.RECEIVABLE], funding_id, missing - commission))
    reason = f"{reversal.kind} of a top-up: returned to the card"
    journal_id = write_journal(kind=JournalKind.CARD_RETURN, transfers=transfers, currency=top_up.currency, reason=reason, actor=None)
    collect_owed(wallet_id=wallet.pk)
    for order in orders:
        ORDER_TRANSITIONS.apply(order, "charge_back", actor=None, reason=reason)
        revoke_licence(order_id=order.pk, reason="the card payment was returned", actor=None)
        tell_holder(order)
        end_refund_request(order=order, verb="close", actor=None, reason=reason)
        record_refund(listing_id=order.listing_id)
    return journal_id


def _notify(reversal: CardReversal, template: str, **facts: Any) -> None:
    top_up = reversal.top_up
    if not top_up.user.deleted:
        amounts: dict[str, Any] = {
            "amount_minor": reversal.amount_minor,
            "frozen_minor": reversal.frozen_minor,
            "currency": top_up.currency,
        }
        mail(top_up.user, f"wallet/{template}", top_up=top_up, reversal=reversal, **amounts, **facts)

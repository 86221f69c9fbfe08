"""Undoing a purchase: the mirror image of its journal, the licence taken back, one transaction."""

from django.db import transaction
from django.utils import timezone

from catalog.services.popularity import undo_purchase
from library.services.licences import revoke_licence
from marketplace.accounts.models import User
from marketplace.core import texts
from marketplace.core.errors import SelfReview
from marketplace.core.transitions import TransitionTable, lock

from ..models import Journal, Order
from ..models.ledger import JournalKind
from ..models.orders import OrderStatus
from ..webhooks import tell_of_refund
from .ledger import Leg, VendorEntry, WalletEntry, credit_wallet_balance, write_journal

ORDER_TRANSITIONS = TransitionTable("order", {"refund": ({OrderStatus.COMPLETED.value}, OrderStatus.REFUNDED.value)})


@transaction.atomic
def refund_order(*, order: Order, reason: str, actor: User | None) -> Order:
    """Give the price back and take the licence back; live download links die with it.

    Raises:
        InvalidTransition: it was refunded already.
        InvalidInput: no reason.
        SelfReview: nobody refunds their own purchase.
        NotFound: there is no such order.
    """
    reason = texts.prose(reason, "reason")
    order = lock(Order.objects.all(), pk=order.pk)
    if actor is not None and actor.pk == order.buyer_id:
        raise SelfReview("Someone else must refund your purchase.")
    ORDER_TRANSITIONS.apply(order, "refund", actor=actor, reason=reason, changes={"refunded_at": timezone.now()})
    sale = Journal.objects.filter(order=order, kind=JournalKind.SALE).first()
    if sale is not None and sale.wallet_id is not None:
        # The wallet before the licence, as in a purchase: two transactions never wait for each other in a circle.
        wallet = credit_wallet_balance(sale.wallet_id, order.price_minor)
        _mirror(sale, order, wallet, reason=reason, actor=actor)
    revoke_licence(order_id=order.id, reason=reason, actor=actor)
    undo_purchase(listing_id=order.listing_id)
    tell_of_refund(order)
    return order


def _mirror(sale: Journal, order: Order, wallet: WalletEntry, *, reason: str, actor: User | None) -> None:
    transfers = sale.transfers.order_by("id")
    write_journal(
        kind=JournalKind.REFUND,
        legs=[Leg(transfer.credit_id, transfer.debit_id, transfer.amount_minor) for transfer in transfers],
        wallet=wallet,
        vendor=None if sale.vendor_id is None else VendorEntry(sale.vendor_id, -(sale.vendor_net_minor or 0)),
        currency=order.currency,
        reason=reason,
        actor_id=None if actor is None else actor.pk,
        order_id=order.pk,
        reverses_id=sale.pk,
    )

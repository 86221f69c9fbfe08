"""Vendors' shares of purchases whose payment is disputed or refunded: withheld at first, released or taken when that has ended."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from operator import attrgetter

from marketplace.accounts.models import MailTopic
from marketplace.ui.mail import mail

from ..models import Journal, LedgerAccount, ReversedOrder
from ..models.ledger import AccountKind, JournalKind
from ..selectors import unpaid_earnings
from .ledger import set_aside


def withhold_shares(*, sales: Sequence[Journal]) -> list[tuple[uuid.UUID | None, int]]:
    """Withhold the vendors' shares that were not paid out; return for each sale the journal and the amount."""
    amounts: Counter[uuid.UUID] = Counter()
    journals: dict[uuid.UUID | None, uuid.UUID] = {}
    vendors = LedgerAccount.objects.filter(pk__in={sale.vendor_id for sale in sales if sale.vendor_id is not None})
    # To avoid deadlocks, vendors' accounts are locked by id, as in a digest, and those of what is withheld by owner.
    for vendor in sorted(vendors.select_for_update(no_key=True).order_by("pk"), key=attrgetter("owner_id")):
        unpaid = max(unpaid_earnings(vendor.pk), 0)
        own_sales = [sale for sale in sales if sale.vendor_id == vendor.pk]
        for sale in own_sales:
            amounts[sale.pk] = min(sale.vendor_net_minor or 0, unpaid)
            unpaid -= amounts[sale.pk]
        total = sum(amounts[sale.pk] for sale in own_sales)
        if total:
            journals[vendor.pk] = set_aside(
                account=vendor,
                kind=AccountKind.WITHHELD,
                amount_minor=total,
                journal_kind=JournalKind.WITHHOLD,
                reason="the buyer's payment is disputed or refunded",
            )
    return [(journals.get(sale.vendor_id) if amounts[sale.pk] else None, amounts[sale.pk]) for sale in sales]


def release_shares(*, reversed_orders: Iterable[ReversedOrder]) -> None:
    """Release to the vendors what was withheld and not taken."""
    found = by_vendor(reversed_orders)
    for vendor in sorted(found, key=attrgetter("owner_id")):
        own_orders = found[vendor]
        rest = sum(reversed_order.withheld_minor - reversed_order.taken_minor for reversed_order in own_orders)
        released_id = None
        if rest:
            released_id = set_aside(
                account=vendor,
                kind=AccountKind.WITHHELD,
                amount_minor=-rest,
                journal_kind=JournalKind.RELEASE,
                reason="the dispute or refund of the buyer's payment ended",
            )
        for reversed_order in own_orders:
            reversed_order.release_journal_id = released_id
            reversed_order.save(update_fields=["release_journal", "taken_minor"])


def tell_withheld(*, reversed_orders: Iterable[ReversedOrder]) -> None:
    """Tell the vendors how much is withheld."""
    for vendor, own_orders in by_vendor(reversed_orders).items():
        _tell(
            vendor,
            "wallet/share_withheld",
            topic=MailTopic.SALE,
            amount_minor=sum(reversed_order.withheld_minor for reversed_order in own_orders),
        )


def tell_outcome(*, reversed_orders: Iterable[ReversedOrder], withheld_again: Iterable[ReversedOrder], vendors_told: bool) -> None:
    """Tell the vendors how much was taken, and how much was released and not withheld again by another dispute.

    Args:
        reversed_orders: The purchases whose shares were released.
        withheld_again: The purchases whose shares another dispute has withheld since.
        vendors_told: Whether the vendors were told that the shares were withheld.
    """
    before, after = by_vendor(reversed_orders), by_vendor(withheld_again)
    for vendor in {**before, **after}:
        own_orders = before.get(vendor, [])
        taken = sum(reversed_order.taken_minor for reversed_order in own_orders)
        withheld = sum(reversed_order.withheld_minor for reversed_order in own_orders) - taken if vendors_told else 0
        change = sum(reversed_order.withheld_minor for reversed_order in after.get(vendor, [])) - withheld
        if taken or change < 0:
            _tell(vendor, "wallet/share_decided", topic=MailTopic.SALE, released_minor=max(-change, 0), taken_minor=taken)
        if change > 0:
            _tell(vendor, "wallet/share_withheld", topic=MailTopic.SALE, amount_minor=change)


def by_vendor(reversed_orders: Iterable[ReversedOrder]) -> dict[LedgerAccount, list[ReversedOrder]]:
    """Return the purchases of which something was withheld, by the accounts of their vendors."""
    found: defaultdict[LedgerAccount, list[ReversedOrder]] = defaultdict(list)
    for reversed_order in reversed_orders:
        if reversed_order.withholding_journal is not None and reversed_order.withholding_journal.vendor is not None:
            found[reversed_order.withholding_journal.vendor].append(reversed_order)
    return found


def _tell(vendor: LedgerAccount, template: str, *, topic: MailTopic, **amounts: int) -> None:
    if vendor.owner is not None and vendor.owner.is_active:
        mail(vendor.owner, template, topic=topic, currency=vendor.currency, **amounts)

"""Vendors' shares of purchases whose payment is disputed or refunded: withheld at first, released or taken when that has ended."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import attrgetter

from marketplace.accounts.models import MailTopic
from marketplace.ui.mail import mail

from ..models import Journal, LedgerAccount, ReversedOrder
from ..models.ledger import AccountKind, JournalKind
from ..selectors import unpaid_earnings
from .ledger import set_aside


def withhold_shares(*, suspended: Sequence[tuple[Journal, ReversedOrder]]) -> None:
    """Withhold the vendors' shares of suspended purchases, each given with its sale, from earnings that are not paid out.

    Journal and amount are set on the reversed orders, which the caller saves.
    """
    accounts = LedgerAccount.objects.filter(pk__in={sale.vendor_id for sale, _ in suspended if sale.vendor_id is not None})
    # To avoid deadlocks, vendors' accounts are locked by id, as in a digest, and those of what is withheld by owner.
    for account in sorted(accounts.select_for_update(no_key=True).order_by("pk"), key=attrgetter("owner_id")):
        unpaid = unpaid_before = max(unpaid_earnings(account.pk), 0)
        own = [(sale, reversed_order) for sale, reversed_order in suspended if sale.vendor_id == account.pk]
        for sale, reversed_order in own:
            reversed_order.withheld_minor = min(sale.vendor_net_minor or 0, unpaid)
            unpaid -= reversed_order.withheld_minor
        if unpaid < unpaid_before:
            journal_id = set_aside(
                account=account,
                kind=AccountKind.WITHHELD,
                amount_minor=unpaid_before - unpaid,
                journal_kind=JournalKind.WITHHOLD,
                reason="the buyer's payment is disputed or refunded",
            )
            for _, reversed_order in own:
                reversed_order.withholding_journal_id = journal_id if reversed_order.withheld_minor else None


def release_shares(*, reversed_orders: Iterable[ReversedOrder]) -> None:
    """Release to the vendors what was withheld and not taken."""
    orders_of = by_vendor_account(reversed_orders)
    for account in sorted(orders_of, key=attrgetter("owner_id")):
        own_orders = orders_of[account]
        rest = sum(reversed_order.withheld_minor - reversed_order.taken_minor for reversed_order in own_orders)
        released_id = None
        if rest:
            released_id = set_aside(
                account=account,
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
    for account, own_orders in by_vendor_account(reversed_orders).items():
        withheld = sum(reversed_order.withheld_minor for reversed_order in own_orders)
        _tell(account, "wallet/share_withheld", topic=MailTopic.SALE, amount_minor=withheld)


def tell_outcome(*, reversed_orders: Iterable[ReversedOrder], withheld_again: Iterable[ReversedOrder], vendors_told: bool) -> None:
    """Tell the vendors how much was taken, and how much was released and not withheld again by another dispute.

    Args:
        reversed_orders: The purchases whose shares were released.
        withheld_again: The purchases whose shares another dispute has withheld since.
        vendors_told: Whether the vendors were told that the shares were withheld.
    """
    before, after = by_vendor_account(reversed_orders), by_vendor_account(withheld_again)
    for account in {**before, **after}:
        own_orders = before.get(account, [])
        taken = sum(reversed_order.taken_minor for reversed_order in own_orders)
        withheld = sum(reversed_order.withheld_minor for reversed_order in own_orders) - taken if vendors_told else 0
        change = sum(reversed_order.withheld_minor for reversed_order in after.get(account, [])) - withheld
        if taken or change < 0:
            _tell(account, "wallet/share_decided", topic=MailTopic.SALE, released_minor=max(-change, 0), taken_minor=taken)
        if change > 0:
            _tell(account, "wallet/share_withheld", topic=MailTopic.SALE, amount_minor=change)


def by_vendor_account(reversed_orders: Iterable[ReversedOrder]) -> dict[LedgerAccount, list[ReversedOrder]]:
    """Return the purchases of which something was withheld, by the accounts of their vendors."""
    found: defaultdict[LedgerAccount, list[ReversedOrder]] = defaultdict(list)
    for reversed_order in reversed_orders:
        if reversed_order.withholding_journal is not None and reversed_order.withholding_journal.vendor is not None:
            found[reversed_order.withholding_journal.vendor].append(reversed_order)
    return found


def _tell(account: LedgerAccount, template: str, *, topic: MailTopic, **amounts: int) -> None:
    if account.owner is not None and account.owner.is_active:
        mail(account.owner, template, topic=topic, currency=account.currency, **amounts)

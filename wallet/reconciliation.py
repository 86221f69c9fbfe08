"""Checks that ledger, balances, orders and licences are consistent. It only reads."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, Count, Exists, F, OuterRef, Q, Subquery, Sum, When, Window
from django.db.models.functions import Coalesce, Lag, RowNumber

from library.models import Licence
from library.selectors import licences_of_orders, wrongly_replaced
from marketplace.ui.formatting import money

from .digests import digest_differences
from .invoice_differences import invoice_differences
from .models import CreditReference, Journal, LedgerAccount, Order, Transfer, VendorPayout, WalletPayout
from .models.ledger import BOUNDED_KINDS, AccountKind, JournalKind
from .models.orders import OrderStatus
from .models.wallet_payouts import WalletPayoutStatus
from .selectors import with_transfer_sums
from .tax import tax_of
from .top_up_differences import top_up_differences
from .triggers import LEDGER_TRIGGERS

BATCH = 500
# Journals that must belong to a row of another table, and what is said of one that does not.
_STRAYS = (
    (Q(kind=JournalKind.PAYOUT, payout__isnull=True), "is a payout that belongs to no batch"),
    (Q(kind=JournalKind.PAYOUT_RETURN, returned_payout__isnull=True), "returns a payout that does not exist"),
    (Q(kind=JournalKind.HOLD, wallet_payout__isnull=True), "sets money aside for a wallet payout that does not exist"),
    (
        Q(kind__in=(JournalKind.SETTLEMENT, JournalKind.RETURN), closed_wallet_payout__isnull=True),
        "ends a wallet payout that does not exist",
    ),
    (Q(kind=JournalKind.FREEZE, frozen_reversal__isnull=True), "freezes credit for no dispute or refund"),
    (Q(kind__in=(JournalKind.UNFREEZE, JournalKind.CARD_RETURN), closed_reversal__isnull=True), "ends no dispute or refund"),
    (Q(kind=JournalKind.WITHHOLD, withheld_parts__isnull=True), "withholds a share for no dispute or refund"),
    (Q(kind=JournalKind.RELEASE, released_parts__isnull=True), "releases a share of no dispute or refund"),
)
# (journal kind, account kind debited, account kind credited, owner debited, owner credited, currency) to the amount.
Movements = Counter[tuple[Any, ...]]
OnProgress = Callable[[int], None]


def differences(on_progress: OnProgress = lambda _done: None, ledger_digests: Mapping[int, str] | None = None) -> Iterator[str]:
    """Yield a sentence for each difference, from one database snapshot.

    Args:
        on_progress: Called with the number of orders checked since the last call.
        ledger_digests: Digests that were stored elsewhere, by number.
    """
    with _snapshot():
        yield from _missing_triggers()
        yield from _balances()
        yield from _transfers()
        yield from _entries()
        orders = Order.objects.select_related("listing__store", "buyer").order_by("pk").iterator(chunk_size=BATCH)
        while batch := list(islice(orders, BATCH)):
            yield from _orders(batch)
            on_progress(len(batch))
        yield from _orphans()
        yield from _references()
        yield from _vendor_payouts()
        yield from _wallet_payouts()
        yield from top_up_differences()
        yield from invoice_differences()
        yield from digest_differences(ledger_digests)


@contextmanager
def _snapshot() -> Iterator[None]:
    """Read from one snapshot without blocking writers; an outer transaction is used as it is."""
    wrapper: Any = connection
    if wrapper.in_atomic_block:
        yield
        return
    wrapper.ensure_connection()
    usual = getattr(wrapper, "transaction_mode", None)
    if wrapper.vendor == "sqlite":
        # Transactions are IMMEDIATE by default here, which would block all writers.
        wrapper.transaction_mode = "DEFERRED"
    try:
        with transaction.atomic():
            if wrapper.vendor == "postgresql":
                with wrapper.cursor() as cursor:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    finally:
        wrapper.transaction_mode = usual


def _missing_triggers() -> Iterator[str]:
    for name in LEDGER_TRIGGERS.missing(connection):
        yield f"trigger {name} is missing"


def _balances() -> Iterator[str]:
    bounded = with_transfer_sums(LedgerAccount.objects.filter(kind__in=BOUNDED_KINDS))
    for account in bounded.exclude(balance_minor=F("transfers_minor")).iterator():
        what = account.kind if account.kind == AccountKind.WALLET else f"{account.kind} account"
        yield f"{what} {account.pk} {_balance(account)}, but its transfers sum to {money(account.transfers_minor, account.currency)}"
    covered = Q(journal__covered__isnull=False)
    others = with_transfer_sums(LedgerAccount.objects.exclude(kind__in=BOUNDED_KINDS), covered)
    for account in others.exclude(balance_minor=F("transfers_minor")).iterator():
        yield f"{account.kind} account {account.pk} {_balance(account)}, but its transfers that have a digest sum to {money(account.transfers_minor, account.currency)}"


def _balance(account: LedgerAccount) -> str:
    return f"has a balance of {money(account.balance_minor, account.currency)}"


def _entries() -> Iterator[str]:
    """Compare the net amounts of journals with their transfers, then check the chain of each wallet's entries."""
    transfers = Transfer.objects.filter(journal=OuterRef("pk")).order_by()
    for kind, account, net in (
        (AccountKind.WALLET, "wallet", "wallet_net_minor"),
        (AccountKind.VENDOR, "vendor", "vendor_net_minor"),
    ):
        of_kind = Q(transfers__credit__kind=kind) | Q(transfers__debit__kind=kind)
        amount = Case(When(transfers__credit__kind=kind, then=F("transfers__amount_minor")), default=-F("transfers__amount_minor"))
        elsewhere = transfers.filter(
            Q(credit__kind=kind) & ~Q(credit=OuterRef(account)) | Q(debit__kind=kind) & ~Q(debit=OuterRef(account))
        )
        summed = Journal.objects.annotate(transferred_minor=Coalesce(Sum(amount, filter=of_kind), 0)).order_by()
        wrong = summed.filter(~Q(transferred_minor=Coalesce(F(net), 0)) | Exists(elsewhere))
        for journal in wrong.iterator():
            yield f"journal {journal.pk} and its transfers move different amounts on the {account} account"
    before = Window(Lag("wallet_balance_minor", default=0), partition_by=F("wallet"), order_by=F("wallet_entry").asc())
    position = Window(RowNumber(), partition_by=F("wallet"), order_by=F("wallet_entry").asc())
    chained = Journal.objects.filter(wallet__isnull=False).annotate(before=before, position=position).order_by()
    for unchained in chained.exclude(position=F("wallet_entry"), wallet_balance_minor=F("before") + F("wallet_net_minor")).iterator():
        yield f"journal {unchained.pk} does not continue from the wallet's previous entry"
    ends = Journal.objects.filter(wallet=OuterRef("pk")).order_by("-wallet_entry")
    last = Coalesce(Subquery(ends.values("wallet_entry")[:1]), 0)
    for wallet in LedgerAccount.objects.annotate(last=last).exclude(entries=F("last")).iterator():
        yield f"wallet {wallet.pk} counts {wallet.entries} entries, but its last entry is number {wallet.last}"


def _transfers() -> Iterator[str]:
    mixed = ~Q(currency=F("debit__currency")) | ~Q(currency=F("credit__currency"))
    for transfer in Transfer.objects.filter(mixed).iterator():
        yield f"transfer {transfer.pk} is between accounts of different currencies"
    for journal in Journal.objects.filter(transfers__isnull=True).iterator():
        yield f"journal {journal.pk} has no transfer"
    for condition, what in _STRAYS:
        for stray in Journal.objects.filter(condition).iterator():
            yield f"journal {stray.pk} {what}"


def _orders(orders: Sequence[Order]) -> Iterator[str]:
    found = _movements_of(orders)
    licences = licences_of_orders(order.pk for order in orders)
    for order in orders:
        if order.tax_minor != tax_of(order.price_minor, order.tax_treatment, order.tax_rate_bp):
            yield f"order {order.pk} has a tax that does not match its rate"
        moved = found.get(order.pk, Counter())
        if moved != _expected(order, moved):
            yield f"order {order.pk} and its transfers differ"
        if sentence := _licence_difference(order, licences.get(order.pk)):
            yield sentence


def _movements_of(orders: Sequence[Order]) -> Mapping[Any, Movements]:
    rows = Transfer.objects.filter(journal__order__in=orders).values_list(
        "journal__order_id",
        "journal__kind",
        "debit__kind",
        "credit__kind",
        "debit__owner_id",
        "credit__owner_id",
        "currency",
        "amount_minor",
    )
    movements: defaultdict[Any, Movements] = defaultdict(Counter)
    for order_id, *movement, amount in rows:
        movements[order_id][tuple(movement)] += amount
    return movements


def _expected(order: Order, moved: Movements) -> Movements:
    """Return the expected movements; of a refund to a deleted account, what does not go through its wallet is unclaimed, or was paid out."""
    unclaimed = order.buyer.deleted and any(credited == AccountKind.UNCLAIMED for _, _, credited, *_ in moved)
    waiting = 0
    parts = (
        (AccountKind.TAX, None, order.tax_minor),
        (AccountKind.COMMISSION, None, order.commission_minor),
        (AccountKind.VENDOR, order.listing.store.owner_id, order.vendor_share_minor),
    )
    movements: Movements = Counter()
    for kind, owner, amount in parts:
        if amount:
            movements[JournalKind.SALE, AccountKind.WALLET, kind, order.buyer_id, owner, order.currency] = amount
            if order.status == OrderStatus.REFUNDED:
                to_wallet = (JournalKind.REFUND, kind, AccountKind.WALLET, owner, order.buyer_id, order.currency)
                movements[to_wallet] = min(moved[to_wallet], amount) if unclaimed else amount
                rest = amount - movements[to_wallet]
                movements[JournalKind.REFUND, kind, AccountKind.UNCLAIMED, owner, None, order.currency] = rest
                waiting += rest
    if unclaimed and any(kind == JournalKind.REFUND_PAYOUT for kind, *_ in moved):
        movements[JournalKind.REFUND_PAYOUT, AccountKind.UNCLAIMED, AccountKind.PAYOUT, None, None, order.currency] = waiting
    return movements


def _licence_difference(order: Order, licence: Licence | None) -> str:
    if licence is None:
        return f"order {order.pk} granted no licence"
    holder_id = order.buyer_id if licence.is_for_other else licence.holder_id
    if (holder_id, licence.listing_id, licence.tier_id) != (order.buyer_id, order.listing_id, order.tier_id):
        return f"licence {licence.pk} differs from what order {order.pk} bought"
    if (licence.revoked_at is None) != (order.status == OrderStatus.COMPLETED):
        return f"licence {licence.pk} is revoked though order {order.pk} is completed, or the other way round"
    return ""


def _orphans() -> Iterator[str]:
    # A `NOT IN` would compare each licence with each order.
    for licence in Licence.objects.filter(~Exists(Order.objects.filter(pk=OuterRef("order_id")))).iterator():
        yield f"licence {licence.pk} belongs to no order"
    for licence in wrongly_replaced().iterator():
        yield f"licence {licence.pk} is replaced without an upgrade, or the other way round"
    same = Q(upgraded_from__buyer=F("buyer"), upgraded_from__listing=F("listing"), upgraded_from__currency=F("currency"))
    for order in Order.objects.filter(upgraded_from__isnull=False).exclude(same).iterator():
        yield f"order {order.pk} upgrades a purchase of another buyer, listing or currency"


def _references() -> Iterator[str]:
    for stray in CreditReference.objects.exclude(journal__kind=JournalKind.FUNDING).iterator():
        yield f"reference {stray} belongs to journal {stray.pk}, which is not a credit"


def _vendor_payouts() -> Iterator[str]:
    """Compare vendors' payouts with their transfers: paid out once, and returned if they bounced or were cancelled."""
    transfers = Transfer.objects.filter(journal=OuterRef("journal")).order_by()
    made = transfers.filter(debit=OuterRef("account"), credit__kind=AccountKind.PAYOUT)
    back = Transfer.objects.filter(journal=OuterRef("return_journal"), credit=OuterRef("account"), debit__kind=AccountKind.PAYOUT)
    unreturned = Q(status__in=("Prepared", "Exported", "Paid"), return_journal__isnull=True)
    returned = Q(
        Exists(back),
        status__in=("Bounced", "Cancelled"),
        return_journal__kind=JournalKind.PAYOUT_RETURN,
        return_journal__undoes=F("journal"),
        return_journal__vendor_net_minor=-F("journal__vendor_net_minor"),
    )
    fits = Q(Exists(made), journal__kind=JournalKind.PAYOUT, account__kind=AccountKind.VENDOR, account__currency=F("batch__currency"))
    right = VendorPayout.objects.filter(fits, unreturned | returned).values("pk")
    counted = VendorPayout.objects.annotate(transfers=Count("journal__transfers"))
    for payout in counted.filter(~Q(pk__in=right) | ~Q(transfers=1)).iterator():
        yield f"payout {payout.pk} and its transfer differ"


def _wallet_payouts() -> Iterator[str]:
    """Compare wallet payouts with their transfers: set aside once, then paid or returned once."""
    rows = WalletPayout.objects.select_related("wallet", "hold", "closing_journal").order_by("pk")
    for wallet_payout in rows.prefetch_related(
        *(f"{side}__transfers__{end}" for side in ("hold", "closing_journal") for end in ("debit", "credit"))
    ).iterator(chunk_size=BATCH):
        if not _wallet_payout_fits(wallet_payout):
            yield f"wallet payout {wallet_payout.pk} and its transfers differ"
    waiting = WalletPayout.objects.filter(
        status=WalletPayoutStatus.WAITING, wallet__owner=OuterRef("owner"), wallet__currency=OuterRef("currency")
    )
    due = Coalesce(Subquery(waiting.annotate(due=-F("hold__wallet_net_minor")).values("due")[:1]), 0)
    for held in LedgerAccount.objects.filter(kind=AccountKind.HELD).annotate(due=due).exclude(balance_minor=F("due")).iterator():
        yield f"held account {held.pk} {_balance(held)}, but open wallet payouts sum to {money(held.due, held.currency)}"


def _wallet_payout_fits(wallet_payout: WalletPayout) -> bool:
    wallet, amount = wallet_payout.wallet, wallet_payout.amount_minor
    own, held = ((kind, wallet.owner_id, wallet.currency) for kind in (AccountKind.WALLET, AccountKind.HELD))
    if (wallet.kind, wallet.pk, wallet_payout.hold.kind) != (AccountKind.WALLET, wallet_payout.hold.wallet_id, JournalKind.HOLD):
        return False
    if _transfers_of(wallet_payout.hold) != [(own, held, amount)]:
        return False
    closing = wallet_payout.closing_journal
    if closing is None:
        return wallet_payout.status == WalletPayoutStatus.WAITING
    if wallet_payout.status == WalletPayoutStatus.PAID:
        return closing.kind == JournalKind.SETTLEMENT and _transfers_of(closing) == [
            (held, (AccountKind.PAYOUT, None, wallet.currency), amount)
        ]
    return closing.undoes_id == wallet_payout.hold_id and _transfers_of(closing) == [(held, own, amount)]


def _transfers_of(journal: Journal) -> list[Any]:
    def named(account: LedgerAccount) -> tuple[Any, ...]:
        return account.kind, account.owner_id, account.currency

    return [(named(transfer.debit), named(transfer.credit), transfer.amount_minor) for transfer in journal.transfers.all()]

"""Card payments, vendors' payouts and invoices, cut off at every statement: the ledger agrees, and the same call completes the work."""

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from itertools import count
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection
from django.db.models import Sum

from marketplace.jobs.models import Job
from tests.contract.calls import rows
from tests.eager import EagerBackend
from tests.factories import UserFactory
from tests.shop import bought, on_sale
from wallet.models import CardReversal, Invoice, LedgerAccount, Order, PayoutBatch, ProviderEvent, Seller, TopUp, VendorPayout
from wallet.models.top_ups import EventKind
from wallet.providers import SimulatedProvider
from wallet.providers.simulated import signed_event
from wallet.reconciliation import differences
from wallet.services.card_refunds import refund_top_up, send_refund
from wallet.services.provider_events import receive_event
from wallet.services.refunds import refund_order
from wallet.services.top_ups import TopUpRequest, request_top_up
from wallet.services.vendor_payouts import (
    bounce_payout,
    cancel_batch,
    cancel_payout,
    export_batch,
    mark_batch_paid,
    mark_payout_paid,
    open_batch,
    prepare_payout,
)

from .cut_connections import Deed, check_every_cut, cut_off
from .invoice_cases import issue, operator
from .payees import account_of, exported_payout, paid_payout, payee, payout_of
from .top_up_cases import deliver_event, paid_top_up, requested_top_up

pytestmark = pytest.mark.django_db(transaction=True)
PRICE = 49_900
RUNS = map(str, count())


@pytest.fixture(autouse=True)
def _jobs_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave mails in the queue: what a worker does later is no part of the deed."""
    monkeypatch.setattr(EagerBackend, "on", False)


def earning() -> LedgerAccount:
    """Return the account of a vendor who can be paid."""
    profile = payee()
    bought(on_sale(store=profile.store))
    return account_of(profile)


def opening_a_batch() -> Deed:
    """A run is begun."""
    run, staff = next(RUNS), UserFactory()
    return lambda: open_batch(run=run, currency="USD", actor=staff, euro_rate=Decimal("0.9"))


def preparing() -> Deed:
    """The first payout takes the earnings out of the balance."""
    account, staff = earning(), UserFactory()
    batch = open_batch(run=next(RUNS), currency="INR", actor=None)
    return lambda: prepare_payout(account=account, batch=batch, minimum_minor=1, actor=staff)


def exporting() -> Deed:
    """One payout goes to the bank, and the other cannot be made any more."""
    run, account, staff = next(RUNS), earning(), UserFactory()
    payout = payout_of(earning(), run)
    payout_of(account, run)
    assert account.owner is not None
    account.owner.is_active = False
    account.owner.save()
    return lambda: export_batch(batch=payout.batch, actor=staff)


def marking_a_payout_paid() -> Deed:
    """The bank made one transfer."""
    payout, staff = exported_payout(earning(), next(RUNS)), UserFactory()
    return lambda: mark_payout_paid(payout=payout, actor=staff)


def marking_a_batch_paid() -> Deed:
    """The bank made all transfers."""
    run, staff = next(RUNS), UserFactory()
    payout_of(earning(), run)
    payout = exported_payout(earning(), run)
    return lambda: mark_batch_paid(batch=payout.batch, actor=staff)


def bouncing() -> Deed:
    """The bank returned a transfer days after it made it."""
    payout, staff = paid_payout(earning(), next(RUNS)), UserFactory()
    return lambda: bounce_payout(payout=payout, reason="test", actor=staff)


def cancelling_a_payout() -> Deed:
    """One payout is taken out of a batch."""
    payout, staff = payout_of(earning(), next(RUNS)), UserFactory()
    return lambda: cancel_payout(payout=payout, reason="test", actor=staff)


def cancelling_a_batch() -> Deed:
    """A batch is given up."""
    payout, staff = payout_of(earning(), next(RUNS)), UserFactory()
    return lambda: cancel_batch(batch=payout.batch, reason="test", actor=staff)


def refunding_a_top_up() -> Deed:
    """Staff refund a card payment: what can be refunded of it is frozen."""
    top_up, staff = paid_top_up(), UserFactory()
    return lambda: refund_top_up(top_up=top_up, reason="test", actor=staff)


# Each in one transaction.
ATOMIC = [opening_a_batch, preparing, exporting, marking_a_payout_paid, marking_a_batch_paid, bouncing]
ATOMIC += [cancelling_a_payout, cancelling_a_batch, refunding_a_top_up]


@pytest.mark.database
@pytest.mark.parametrize("prepare", ATOMIC, ids=lambda deed: deed.__name__)
def test_connection_lost_at_any_statement_of_a_vendor_payout_or_top_up_refund_leaves_nothing_half_done(prepare: Callable[[], Deed]) -> None:
    check_every_cut(prepare())


def event(top_up: TopUp, kind: EventKind, **told: Any) -> Deed:
    """Return the delivery of an event, the same one each time."""
    body, headers = signed_event(top_up, kind, **told)
    return partial(receive_event, provider=SimulatedProvider.name, body=body, headers=headers)


def spent() -> TopUp:
    """Return a top-up of which one purchase took the larger part."""
    top_up = paid_top_up(amount_minor=60_000)
    bought(on_sale(tax_rate_bp=1800), top_up.user)
    return top_up


def asking_for_a_page() -> Deed:
    """A user asks for a payment page."""
    user = UserFactory()
    return lambda: request_top_up(user=user, wanted=TopUpRequest("INR", 100), idempotency_key="k")


def payment() -> Deed:
    """A top-up is credited."""
    return event(requested_top_up(), EventKind.SUCCEEDED)


def payment_that_failed() -> Deed:
    """A payment page has closed."""
    return event(requested_top_up(), EventKind.FAILED)


def payment_whose_dispute_waits() -> Deed:
    """A dispute was told before its payment."""
    top_up = requested_top_up()
    deliver_event(top_up, EventKind.DISPUTED)
    return event(top_up, EventKind.SUCCEEDED)


def dispute() -> Deed:
    """A dispute freezes credit and a purchase, and withholds the vendor's share."""
    return event(spent(), EventKind.DISPUTED)


def dispute_that_is_won() -> Deed:
    """All of that is restored."""
    top_up = spent()
    return event(deliver_event(top_up, EventKind.DISPUTED), EventKind.DISPUTE_WON)


def dispute_that_is_lost() -> Deed:
    """All of that is taken."""
    top_up = spent()
    return event(deliver_event(top_up, EventKind.DISPUTED), EventKind.DISPUTE_LOST)


def dispute_that_is_lost_after_the_payout() -> Deed:
    """The vendor was paid already, so the buyer owes what is missing."""
    profile, top_up = payee(), paid_top_up(amount_minor=PRICE)
    bought(on_sale(store=profile.store), top_up.user)
    paid_payout(account_of(profile), next(RUNS))
    return event(deliver_event(top_up, EventKind.DISPUTED), EventKind.DISPUTE_LOST)


def end_of_a_dispute_that_nobody_told() -> Deed:
    """A dispute is opened and lost at once."""
    return event(spent(), EventKind.DISPUTE_LOST)


def refund_by_hand() -> Deed:
    """Staff refunded a payment in the provider's own dashboard."""
    return event(paid_top_up(), EventKind.REFUNDED, amount_minor=20_000)


def asked_refund() -> str:
    """Return the reversal of a refund that was not sent yet."""
    top_up = paid_top_up()
    refund_top_up(top_up=top_up, reason="test", actor=UserFactory())
    return str(CardReversal.objects.get(top_up=top_up).pk)


def sending_a_refund() -> Deed:
    """The provider refunds at once."""
    return partial(send_refund.call, asked_refund())


def sending_a_refund_that_is_refused() -> Deed:
    """The provider refuses, so the credit returns to the wallet."""
    reversal = asked_refund()

    def deed() -> None:
        with patch.object(SimulatedProvider, "refund", return_value=None):
            send_refund.call(reversal)

    return deed


def numbering_invoices() -> Deed:
    """Two sales and a refund get their documents."""
    if not Seller.objects.exists():
        operator()
    orders = [bought(on_sale()) for _ in range(2)]
    refund_order(order=orders[0], reason="test", actor=None)
    return issue


# Each in several transactions, of which those before the cut stand.
STAGED = [asking_for_a_page, payment, payment_that_failed, payment_whose_dispute_waits, dispute, dispute_that_is_won, dispute_that_is_lost]
STAGED += [dispute_that_is_lost_after_the_payout, end_of_a_dispute_that_nobody_told, refund_by_hand]
STAGED += [sending_a_refund, sending_a_refund_that_is_refused, numbering_invoices]
STATES = (TopUp, CardReversal, Order, VendorPayout, PayoutBatch, Job)


def summary() -> Counter[tuple[Any, ...]]:
    """Return the number of rows of each table and in each state, and the sums of each kind of account."""
    found: Counter[tuple[Any, ...]] = Counter({(table,): len(stored) for table, stored in rows().items()})
    for model in STATES:
        found.update((model.__name__, status) for status in model.objects.values_list("status", flat=True))
    found.update(("event", outcome) for outcome in ProviderEvent.objects.values_list("outcome", flat=True))
    found.update(("document", kind) for kind in Invoice.objects.values_list("kind", flat=True))
    for kind, total in LedgerAccount.objects.order_by().values_list("kind").annotate(Sum("balance_minor")):
        found["sum", kind] = total
    return found


def growth(before: Counter[tuple[Any, ...]]) -> dict[tuple[Any, ...], int]:
    """Return how much of what there is more now, or less."""
    after = summary()
    return {what: after[what] - before[what] for what in before | after if after[what] != before[what]}


def committed_before(deed: Deed) -> list[int]:
    """Do the deed; return for each of its statements how many commits came before it."""
    found: list[int] = []
    alone = 0

    def note(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        nonlocal alone
        if not sql.startswith("BEGIN"):
            found.append(commit.call_count + alone)
            alone += not connection.in_atomic_block and not sql.startswith("SELECT")
        return execute(sql, *rest)

    with patch.object(connection, "commit", wraps=connection.commit) as commit, connection.execute_wrapper(note):
        deed()
    return found


# What a transaction takes back, the tests of single transactions try on both databases.
@pytest.mark.slow
@pytest.mark.parametrize("prepare", STAGED, ids=lambda deed: deed.__name__)
def test_operation_repeated_after_a_lost_connection_ends_as_without_one(prepare: Callable[[], Deed]) -> None:
    # The first one makes accounts of the platform.
    prepare()()
    deed, before = prepare(), summary()
    commits = committed_before(deed)
    whole = growth(before)
    # Only the answer was lost.
    deed()
    assert growth(before) == whole
    deed, before, stored = prepare(), summary(), rows()
    for last, stage in enumerate(commits):
        # Of each transaction its ends and every third statement: any cut takes all of it back.
        if last % 3 and {stage} == set(commits[last - 1 : last + 2]):
            continue
        assert cut_off(deed, last)
        if rows() != stored:
            # What was done before the cut stands.
            assert list(differences()) == []
            deed()
            assert growth(before) == whole
            deed, before, stored = prepare(), summary(), rows()
    assert len(commits) > 3
    assert list(differences()) == []

"""Cut off at every statement and at the commit: nothing is half done, the ledger agrees, and the same call completes the work."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from functools import partial
from itertools import count
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection
from django.db.models import Sum
from django.utils import timezone

from library.models import Licence
from library.services.claims import claim_licence
from marketplace.jobs.models import Job
from tests.contract.calls import rows
from tests.eager import EagerBackend
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale, store_keeping
from wallet.models import CardReversal, Invoice, LedgerAccount, Order, PayoutBatch, ProviderEvent, Seller, TopUp, VendorPayout
from wallet.models.top_ups import EventKind
from wallet.providers import SimulatedProvider
from wallet.providers.simulated import signed_event
from wallet.reconciliation import differences
from wallet.services.approvals import approve_purchase, suggest_limit
from wallet.services.card_refunds import refund_top_up, send_refund
from wallet.services.funding import credit_wallet
from wallet.services.licensees import resend_claim_link
from wallet.services.offers import PurchaseRequest
from wallet.services.provider_events import receive_event
from wallet.services.quotes import make_quote
from wallet.services.refunds import pay_unclaimed, refund_order
from wallet.services.spending import spend
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
from wallet.services.wallet_payouts import pay_wallet_payout, refuse_wallet_payout

from .approval_cases import approved_purchase, bounded, complete_purchase, requested_approval
from .cut_connections import Deed, check_every_cut, cut_off
from .invoice_cases import issue, operator
from .killed_clients import Buying, killed_at_random
from .licensee_cases import CLIENT, bought_for, secret_sent
from .payees import account_of, exported_payout, paid_payout, payee, payout_of
from .spenders import limit, personal
from .top_up_cases import deliver_event, paid_top_up, requested_top_up
from .wallet_payout_cases import refund_to_deleted_account
from .wallet_payout_cases import requested_payout as asked_for_payout

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _jobs_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave mails in the queue: what a worker does later is no part of the deed."""
    monkeypatch.setattr(EagerBackend, "on", False)


def first_sale() -> Deed:
    """No account of vendor or platform is there yet."""
    user, listing = funded(inr=100_000), on_sale(tax_rate_bp=1800)
    return lambda: spend(buyer=user, purchase=PurchaseRequest(str(listing.pk)))


def bounded_sale_with_a_key() -> Deed:
    """Everything that a purchase can do."""
    user, listing = funded(inr=1_000_000), on_sale(tax_rate_bp=1800, store=store_keeping(1234))
    bought(on_sale(store=listing.store), user)
    principal = personal(user)
    limit(principal, total_minor=1_000_000, per_day_minor=1_000_000)
    return lambda: spend(buyer=user, purchase=PurchaseRequest(str(listing.pk)), idempotency_key="k", principal=principal)


def quoted_sale() -> Deed:
    """The price was promised."""
    user, listing = funded(inr=100_000), on_sale()
    quote = make_quote(buyer=user, purchase=PurchaseRequest(str(listing.pk)))
    return lambda: spend(buyer=user, purchase=PurchaseRequest(str(listing.pk)), quote_id=str(quote.pk))


def asking_the_owner() -> Deed:
    """A purchase above a limit waits."""
    listing, principal = on_sale(), bounded(funded(inr=100_000))
    return lambda: requested_approval(principal, listing)


def approved_sale() -> Deed:
    """The owner has approved it."""
    listing, principal = on_sale(), bounded(funded(inr=100_000))
    approved_purchase(principal, listing)
    return lambda: complete_purchase(principal, listing)


def approving() -> Deed:
    """The owner approves, and raises the limit."""
    approval = requested_approval(bounded(funded(inr=100_000)))
    limit = suggest_limit(approval=approval)
    return lambda: approve_purchase(approval=approval, actor=approval.owner, raised_limit=limit, password_confirmed=True)


def sale_for_a_client() -> Deed:
    """The licence is nobody's until it is claimed."""
    user, listing = funded(inr=100_000), on_sale()
    return lambda: spend(buyer=user, purchase=PurchaseRequest(str(listing.pk), licensee=CLIENT), idempotency_key="k")


def claim() -> Deed:
    """The licensee has the newest link."""
    bought_for(on_sale())
    return partial(claim_licence, secret=secret_sent(), actor=UserFactory())


def new_claim_link() -> Deed:
    """The first link was sent yesterday."""
    order = bought_for(on_sale())
    Licence.objects.update(claim_sent_at=timezone.now() - timedelta(days=1))
    return partial(resend_claim_link, order=order, actor=order.buyer)


def free_sale() -> Deed:
    """Nothing is paid."""
    user, listing = UserFactory(), on_sale(price_inr_minor=0)
    return lambda: spend(buyer=user, purchase=PurchaseRequest(str(listing.pk)), idempotency_key="k")


def refund() -> Deed:
    """A purchase is undone."""
    order = bought(on_sale(tax_rate_bp=1800))
    return lambda: refund_order(order=order, reason="test", actor=None)


def credit() -> Deed:
    """Money comes in, by a form that may be sent twice."""
    user, admin = UserFactory(), UserFactory()
    return lambda: credit_wallet(user=user, currency="USD", amount_minor=5, reason="test", actor=admin, idempotency_key="k")


def quoting() -> Deed:
    """A price is promised."""
    user, listing = UserFactory(), on_sale()
    return lambda: make_quote(buyer=user, purchase=PurchaseRequest(str(listing.pk)))


def asking() -> Deed:
    """Money is set aside, for the first time."""
    user = funded(inr=100_000)
    return lambda: asked_for_payout(user, 20_000)


def paying() -> Deed:
    """It leaves."""
    wallet_payout, staff = asked_for_payout(funded(inr=100_000)), UserFactory()
    return lambda: pay_wallet_payout(wallet_payout=wallet_payout, reference="T1", actor=staff)


def refusing() -> Deed:
    """It comes back."""
    wallet_payout, staff = asked_for_payout(funded(inr=100_000)), UserFactory()
    return lambda: refuse_wallet_payout(wallet_payout=wallet_payout, reason="test", actor=staff)


def refund_to_nobody() -> Deed:
    """A purchase is undone whose buyer's account is deleted."""
    order = refund_to_deleted_account()
    return lambda: refund_order(order=order, reason="test", actor=None)


def claiming() -> Deed:
    """Such a refund is paid."""
    order, staff = refund_to_deleted_account(), UserFactory()
    refund_order(order=order, reason="test", actor=None)
    return lambda: pay_unclaimed(order=order, reference="T1", reason="By the receipt.", actor=staff)


RUNS = map(str, count())


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
DEEDS = [first_sale, bounded_sale_with_a_key, quoted_sale, approved_sale, free_sale, sale_for_a_client, claim, new_claim_link]
DEEDS += [refund, credit, quoting, asking_the_owner, approving, asking, paying, refusing, refund_to_nobody, claiming]
DEEDS += [opening_a_batch, preparing, exporting, marking_a_payout_paid, marking_a_batch_paid, bouncing, cancelling_a_payout]
DEEDS += [cancelling_a_batch, refunding_a_top_up]


@pytest.mark.database
@pytest.mark.parametrize("prepare", DEEDS, ids=lambda deed: deed.__name__)
def test_connection_lost_at_any_statement_of_one_transaction_leaves_nothing_half_done(prepare: Callable[[], Deed]) -> None:
    check_every_cut(prepare())


@pytest.mark.database
def test_clients_killed_in_the_middle_lose_nothing_that_was_acknowledged() -> None:
    buying = Buying.prepare(buyers=2)
    for _ in range(3):
        killed_at_random(buying, seconds=0.3)
        assert buying.lost() == []
        assert list(differences()) == []
    assert buying.acknowledged


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
    profile, top_up = payee(), paid_top_up(amount_minor=49_900)
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

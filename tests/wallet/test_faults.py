"""Cut off at every statement and at the commit: nothing is half done, the ledger agrees, and the same call completes the work."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from functools import partial
from unittest.mock import patch

import pytest
from django.utils import timezone

from library.models import Licence
from library.services.claims import claim_licence
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale, store_keeping
from wallet.models import CardReversal, TopUp
from wallet.models.top_ups import EventKind
from wallet.providers import SimulatedProvider
from wallet.providers.simulated import signed_event
from wallet.reconciliation import differences
from wallet.selectors import wallet_of
from wallet.services import provider_events
from wallet.services.approvals import approve_purchase, suggest_limit
from wallet.services.card_refunds import refund_top_up, send_refund
from wallet.services.funding import credit_wallet
from wallet.services.licensees import resend_claim_link
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import make_quote
from wallet.services.refunds import pay_unclaimed, refund_order
from wallet.services.spending import spend
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
from .cut_connections import Cut, Deed, check_every_cut
from .killed_clients import Buying, killed_at_random
from .licensee_cases import bought_for, secret_sent
from .payees import earning, exported_payout, paid_payout, payout_of
from .spenders import limit, personal
from .top_up_cases import deliver_event, paid_top_up, requested_top_up
from .wallet_payout_cases import refund_to_deleted_account
from .wallet_payout_cases import requested_payout as asked_for_payout

# What a worker does later is no part of the deed.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("jobs_wait")]


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


def asking_the_owner() -> Deed:
    listing, principal = on_sale(), bounded(funded(inr=100_000))
    return lambda: requested_approval(principal, listing)


def approved_sale() -> Deed:
    listing, principal = on_sale(), bounded(funded(inr=100_000))
    approved_purchase(principal, listing)
    return lambda: complete_purchase(principal, listing)


def approving() -> Deed:
    approval = requested_approval(bounded(funded(inr=100_000)))
    limit = suggest_limit(approval=approval)
    return lambda: approve_purchase(approval=approval, actor=approval.owner, raised_limit=limit, password_confirmed=True)


def claim() -> Deed:
    bought_for(on_sale())
    return partial(claim_licence, secret=secret_sent(), actor=UserFactory())


def new_claim_link() -> Deed:
    order = bought_for(on_sale())
    Licence.objects.update(claim_sent_at=timezone.now() - timedelta(days=1))
    return partial(resend_claim_link, order=order, actor=order.buyer)


def refund() -> Deed:
    order = bought(on_sale(tax_rate_bp=1800))
    return lambda: refund_order(order=order, reason="test", actor=None)


def credit() -> Deed:
    user, admin = UserFactory(), UserFactory()
    return lambda: credit_wallet(user=user, currency="USD", amount_minor=5, reason="test", actor=admin, idempotency_key="k")


def quoting() -> Deed:
    user, listing = UserFactory(), on_sale()
    return lambda: make_quote(buyer=user, purchase=PurchaseRequest(str(listing.pk)))


def asking() -> Deed:
    user = funded(inr=100_000)
    return lambda: asked_for_payout(user, 20_000)


def paying() -> Deed:
    wallet_payout, staff = asked_for_payout(funded(inr=100_000)), UserFactory()
    return lambda: pay_wallet_payout(wallet_payout=wallet_payout, reference="T1", actor=staff)


def refusing() -> Deed:
    wallet_payout, staff = asked_for_payout(funded(inr=100_000)), UserFactory()
    return lambda: refuse_wallet_payout(wallet_payout=wallet_payout, reason="test", actor=staff)


def claiming() -> Deed:
    order, staff = refund_to_deleted_account(), UserFactory()
    refund_order(order=order, reason="test", actor=None)
    return lambda: pay_unclaimed(order=order, reference="T1", reason="By the receipt.", actor=staff)


def opening_a_batch() -> Deed:
    staff = UserFactory()
    return lambda: open_batch(run="a", currency="USD", actor=staff, euro_rate=Decimal("0.9"))


def preparing() -> Deed:
    """The first payout takes the earnings out of the balance."""
    account, staff = earning(), UserFactory()
    batch = open_batch(run="a", currency="INR", actor=None)
    return lambda: prepare_payout(account=account, batch=batch, minimum_minor=1, actor=staff)


def exporting() -> Deed:
    """One payout goes to the bank, and the other cannot be made any more."""
    account, staff = earning(), UserFactory()
    payout = payout_of(earning())
    payout_of(account)
    assert account.owner is not None
    account.owner.is_active = False
    account.owner.save()
    return lambda: export_batch(batch=payout.batch, actor=staff)


def marking_a_payout_paid() -> Deed:
    payout, staff = exported_payout(earning()), UserFactory()
    return lambda: mark_payout_paid(payout=payout, actor=staff)


def marking_a_batch_paid() -> Deed:
    staff = UserFactory()
    payout_of(earning())
    payout = exported_payout(earning())
    return lambda: mark_batch_paid(batch=payout.batch, actor=staff)


def bouncing() -> Deed:
    payout, staff = paid_payout(earning()), UserFactory()
    return lambda: bounce_payout(payout=payout, reason="test", actor=staff)


def cancelling_a_payout() -> Deed:
    payout, staff = payout_of(earning()), UserFactory()
    return lambda: cancel_payout(payout=payout, reason="test", actor=staff)


def cancelling_a_batch() -> Deed:
    payout, staff = payout_of(earning()), UserFactory()
    return lambda: cancel_batch(batch=payout.batch, reason="test", actor=staff)


def refunding_a_top_up() -> Deed:
    """Staff refund a card payment: what can be refunded of it is frozen."""
    top_up, staff = paid_top_up(), UserFactory()
    return lambda: refund_top_up(top_up=top_up, reason="test", actor=staff)


def event(top_up: TopUp, kind: EventKind) -> Deed:
    """Return the first of the two transactions of an event; the second applies what waited for it."""
    told = SimulatedProvider().read_event(*signed_event(top_up, kind))
    assert told is not None
    return partial(provider_events._apply_once, SimulatedProvider.name, told)


def payment() -> Deed:
    return event(requested_top_up(), EventKind.SUCCEEDED)


def spent() -> TopUp:
    top_up = paid_top_up(amount_minor=60_000)
    bought(on_sale(tax_rate_bp=1800), top_up.user)
    return top_up


def dispute() -> Deed:
    return event(spent(), EventKind.DISPUTED)


def dispute_that_is_lost() -> Deed:
    return event(deliver_event(spent(), EventKind.DISPUTED), EventKind.DISPUTE_LOST)


def sending_a_refund() -> Deed:
    top_up = paid_top_up()
    refund_top_up(top_up=top_up, reason="test", actor=UserFactory())
    return partial(send_refund.call, str(CardReversal.objects.get(top_up=top_up).pk))


# Each in one transaction.
DEEDS = [first_sale, bounded_sale_with_a_key, approved_sale, claim, new_claim_link]
DEEDS += [refund, credit, quoting, asking_the_owner, approving, asking, paying, refusing, claiming]
DEEDS += [opening_a_batch, preparing, exporting, marking_a_payout_paid, marking_a_batch_paid, bouncing, cancelling_a_payout]
DEEDS += [cancelling_a_batch, refunding_a_top_up, payment, dispute, dispute_that_is_lost, sending_a_refund]


@pytest.mark.database
@pytest.mark.parametrize("prepare", DEEDS, ids=lambda deed: deed.__name__)
def test_connection_lost_at_any_statement_of_one_transaction_leaves_nothing_half_done(prepare: Callable[[], Deed]) -> None:
    check_every_cut(prepare())


@pytest.mark.database
def test_dispute_that_waited_is_applied_by_the_repeated_event_of_a_payment_that_was_cut_off_after_its_credit() -> None:
    top_up = requested_top_up()
    deliver_event(top_up, EventKind.DISPUTED)
    with patch.object(provider_events, "_apply_waiting_for", side_effect=Cut), pytest.raises(Cut):
        deliver_event(top_up, EventKind.SUCCEEDED)
    assert wallet_of(top_up.user).balance_inr_minor == 50_000
    assert deliver_event(top_up, EventKind.SUCCEEDED).status == "Disputed"
    assert (wallet_of(top_up.user).balance_inr_minor, list(differences())) == (0, [])


@pytest.mark.database
def test_clients_killed_in_the_middle_lose_nothing_that_was_acknowledged() -> None:
    buying = Buying.prepare(buyers=2)
    for _ in range(3):
        killed_at_random(buying, seconds=0.3)
        assert buying.lost() == []
        assert list(differences()) == []
    assert buying.acknowledged

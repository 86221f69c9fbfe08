"""Cut off at every statement and at the commit: nothing is half done, and the same call succeeds afterwards."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from library.models import Licence
from library.services.claims import claim_licence
from tests.eager import EagerBackend
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale, store_keeping
from wallet.reconciliation import differences
from wallet.services.approvals import approve_purchase, suggest_limit
from wallet.services.funding import credit_wallet
from wallet.services.licensees import resend_claim_link
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import make_quote
from wallet.services.refunds import pay_unclaimed, refund_order
from wallet.services.spending import spend
from wallet.services.wallet_payouts import pay_wallet_payout, refuse_wallet_payout

from .approval_cases import approved_purchase, bounded, complete_purchase, requested_approval
from .cut_connections import Deed, check_every_cut
from .killed_clients import Buying, killed_at_random
from .licensee_cases import CLIENT, bought_for, secret_sent
from .spenders import limit, personal
from .wallet_payout_cases import refund_to_deleted_account
from .wallet_payout_cases import requested_payout as asked_for_payout

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


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


DEEDS = [first_sale, bounded_sale_with_a_key, quoted_sale, approved_sale, free_sale, sale_for_a_client, claim, new_claim_link]
DEEDS += [refund, credit, quoting, asking_the_owner, approving, asking, paying, refusing, refund_to_nobody, claiming]


@pytest.mark.parametrize("prepare", DEEDS, ids=lambda deed: deed.__name__)
def test_connection_lost_at_any_statement_of_a_purchase_or_wallet_payout_leaves_nothing_half_done(prepare: Callable[[], Deed]) -> None:
    check_every_cut(prepare())


def test_clients_killed_in_the_middle_lose_nothing_that_was_acknowledged() -> None:
    buying = Buying.prepare(buyers=2)
    for _ in range(3):
        killed_at_random(buying, seconds=0.3)
        assert buying.lost() == []
        assert list(differences()) == []
    assert buying.acknowledged

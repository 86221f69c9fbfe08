"""Approvals at once: an approval is used once, a decision counts once, and limits hold for what was not approved."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from developers.principals import Principal
from library.models import Licence
from tests.races import THREADS, outcomes_at_once
from tests.shop import funded, on_sale
from wallet.errors import ApprovalDeclined
from wallet.models import Approval, Order
from wallet.selectors import wallet_of
from wallet.services.approvals import approve_purchase, decline_purchase
from wallet.services.offers import PurchaseRequest
from wallet.services.spending import spend

from .approval_cases import PRICE, approved_purchase, bounded, bounded_app, buy_or_ask, requested_approval
from .spenders import limit

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.usefixtures("books_agree")]


def buying(principal: Principal, listing: Any) -> Callable[[], Any]:
    return lambda: spend(buyer=principal.user, purchase=PurchaseRequest(str(listing.pk), "INR"), principal=principal)


def test_concurrent_identical_requests_create_one_approval() -> None:
    principal, listing = bounded(funded(inr=10 * PRICE)), on_sale()
    answers = outcomes_at_once(*[partial(buy_or_ask, principal, listing)] * THREADS)
    assert {type(answer) for answer in answers} == {Approval}
    assert Approval.objects.count() == 1


def test_concurrent_uses_of_one_approval_make_one_order() -> None:
    principal, listing = bounded(funded(inr=10 * PRICE)), on_sale()
    approved_purchase(principal, listing)
    receipts = outcomes_at_once(*[partial(buy_or_ask, principal, listing)] * THREADS)
    assert len({getattr(receipt, "order_id", receipt) for receipt in receipts}) == 1
    assert Order.objects.count() == Licence.objects.count() == 1
    assert wallet_of(principal.user).balance_inr_minor == 9 * PRICE


def test_concurrent_approved_and_other_purchases_stay_within_the_spending_limit() -> None:
    # Eight of twice the price are approved. That leaves room for four of the others, unless they come first.
    most = 20 * PRICE
    principal = bounded(funded(inr=100 * PRICE), per_purchase_minor=PRICE, per_day_minor=most)
    dear = [on_sale(price_inr_minor=2 * PRICE) for _ in range(THREADS // 2)]
    others = [on_sale() for _ in range(THREADS // 2)]
    for number, listing in enumerate(dear):
        approved_purchase(principal, listing, f"key {number}")
    outcomes = outcomes_at_once(
        *(partial(buy_or_ask, principal, listing, f"key {number}") for number, listing in enumerate(dear)),
        *(buying(principal, listing) for listing in others),
    )
    assert set(outcomes[len(dear) :]) - {"spending_limit_exceeded"} != set()
    assert Order.objects.filter(listing__in=dear).count() == len(dear)
    spent = 0
    for order in Order.objects.order_by("journals__wallet_entry"):
        spent += order.price_minor
        assert order.price_minor == 2 * PRICE or spent <= most


def test_concurrent_approved_purchases_stay_within_a_limit_of_staff() -> None:
    principal = bounded_app(funded(inr=100 * PRICE))
    listings = [on_sale() for _ in range(THREADS)]
    for number, listing in enumerate(listings):
        approved_purchase(principal, listing, f"key {number}")
    limit(principal, app_limit=True, per_day_minor=5 * PRICE)
    outcomes = outcomes_at_once(*(partial(buy_or_ask, principal, listing, f"key {number}") for number, listing in enumerate(listings)))
    assert Counter(outcome == "spending_limit_exceeded" for outcome in outcomes) == {True: THREADS - 5, False: 5}
    assert wallet_of(principal.user).balance_inr_minor == 95 * PRICE


def test_concurrent_purchase_and_decline_of_an_approval_end_in_one_of_them() -> None:
    for _ in range(4):
        principal, listing = bounded(funded(inr=10 * PRICE)), on_sale()
        approval = approved_purchase(principal, listing)
        purchase, declined = outcomes_at_once(
            partial(buy_or_ask, principal, listing), partial(decline_purchase, approval=approval, actor=principal.user)
        )
        approval.refresh_from_db()
        if purchase == ApprovalDeclined.code:
            assert (approval.status, approval.order_id) == ("Declined", None)
        else:
            assert (declined, approval.status) == ("invalid_transition", "Completed")


def test_only_one_of_concurrent_decisions_on_an_approval_succeeds() -> None:
    approval = requested_approval(bounded(funded(inr=10 * PRICE)))
    outcomes = outcomes_at_once(*[partial(approve_purchase, approval=approval, actor=approval.owner)] * THREADS)
    assert outcomes.count("invalid_transition") == THREADS - 1

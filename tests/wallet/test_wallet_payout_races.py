"""Payouts of wallets, many at once: what is set aside is paid or comes back, once."""

import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection

from marketplace.accounts.services import delete_account
from marketplace.core.errors import Problem
from tests.factories import UserFactory
from tests.races import at_once
from tests.shop import bought, funded, on_sale
from tests.waiting import PATIENCE_SECONDS
from wallet.models import Order, WalletPayout
from wallet.selectors import wallet_of
from wallet.services.offers import PurchaseRequest
from wallet.services.refunds import pay_unclaimed, refund_order
from wallet.services.spending import spend
from wallet.services.wallet_payouts import cancel_wallet_payout, pay_wallet_payout, refuse_wallet_payout
from wallet.unclaimed import unclaimed_refunds

from .wallet_payout_cases import refund_to_deleted_account, requested_payout

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database, pytest.mark.usefixtures("books_agree")]


def codes(outcomes: list[object]) -> list[str]:
    """Return the refusals among what came of it."""
    return sorted(outcome.code for outcome in outcomes if isinstance(outcome, Problem))


def test_one_of_concurrent_payout_requests_of_a_wallet_succeeds() -> None:
    user = funded(inr=80_000)
    outcomes = at_once(*(partial(requested_payout, user, 10_000) for _ in range(8)))
    assert codes(outcomes) == ["payout_open"] * 7
    assert (wallet_of(user).balance_inr_minor, WalletPayout.objects.count()) == (70_000, 1)


def test_concurrent_purchase_and_payout_request_of_the_whole_balance_end_in_one_of_them() -> None:
    for _ in range(3):
        user, listing = funded(inr=49_900), on_sale()
        outcomes = at_once(partial(spend, buyer=user, purchase=PurchaseRequest(str(listing.pk))), partial(requested_payout, user, 49_900))
        assert codes(outcomes) == ["insufficient_balance"]
        assert wallet_of(user).balance_inr_minor == 0


def test_only_one_of_concurrent_decisions_on_a_wallet_payout_succeeds() -> None:
    for _ in range(3):
        user, staff = funded(inr=50_000), [UserFactory() for _ in range(2)]
        wallet_payout = requested_payout(user)
        outcomes = at_once(
            *(partial(pay_wallet_payout, wallet_payout=wallet_payout, reference="T1", actor=actor) for actor in staff),
            partial(refuse_wallet_payout, wallet_payout=wallet_payout, reason="test", actor=staff[0]),
            partial(cancel_wallet_payout, wallet_payout=wallet_payout, actor=user),
        )
        assert codes(outcomes) == ["invalid_transition"] * 3
        wallet_payout.refresh_from_db()
        assert wallet_of(user).balance_inr_minor == (0 if wallet_payout.status == "Paid" else 50_000)


def test_refunds_purchases_and_a_cancelled_payout_of_a_wallet_do_not_deadlock() -> None:
    user, staff = funded(inr=500_000), UserFactory()
    orders, listings = [bought(on_sale(), user) for _ in range(3)], [on_sale() for _ in range(3)]
    wallet_payout = requested_payout(user, 100)
    outcomes = at_once(
        *(partial(refund_order, order=order, reason="test", actor=staff) for order in orders),
        *(partial(spend, buyer=user, purchase=PurchaseRequest(str(listing.pk))) for listing in listings),
        partial(cancel_wallet_payout, wallet_payout=wallet_payout, actor=user),
    )
    assert codes(outcomes) == []
    assert wallet_of(user).balance_inr_minor == 500_000 - 3 * 49_900


def test_account_deleted_during_a_payout_request_or_its_decision_leaves_no_money_behind() -> None:
    for _ in range(3):
        user, staff = funded(inr=100), UserFactory()
        outcomes = at_once(partial(requested_payout, user), partial(delete_account, user=user, reason="test", actor=None))
        assert "account_in_use" in codes(outcomes)
        wallet_payout = WalletPayout.objects.get(wallet__owner=user)
        outcomes = at_once(
            partial(pay_wallet_payout, wallet_payout=wallet_payout, reference="T1", actor=staff),
            partial(delete_account, user=user, reason="test", actor=None),
            partial(cancel_wallet_payout, wallet_payout=wallet_payout, actor=user),
        )
        assert set(codes(outcomes)) <= {"invalid_transition", "account_in_use"}
        user.refresh_from_db()
        wallet_payout.refresh_from_db()
        assert not user.deleted or (wallet_payout.status, wallet_payout.payment_details) == ("Paid", "")


@pytest.mark.postgres
def test_payout_request_cancelled_during_the_deletion_of_the_account_leaves_no_money_behind() -> None:
    user = funded(inr=100)
    wallet_payout, looking, cancelled = requested_payout(user), threading.Event(), threading.Event()

    def pause(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        # The wallet was empty a moment ago; whether the cancellation can end now is what its lock decides.
        if 'FROM "wallet_walletpayout"' in sql:
            looking.set()
            cancelled.wait(1)
        return execute(sql, *rest)

    def delete() -> None:
        with connection.execute_wrapper(pause):
            delete_account(user=user, reason="test", actor=None)

    def cancel() -> None:
        assert looking.wait(PATIENCE_SECONDS)
        cancel_wallet_payout(wallet_payout=wallet_payout, actor=user)
        cancelled.set()

    assert codes(at_once(delete, cancel)) == ["account_in_use"]
    assert wallet_of(user).balance_inr_minor == 100


def test_refund_during_the_deletion_of_the_account_leaves_no_money_in_its_wallet() -> None:
    for _ in range(4):
        user = funded(inr=49_900)
        order = bought(on_sale(), user)
        at_once(
            partial(refund_order, order=order, reason="test", actor=None), partial(delete_account, user=user, reason="test", actor=None)
        )
        user.refresh_from_db()
        assert Order.objects.get(pk=order.pk).status == "Refunded"
        assert wallet_of(user).balance_inr_minor == (0 if user.deleted else 49_900)
        assert unclaimed_refunds().filter(pk=order.pk).exists() == user.deleted


def test_unclaimed_refund_is_paid_once() -> None:
    order = refund_to_deleted_account()
    refund_order(order=order, reason="test", actor=None)
    claim = partial(pay_unclaimed, order=order, reference="T1", reason="By the receipt.")
    outcomes = at_once(*(partial(claim, actor=UserFactory()) for _ in range(4)))
    assert Counter(codes(outcomes)) == {"invalid_transition": 3}

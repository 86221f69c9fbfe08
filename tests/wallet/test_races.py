"""Many at once: wallets end exactly empty, one key makes one order, and the ledger agrees afterwards."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connections, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import ListingIndex, ListingStats, PurchaseCountChange
from catalog.services.purchase_counts import count_purchases, record_purchase
from developers.principals import Principal
from library.models import Licence
from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.errors import IdempotencyConflict
from tests.callers import bearer, personal_token
from tests.factories import UserFactory
from tests.races import THREADS, outcomes_at_once
from tests.shop import bought, funded, on_sale
from tests.waiting import PATIENCE_SECONDS
from wallet import bounds
from wallet.models import Journal, LedgerAccount, Order
from wallet.reconciliation import differences
from wallet.selectors import vendor_accounts, wallet_of, with_ledger_balance
from wallet.services import offers
from wallet.services.digests import digest_ledger
from wallet.services.funding import credit_wallet
from wallet.services.quotes import make_quote
from wallet.services.refunds import refund_order
from wallet.services.spending import spend
from wallet.services.vendor_payouts import open_batch, prepare_payout

from .payees import earned, payee
from .spenders import connected, limit, own_key, personal

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture(autouse=True)
def _books_agree_afterwards() -> Iterator[None]:
    yield
    assert list(differences()) == []


def buying(user: User, listing_id: Any, key: str | None = None, **choices: Any) -> Callable[[], Any]:
    return lambda: spend(buyer=user, purchase=offers.PurchaseRequest(str(listing_id)), idempotency_key=key, **choices)


def test_credit_during_the_deletion_of_the_account_leaves_no_money_behind() -> None:
    for _ in range(4):
        user = UserFactory()
        credited, _ = outcomes_at_once(
            partial(credit_wallet, user=user, currency="INR", amount_minor=100, reason="test", actor=None),
            partial(delete_account, user=user, reason="test", actor=None),
        )
        user.refresh_from_db()
        assert user.deleted == (credited == "invalid_transition")
        assert wallet_of(user).balance_minor("INR") == (0 if user.deleted else 100)


def test_concurrent_purchases_spend_a_wallet_exactly_to_zero() -> None:
    user = funded(inr=49_900 * 5)
    outcomes = outcomes_at_once(*(buying(user, on_sale().id) for _ in range(THREADS)))
    assert Counter(outcome == "insufficient_balance" for outcome in outcomes) == {True: THREADS - 5, False: 5}
    assert wallet_of(user).balance_inr_minor == 0
    assert Order.objects.count() == Licence.objects.count() == 5


def test_concurrent_purchases_of_one_asset_by_one_buyer_make_one_order() -> None:
    user, listing = funded(inr=10_000_000), on_sale()
    outcomes = outcomes_at_once(*(buying(user, listing.id) for _ in range(THREADS)))
    assert outcomes.count("already_owned") == THREADS - 1
    assert wallet_of(user).balance_inr_minor == 10_000_000 - 49_900


def test_concurrent_purchases_of_a_free_asset_by_one_buyer_make_one_order() -> None:
    user, listing = UserFactory(), on_sale(price_inr_minor=0)
    outcomes = outcomes_at_once(*(buying(user, listing.id) for _ in range(THREADS)))
    assert outcomes.count("already_owned") == THREADS - 1
    assert Order.objects.count() == 1


@pytest.mark.parametrize("price", [49_900, 0], ids=["paid", "free"])
def test_concurrent_purchases_with_one_idempotency_key_make_one_order_and_get_identical_responses(price: int) -> None:
    user, listing = funded(inr=49_900), on_sale(price_inr_minor=price)
    # All threads send the same token: an idempotency key belongs to one.
    headers = bearer(personal_token(user)[1]) | {"Idempotency-Key": "one"}

    def post() -> Any:
        body = {"assetId": str(listing.id)}
        return APIClient().post("/api/v1/wallet/spend", body, format="json", headers=headers)

    answers = outcomes_at_once(*[post] * THREADS)
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotent-Replayed" not in answer for answer in answers) == 1
    assert Order.objects.count() == 1


def test_concurrent_purchases_of_different_assets_with_one_idempotency_key_make_one_order() -> None:
    user = funded(inr=10_000_000)
    outcomes = outcomes_at_once(*(buying(user, on_sale().id, "one") for _ in range(THREADS)))
    assert outcomes.count("idempotency_key_reused") == THREADS - 1
    assert Order.objects.count() == 1


def test_concurrent_sales_of_one_asset_to_many_buyers_are_all_counted() -> None:
    listing = on_sale(tax_rate_bp=1800)
    outcomes = outcomes_at_once(*(buying(funded(inr=49_900), listing.id) for _ in range(THREADS)))
    assert not any(isinstance(outcome, str) for outcome in outcomes)
    count_purchases()
    assert ListingStats.objects.get(listing=listing).purchases == THREADS
    # One vendor account and one of each of the platform's, however many opened them.
    assert LedgerAccount.objects.exclude(kind="wallet").count() == 4


def test_concurrent_counting_counts_each_purchase_once() -> None:
    listings = [on_sale() for _ in range(3)]
    for listing in listings:
        for _ in range(5):
            record_purchase(listing_id=listing.pk)
    noting = [lambda listing=listing: record_purchase(listing_id=listing.pk) for listing in listings]
    assert [outcome for outcome in outcomes_at_once(*([count_purchases] * 6), *noting) if isinstance(outcome, str)] == []
    count_purchases()
    assert [stats.purchases for stats in ListingStats.objects.all()] == [6, 6, 6]
    assert [row.popularity for row in ListingIndex.objects.all()] == [6, 6, 6]
    assert not PurchaseCountChange.objects.exists()


@pytest.mark.postgres
def test_buyers_of_one_asset_do_not_wait_for_each_other() -> None:
    listing, buyers = on_sale(tax_rate_bp=1800), [funded(inr=49_900) for _ in range(2)]
    bought(listing)
    with transaction.atomic():
        buying(buyers[0], listing.id)()
        # The first has not committed: whoever needed a row of it would wait here for good, or be told so.
        with patch.object(offers, "LOCK_TIMEOUT", "1s"):
            (outcome,) = outcomes_at_once(buying(buyers[1], listing.id))
    assert not isinstance(outcome, str)


def test_wallet_entries_of_concurrent_movements_are_numbered_without_gaps() -> None:
    user = funded(inr=49_900 * 4)
    orders = [bought(on_sale(), user) for _ in range(4)]
    deeds: list[Callable[[], Any]] = [lambda order=order: refund_order(order=order, reason="race", actor=None) for order in orders]  # type: ignore[misc]  # bound at once
    deeds += [lambda: credit_wallet(user=user, currency="INR", amount_minor=49_900, reason="race", actor=None) for _ in range(6)]
    outcomes_at_once(*deeds, *(buying(user, on_sale().id) for _ in range(6)))
    entries = list(Journal.objects.filter(wallet__owner=user).order_by("wallet_entry"))
    assert [entry.wallet_entry for entry in entries] == list(range(1, len(entries) + 1))
    running = 0
    for entry in entries:
        running += entry.wallet_net_minor or 0
        assert entry.wallet_balance_minor == running
    assert running == wallet_of(user).balance_inr_minor
    assert len(entries) >= 15


def test_digests_added_during_sales_refunds_and_payouts_cover_each_journal_once() -> None:
    vendor = payee()
    listings = [on_sale(store=vendor.store) for _ in range(4)]
    orders = [bought(listing) for listing in listings]
    account = vendor_accounts(currency="INR").get(owner=vendor.user)
    deeds: list[Callable[[], Any]] = [lambda order=order: refund_order(order=order, reason="race", actor=None) for order in orders]  # type: ignore[misc]  # bound at once
    deeds += [buying(funded(inr=49_900), listing.id) for listing in listings]
    batch = open_batch(run="a", currency="INR", actor=None)
    deeds += [lambda: prepare_payout(account=account, batch=batch, minimum_minor=1, actor=None)] * 3
    deeds += [lambda: list(digest_ledger(until=timezone.now()))] * 4
    assert [outcome for outcome in outcomes_at_once(*deeds) if isinstance(outcome, str)] == []
    told = earned(vendor.user)["INR"]
    list(digest_ledger(until=timezone.now()))
    account.refresh_from_db()
    assert account.balance_minor == told == with_ledger_balance(LedgerAccount.objects.filter(pk=account.pk)).get().transfers_minor


def test_concurrent_refunds_of_one_order_refund_once() -> None:
    user = funded(inr=49_900)
    order = bought(on_sale(), user)
    outcomes = outcomes_at_once(*(lambda: refund_order(order=order, reason="race", actor=None) for _ in range(8)))
    assert outcomes.count("invalid_transition") == 7
    assert wallet_of(user).balance_inr_minor == 49_900


def test_concurrent_refunds_credits_and_purchases_neither_deadlock_nor_lose_money() -> None:
    user, listing = funded(inr=49_900 * 4), on_sale()
    orders = [bought(on_sale(), user) for _ in range(3)] + [bought(listing, user)]
    deeds: list[Callable[[], Any]] = [lambda order=order: refund_order(order=order, reason="race", actor=None) for order in orders]  # type: ignore[misc]  # bound at once
    deeds += [lambda: credit_wallet(user=user, currency="INR", amount_minor=100, reason="race", actor=None) for _ in range(4)]
    deeds += [buying(user, listing.id) for _ in range(4)] + [buying(user, on_sale().id) for _ in range(4)]
    outcomes_at_once(*deeds)
    spent = 49_900 * Order.objects.filter(buyer=user, status="Completed").count()
    assert wallet_of(user).balance_inr_minor == 49_900 * 4 + 400 - spent


def test_concurrent_refunds_and_purchases_of_one_asset_do_not_deadlock() -> None:
    listing, buyers = on_sale(), [funded(inr=1_000_000) for _ in range(8)]
    orders = [bought(listing, buyer) for buyer in buyers]
    deeds: list[Callable[[], Any]] = [lambda order=order: refund_order(order=order, reason="race", actor=None) for order in orders]  # type: ignore[misc]  # bound at once
    purchase = offers.PurchaseRequest(str(listing.id), license_slug="commercial")
    deeds += [lambda buyer=buyer: spend(buyer=buyer, purchase=purchase) for buyer in buyers]  # type: ignore[misc]  # bound at once
    assert [outcome for outcome in outcomes_at_once(*deeds) if isinstance(outcome, str)] == []
    count_purchases()
    assert ListingStats.objects.get(listing=listing).purchases == 8


def test_concurrent_first_sales_of_vendors_create_the_platform_accounts_without_a_deadlock() -> None:
    outcomes = outcomes_at_once(*(buying(funded(inr=49_900), on_sale(tax_rate_bp=1800).id) for _ in range(THREADS)))
    assert [outcome for outcome in outcomes if isinstance(outcome, str)] == []
    assert LedgerAccount.objects.filter(owner=None).count() == 3


def test_concurrent_first_credits_open_one_wallet() -> None:
    user = UserFactory()
    outcomes_at_once(*(lambda: credit_wallet(user=user, currency="USD", amount_minor=5, reason="race", actor=None) for _ in range(THREADS)))
    assert wallet_of(user).balance_usd_minor == 5 * THREADS


@pytest.mark.usefixtures("midday")
@pytest.mark.parametrize("make", [personal, connected, own_key])
@pytest.mark.parametrize("cap", ["per_day_minor", "total_minor"])
def test_concurrent_purchases_reach_a_spending_limit_exactly_and_never_exceed_it(make: Callable[[User], Principal], cap: str) -> None:
    user = funded(inr=49_900 * THREADS)
    principal = make(user)
    limit_values: Any = {cap: 49_900 * 5 + 49_899}
    limit(principal, **limit_values)
    outcomes = outcomes_at_once(*(buying(user, on_sale().id, principal=principal) for _ in range(THREADS)))
    assert outcomes.count("spending_limit_exceeded") == THREADS - 5
    assert wallet_of(user).balance_inr_minor == 49_900 * (THREADS - 5)


def test_concurrent_refunds_free_the_spending_limit_by_their_amount_only() -> None:
    user = funded(inr=49_900 * 20)
    principal = personal(user)
    limit(principal, total_minor=49_900 * 4)
    orders = [Order.objects.get(pk=buying(user, on_sale().id, principal=principal)()[0].order_id) for _ in range(4)]
    deeds: list[Callable[[], Any]] = [lambda order=order: refund_order(order=order, reason="race", actor=None) for order in orders]  # type: ignore[misc]  # bound at once
    outcomes_at_once(*deeds, *(buying(user, on_sale().id, principal=principal) for _ in range(12)))
    assert Order.objects.filter(status="Completed").count() <= 4


def test_concurrent_uses_of_one_quote_make_one_order() -> None:
    user, listing = funded(inr=10_000_000), on_sale()
    quote = make_quote(buyer=user, purchase=offers.PurchaseRequest(str(listing.id)))
    outcomes = outcomes_at_once(*(buying(user, listing.id, quote_id=str(quote.pk)) for _ in range(THREADS)))
    assert sum(outcome in {"already_owned", "quote_used"} for outcome in outcomes) == THREADS - 1
    assert wallet_of(user).balance_inr_minor == 10_000_000 - 49_900


def test_concurrent_quotes_do_not_exceed_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_OPEN_QUOTES", 5)
    user, listing = UserFactory(), on_sale()
    outcomes = outcomes_at_once(*(lambda: make_quote(buyer=user, purchase=offers.PurchaseRequest(str(listing.id))) for _ in range(THREADS)))
    assert outcomes.count("too_many_quotes") == THREADS - 5


@pytest.mark.postgres
def test_purchase_that_waits_too_long_for_one_with_the_same_idempotency_key_is_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offers, "LOCK_TIMEOUT", "100ms")
    user, listing = funded(inr=49_900), on_sale()
    outcomes: list[Any] = []

    def second() -> None:
        outcomes.extend(outcomes_at_once(buying(user, listing.id, "one")))

    with transaction.atomic():
        LedgerAccount.objects.select_for_update().get(owner=user)
        second()
    assert outcomes == [IdempotencyConflict.code]


def test_reconciliation_does_not_block_credits() -> None:
    order = bought(on_sale())
    waits: list[bool] = []

    def pay_in() -> None:
        credit_wallet(user=order.buyer, currency="INR", amount_minor=100, reason="test", actor=None)
        connections.close_all()

    def report(_orders: int) -> None:
        writer = threading.Thread(target=pay_in)
        writer.start()
        writer.join(PATIENCE_SECONDS)
        waits.append(writer.is_alive())

    assert list(differences(report)) == []
    assert waits == [False]

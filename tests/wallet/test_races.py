"""Many at once: wallets end exactly empty, one key makes one order, what is set aside is paid or comes back, and the ledger agrees afterwards."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from functools import partial
from io import StringIO
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import LicenseTier, ListingIndex, ListingStats, PurchaseCountChange
from catalog.services.purchase_counts import count_purchases, record_purchase
from catalog.services.taxonomy import save_license_tier
from developers.models import Consent, DeveloperApplication
from developers.principals import Principal
from developers.services.applications import reject_application, submit_application
from library.licensees import Licensee
from library.models import Licence
from library.services.claims import claim_licence
from library.services.licences import lock_licence
from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.errors import IdempotencyConflict
from marketplace.core.scopes import Scope
from marketplace.core.transitions import lock
from marketplace.review.appeals import appealable_decision, submit_appeal
from marketplace.review.models import Appeal
from tests.callers import bearer, personal_token
from tests.factories import AppFactory, UserFactory, connect_app
from tests.races import THREADS, outcomes_at_once, until_someone_waits
from tests.shop import bought, funded, on_sale
from tests.waiting import PATIENCE_SECONDS
from vendors.models import VendorProfile
from vendors.services.profiles import apply
from wallet import bounds
from wallet.errors import ApprovalDeclined
from wallet.models import Approval, BillingDetails, Journal, LedgerAccount, Order, Quote, RefundRequest, WalletPayout
from wallet.reconciliation import differences
from wallet.selectors import vendor_accounts, wallet_of, with_transfer_sums
from wallet.services import offers
from wallet.services.approvals import approve_purchase, decline_purchase
from wallet.services.billing import save_billing_details
from wallet.services.digests import digest_ledger
from wallet.services.funding import credit_wallet
from wallet.services.quotes import make_quote
from wallet.services.refund_requests import request_refund
from wallet.services.refunds import pay_unclaimed, refund_order
from wallet.services.spending import spend
from wallet.services.vendor_payouts import open_batch, prepare_payout
from wallet.services.wallet_payouts import cancel_wallet_payout, pay_wallet_payout, refuse_wallet_payout
from wallet.unclaimed import unclaimed_refunds

from .approval_cases import PRICE, approved_purchase, bounded, buy_or_ask, requested_approval
from .invoice_cases import MUMBAI
from .licensee_cases import bought_for, secret_sent
from .payees import earned, payee
from .spenders import connected, limit, personal
from .wallet_payout_cases import refund_to_deleted_account, requested_payout

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database, pytest.mark.usefixtures("books_agree")]


def buying(user: User, listing_id: Any, key: str | None = None, **choices: Any) -> Callable[[], Any]:
    return lambda: spend(buyer=user, purchase=offers.PurchaseRequest(str(listing_id)), idempotency_key=key, **choices)


def refusals(outcomes: list[Any]) -> list[str]:
    return sorted(outcome for outcome in outcomes if isinstance(outcome, str))


def refunding(*orders: Order) -> list[Callable[[], Any]]:
    return [partial(refund_order, order=order, reason="race", actor=None) for order in orders]


def deleting(user: User) -> Callable[[], Any]:
    return partial(delete_account, user=user, reason="race", actor=None)


def crediting(user: User, amount_minor: int, currency: str = "INR") -> Callable[[], Any]:
    return partial(credit_wallet, user=user, currency=currency, amount_minor=amount_minor, reason="race", actor=None)


def test_credit_during_the_deletion_of_the_account_leaves_no_money_behind() -> None:
    for _ in range(4):
        user = UserFactory()
        credited, _ = outcomes_at_once(crediting(user, 100), deleting(user))
        user.refresh_from_db()
        assert user.deleted == (credited == "invalid_transition")
        assert wallet_of(user).balance_minor("INR") == (0 if user.deleted else 100)


def test_concurrent_purchases_spend_a_wallet_exactly_to_zero() -> None:
    user = funded(inr=49_900 * 5)
    outcomes = outcomes_at_once(*(buying(user, on_sale().id) for _ in range(THREADS)))
    assert Counter(outcome == "insufficient_balance" for outcome in outcomes) == {True: THREADS - 5, False: 5}
    assert wallet_of(user).balance_inr_minor == 0
    assert Order.objects.count() == Licence.objects.count() == 5


@pytest.mark.parametrize("price", [49_900, 0], ids=["paid", "free"])
def test_concurrent_purchases_of_one_asset_by_one_buyer_make_one_order(price: int) -> None:
    user, listing = funded(inr=10_000_000), on_sale(price_inr_minor=price)
    outcomes = outcomes_at_once(*(buying(user, listing.id) for _ in range(THREADS)))
    assert outcomes.count("already_owned") == THREADS - 1
    assert (Order.objects.count(), wallet_of(user).balance_inr_minor) == (1, 10_000_000 - price)


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


def test_concurrent_sales_and_refunds_of_one_asset_are_all_counted() -> None:
    listing, buyers = on_sale(tax_rate_bp=1800), [funded(inr=1_000_000) for _ in range(THREADS)]
    receipts = outcomes_at_once(*(buying(buyer, listing.id) for buyer in buyers))
    assert refusals(receipts) == []
    # One vendor account and one of each of the platform's, however many opened them.
    assert LedgerAccount.objects.exclude(kind="wallet").count() == 4
    wider = offers.PurchaseRequest(str(listing.id), license_slug="commercial")
    outcomes = outcomes_at_once(
        *refunding(*Order.objects.all()[:8]), *(partial(spend, buyer=buyer, purchase=wider) for buyer in buyers[:8])
    )
    assert refusals(outcomes) == []
    count_purchases()
    assert ListingStats.objects.get(listing=listing).purchases == THREADS


def test_concurrent_counting_counts_each_purchase_once() -> None:
    listings = [on_sale() for _ in range(3)]
    for listing in listings:
        for _ in range(5):
            record_purchase(listing_id=listing.pk)
    noting = [lambda listing=listing: record_purchase(listing_id=listing.pk) for listing in listings]
    assert refusals(outcomes_at_once(*([count_purchases] * 6), *noting)) == []
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


def test_digests_added_during_sales_refunds_and_payouts_cover_each_journal_once() -> None:
    vendor = payee()
    listings = [on_sale(store=vendor.store) for _ in range(4)]
    orders = [bought(listing) for listing in listings]
    account = vendor_accounts(currency="INR").get(owner=vendor.user)
    batch = open_batch(run="a", currency="INR", actor=None)
    deeds = refunding(*orders) + [buying(funded(inr=49_900), listing.id) for listing in listings]
    deeds += [lambda: prepare_payout(account=account, batch=batch, minimum_minor=1, actor=None)] * 3
    deeds += [lambda: list(digest_ledger(until=timezone.now()))] * 4
    assert refusals(outcomes_at_once(*deeds)) == []
    told = earned(vendor.user)["INR"]
    list(digest_ledger(until=timezone.now()))
    account.refresh_from_db()
    assert account.balance_minor == told == with_transfer_sums(LedgerAccount.objects.filter(pk=account.pk)).get().transfers_minor


def test_concurrent_refunds_of_one_order_refund_once() -> None:
    user = funded(inr=49_900)
    order = bought(on_sale(), user)
    outcomes = outcomes_at_once(*refunding(order) * 8)
    assert outcomes.count("invalid_transition") == 7
    assert wallet_of(user).balance_inr_minor == 49_900


def test_concurrent_refunds_credits_and_purchases_of_a_wallet_are_numbered_without_gaps_and_lose_no_money() -> None:
    user, listing = funded(inr=49_900 * 4), on_sale()
    orders = [bought(on_sale(), user) for _ in range(3)] + [bought(listing, user)]
    buying_again = [buying(user, each.id) for each in (*[listing] * 4, *(on_sale() for _ in range(6)))]
    outcomes_at_once(*refunding(*orders), *[crediting(user, 49_900)] * 4, *buying_again)
    entries = list(Journal.objects.filter(wallet__owner=user).order_by("wallet_entry"))
    assert [entry.wallet_entry for entry in entries] == list(range(1, len(entries) + 1))
    assert len(entries) >= 13
    running = 0
    for entry in entries:
        running += entry.wallet_net_minor or 0
        assert entry.wallet_balance_minor == running
    spent = 49_900 * Order.objects.filter(buyer=user, status="Completed").count()
    assert wallet_of(user).balance_inr_minor == running == 49_900 * 8 - spent


def test_concurrent_first_sales_of_vendors_create_the_platform_accounts_without_a_deadlock() -> None:
    # Those of one vendor wait for each other at the vendor's account.
    outcomes = outcomes_at_once(*(buying(funded(inr=49_900), on_sale(tax_rate_bp=1800).id) for _ in range(THREADS)))
    assert refusals(outcomes) == []
    assert LedgerAccount.objects.filter(owner=None).count() == 3


def test_concurrent_first_credits_open_one_wallet() -> None:
    user = UserFactory()
    outcomes_at_once(*[crediting(user, 5, "USD")] * THREADS)
    assert wallet_of(user).balance_usd_minor == 5 * THREADS


@pytest.mark.usefixtures("midday")
# What a token has spent and what an app has spent are two statements.
@pytest.mark.parametrize(("make", "name"), [(personal, "total_minor"), (connected, "per_day_minor")])
def test_concurrent_purchases_reach_a_spending_limit_exactly_and_never_exceed_it(make: Callable[[User], Principal], name: str) -> None:
    user = funded(inr=49_900 * THREADS)
    principal = make(user)
    limit_values: Any = {name: 49_900 * 5 + 49_899}
    limit(principal, **limit_values)
    outcomes = outcomes_at_once(*(buying(user, on_sale().id, principal=principal) for _ in range(THREADS)))
    assert outcomes.count("spending_limit_exceeded") == THREADS - 5
    assert wallet_of(user).balance_inr_minor == 49_900 * (THREADS - 5)


def test_concurrent_refunds_free_the_spending_limit_by_their_amount_only() -> None:
    user = funded(inr=49_900 * 20)
    principal = personal(user)
    limit(principal, total_minor=49_900 * 4)
    orders = [Order.objects.get(pk=buying(user, on_sale().id, principal=principal)()[0].order_id) for _ in range(4)]
    outcomes_at_once(*refunding(*orders), *(buying(user, on_sale().id, principal=principal) for _ in range(12)))
    assert Order.objects.filter(status="Completed").count() <= 4


def test_concurrent_quotes_do_not_exceed_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_OPEN_QUOTES", 5)
    user, listing = UserFactory(), on_sale()
    outcomes = outcomes_at_once(*(lambda: make_quote(buyer=user, purchase=offers.PurchaseRequest(str(listing.id))) for _ in range(THREADS)))
    assert outcomes.count("too_many_quotes") == THREADS - 5


@pytest.mark.postgres
def test_purchase_that_waits_too_long_for_one_with_the_same_idempotency_key_is_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offers, "LOCK_TIMEOUT", "100ms")
    user, listing = funded(inr=49_900), on_sale()
    with transaction.atomic():
        LedgerAccount.objects.select_for_update().get(owner=user)
        outcomes = outcomes_at_once(buying(user, listing.id, "one"))
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


@pytest.mark.postgres
def test_concurrent_identical_requests_create_one_approval_and_concurrent_uses_of_it_one_order() -> None:
    principal, listing = bounded(funded(inr=10 * PRICE)), on_sale()
    asking = [partial(buy_or_ask, principal, listing)] * THREADS
    assert {type(answer) for answer in outcomes_at_once(*asking)} == {Approval}
    approve_purchase(approval=Approval.objects.get(), actor=principal.user)
    receipts = outcomes_at_once(*asking)
    assert len({getattr(receipt, "order_id", receipt) for receipt in receipts}) == 1
    assert Order.objects.count() == Licence.objects.count() == 1
    assert wallet_of(principal.user).balance_inr_minor == 9 * PRICE


@pytest.mark.postgres
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


@pytest.mark.postgres
def test_only_one_of_concurrent_decisions_on_an_approval_succeeds() -> None:
    approval = requested_approval(bounded(funded(inr=10 * PRICE)))
    outcomes = outcomes_at_once(*[partial(approve_purchase, approval=approval, actor=approval.owner)] * THREADS)
    assert outcomes.count("invalid_transition") == THREADS - 1


def claiming(secret: str, actor: Any) -> Callable[[], Any]:
    return partial(claim_licence, secret=secret, actor=actor)


def test_one_of_concurrent_claims_of_a_licence_succeeds() -> None:
    bought_for(on_sale())
    secret, accounts = secret_sent(), [UserFactory() for _ in range(THREADS)]
    outcomes = outcomes_at_once(*(claiming(secret, account) for account in accounts))
    assert outcomes.count("claim_ended") == THREADS - 1
    winner = next(account for account, outcome in zip(accounts, outcomes, strict=True) if outcome != "claim_ended")
    assert Licence.objects.get().holder == winner


def test_concurrent_claim_and_refund_of_a_licence_leave_no_valid_licence() -> None:
    for number in range(4):
        licensee = Licensee("L", f"l{number}@l.example")
        order = bought_for(on_sale(), licensee=licensee)
        claimed, _ = outcomes_at_once(claiming(secret_sent(licensee), UserFactory()), *refunding(order))
        licence = Licence.objects.get(order_id=order.pk)
        assert licence.revoked_at is not None
        assert (licence.holder is None) == (claimed == "claim_ended")


def test_claim_during_the_deletion_of_the_account_leaves_no_name_behind() -> None:
    for number in range(4):
        client, licensee = UserFactory(), Licensee("L", f"l{number}@l.example")
        order = bought_for(on_sale(), licensee=licensee)
        claimed, _ = outcomes_at_once(claiming(secret_sent(licensee), client), deleting(client))
        licence = Licence.objects.get(order_id=order.pk)
        assert (licence.holder is None) == (claimed == "not_found")
        assert (licence.licensee_name == "") == (licence.holder is not None)


@pytest.mark.postgres
def test_deletion_of_a_licensee_locks_the_licences_in_the_order_of_disputes() -> None:
    client, licensees = UserFactory(), [Licensee("L", f"l{number}@l.example") for number in range(2)]
    first, second = (bought_for(on_sale(), licensee=licensee).pk for licensee in licensees)
    # A claimed row is written anew, behind the others.
    for licensee in reversed(licensees):
        claim_licence(secret=secret_sent(licensee), actor=client)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock_licence(order_id=first)
            waiting = pool.submit(outcomes_at_once, deleting(client))
            until_someone_waits()
            # A dispute of the payment for both suspends this one next.
            assert Licence.objects.select_for_update(nowait=True).get(order_id=second).holder == client
        assert waiting.result(PATIENCE_SECONDS) == [client]


@pytest.mark.postgres
def test_purge_erases_old_bank_details_without_a_lock_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "BANK_DETAILS_AGE", timedelta(0))
    for _ in range(2):
        pay_wallet_payout(wallet_payout=requested_payout(funded(inr=10_000)), reference="UTR 1", actor=UserFactory())
    first, second = WalletPayout.objects.order_by("pk")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            # A deletion of an account locks both, in either order.
            lock(WalletPayout.objects.all(), pk=first.pk)
            waiting = pool.submit(outcomes_at_once, partial(call_command, "purge", "wallet", stdout=StringIO()))
            until_someone_waits()
            assert WalletPayout.objects.select_for_update(nowait=True).get(pk=second.pk) == second
        waiting.result(PATIENCE_SECONDS)
    assert not WalletPayout.objects.exclude(payment_details="").exists()


def test_one_of_concurrent_payout_requests_of_a_wallet_succeeds() -> None:
    user = funded(inr=80_000)
    outcomes = outcomes_at_once(*(partial(requested_payout, user, 10_000) for _ in range(8)))
    assert refusals(outcomes) == ["payout_open"] * 7
    assert (wallet_of(user).balance_inr_minor, WalletPayout.objects.count()) == (70_000, 1)


def test_concurrent_purchase_and_payout_request_of_the_whole_balance_end_in_one_of_them() -> None:
    for _ in range(3):
        user, listing = funded(inr=49_900), on_sale()
        outcomes = outcomes_at_once(buying(user, listing.pk), partial(requested_payout, user, 49_900))
        assert refusals(outcomes) == ["insufficient_balance"]
        assert wallet_of(user).balance_inr_minor == 0


def test_only_one_of_concurrent_decisions_on_a_wallet_payout_succeeds() -> None:
    for _ in range(3):
        user, staff = funded(inr=50_000), [UserFactory() for _ in range(2)]
        wallet_payout = requested_payout(user)
        outcomes = outcomes_at_once(
            *(partial(pay_wallet_payout, wallet_payout=wallet_payout, reference="T1", actor=actor) for actor in staff),
            partial(refuse_wallet_payout, wallet_payout=wallet_payout, reason="test", actor=staff[0]),
            partial(cancel_wallet_payout, wallet_payout=wallet_payout, actor=user),
        )
        assert refusals(outcomes) == ["invalid_transition"] * 3
        wallet_payout.refresh_from_db()
        assert wallet_of(user).balance_inr_minor == (0 if wallet_payout.status == "Paid" else 50_000)


def test_refunds_purchases_and_a_cancelled_payout_of_a_wallet_do_not_deadlock() -> None:
    user = funded(inr=500_000)
    orders, listings = [bought(on_sale(), user) for _ in range(3)], [on_sale() for _ in range(3)]
    wallet_payout = requested_payout(user, 100)
    outcomes = outcomes_at_once(
        *refunding(*orders),
        *(buying(user, listing.pk) for listing in listings),
        partial(cancel_wallet_payout, wallet_payout=wallet_payout, actor=user),
    )
    assert refusals(outcomes) == []
    assert wallet_of(user).balance_inr_minor == 500_000 - 3 * 49_900


def test_account_deleted_during_a_payout_request_or_its_decision_leaves_no_money_behind() -> None:
    for _ in range(3):
        user, staff = funded(inr=100), UserFactory()
        outcomes = outcomes_at_once(partial(requested_payout, user), deleting(user))
        assert "account_in_use" in refusals(outcomes)
        wallet_payout = WalletPayout.objects.get(wallet__owner=user)
        outcomes = outcomes_at_once(
            partial(pay_wallet_payout, wallet_payout=wallet_payout, reference="T1", actor=staff),
            deleting(user),
            partial(cancel_wallet_payout, wallet_payout=wallet_payout, actor=user),
        )
        assert set(refusals(outcomes)) <= {"invalid_transition", "account_in_use"}
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

    assert refusals(outcomes_at_once(delete, cancel)) == ["account_in_use"]
    assert wallet_of(user).balance_inr_minor == 100


def test_refund_during_the_deletion_of_the_account_leaves_no_money_in_its_wallet() -> None:
    for _ in range(4):
        user = funded(inr=49_900)
        order = bought(on_sale(), user)
        outcomes_at_once(*refunding(order), deleting(user))
        user.refresh_from_db()
        assert Order.objects.get(pk=order.pk).status == "Refunded"
        assert wallet_of(user).balance_inr_minor == (0 if user.deleted else 49_900)
        assert unclaimed_refunds().filter(pk=order.pk).exists() == user.deleted


def test_unclaimed_refund_is_paid_once_and_the_others_are_told() -> None:
    order = refund_to_deleted_account()
    refund_order(order=order, reason="test", actor=None)
    claim = partial(pay_unclaimed, order=order, reference="T1", reason="By the receipt.")
    outcomes = outcomes_at_once(*(partial(claim, actor=UserFactory()) for _ in range(4)))
    assert refusals(outcomes) == ["invalid_transition"] * 3


@pytest.mark.postgres
def test_purchase_does_not_wait_for_a_change_of_its_licences_price() -> None:
    listing, tier = on_sale(), LicenseTier.objects.get(slug="commercial")
    tier.price_factor = Decimal(3)
    with transaction.atomic():
        save_license_tier(tier=tier, changed=["price_factor"], actor=UserFactory())
        # The prices of all listings are being computed: whoever needed a row that is locked would be refused after a second.
        with patch.object(offers, "LOCK_TIMEOUT", "1s"):
            (outcome,) = outcomes_at_once(partial(bought, listing, license_slug="commercial"))
    assert outcome.price_minor == 2 * 49_900


def billing(buyer: User) -> Callable[[], Any]:
    return partial(save_billing_details, user=buyer, values=MUMBAI, actor=buyer)


def quoting(buyer: User) -> Callable[[], Any]:
    return partial(make_quote, buyer=buyer, purchase=offers.PurchaseRequest(on_sale().slug, licensee=Licensee("Lee", "lee@example.com")))


def complaining(buyer: User) -> Callable[[], Any]:
    return partial(request_refund, order=Order.objects.get(buyer=buyer), reason="other", details="I am Lee.", actor=buyer)


def selling(buyer: User) -> Callable[[], Any]:
    return partial(apply, user=buyer, store_name="Lee", store_slug="lee", bio="I am Lee.", actor=buyer)


def developing(buyer: User) -> Callable[[], Any]:
    return partial(submit_application, user=buyer, what="An app.", why="I am Lee.", actor=buyer)


def appealing(buyer: User) -> Callable[[], Any]:
    application = reject_application(application=developing(buyer)(), reason="No.", actor=UserFactory())
    decision = appealable_decision(application)
    assert decision is not None
    return partial(submit_appeal, decision=decision, text="I am Lee.", actor=buyer)


def connecting(buyer: User) -> Callable[[], Any]:
    return partial(connect_app, buyer, AppFactory(), frozenset({Scope.CATALOG_READ}))


@pytest.mark.postgres
@pytest.mark.parametrize("doing", [billing, quoting, complaining, selling, developing, appealing, connecting])
def test_nothing_personal_is_saved_while_the_account_is_deleted(doing: Callable[[User], Callable[[], Any]]) -> None:
    buyer = funded(inr=49_900)
    bought(on_sale(), buyer)
    saving = doing(buyer)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            deleting(buyer)()
            waiting = pool.submit(outcomes_at_once, saving)
            until_someone_waits()
        assert waiting.result(PATIENCE_SECONDS) == ["not_found"]
    for model in (Appeal, BillingDetails, Consent, DeveloperApplication, Quote, RefundRequest, VendorProfile):
        assert not model._default_manager.exists()

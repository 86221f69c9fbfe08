"""Events of providers, many at once: each counts once, and the ledger agrees afterwards."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from catalog.models import Listing
from library.models import Licence
from library.services.links import issue_link, record_download
from marketplace.accounts.services import delete_account
from marketplace.core.errors import Problem
from tests.factories import UserFactory
from tests.races import THREADS, at_once, outcomes_at_once, until_someone_waits
from tests.shop import archive, bought, funded, on_sale
from tests.waiting import PATIENCE_SECONDS
from wallet.models import CardReversal, Journal, LedgerAccount, PayoutBatch, ProviderEvent, Quote, TopUp
from wallet.models.top_ups import EventKind
from wallet.selectors import owed_by, wallet_of
from wallet.services import provider_events
from wallet.services.digests import digest_ledger
from wallet.services.funding import credit_wallet
from wallet.services.offers import PurchaseRequest
from wallet.services.provider_events import apply_waiting
from wallet.services.quotes import make_quote
from wallet.services.receivables import write_off
from wallet.services.refund_requests import request_refund
from wallet.services.refunds import refund_order
from wallet.services.spending import spend
from wallet.services.top_ups import TopUpRequest, credit_top_up, request_top_up
from wallet.services.vendor_payouts import cancel_batch

from .faulty_events import FaultyEvents
from .payees import account_of, payee, prepared_payout
from .top_up_cases import deliver_event, indebted, paid_top_up, requested_top_up, telling
from .wallet_payout_cases import requested_payout

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database, pytest.mark.usefixtures("books_agree")]
ENDS = (EventKind.DISPUTE_WON, EventKind.DISPUTE_LOST)


def test_payment_that_is_told_sixteen_times_at_once_is_credited_once() -> None:
    top_up = requested_top_up()
    # Half of them the same event, half others.
    events = [telling(top_up, EventKind.SUCCEEDED, event_id=f"e{max(number, 8)}") for number in range(THREADS)]
    assert at_once(*events) == [None] * THREADS
    assert (wallet_of(top_up.user).balance_inr_minor, Journal.objects.count()) == (50_000, 1)
    assert ProviderEvent.objects.filter(top_up=top_up).count() == 8


def test_concurrent_payment_dispute_and_its_end_are_applied_once() -> None:
    for end in ENDS * 2:
        top_up = requested_top_up()
        at_once(*(telling(top_up, kind) for kind in (EventKind.SUCCEEDED, EventKind.DISPUTED, end) for _ in range(4)))
        top_up.refresh_from_db()
        assert top_up.status == ("Succeeded" if end == EventKind.DISPUTE_WON else "Returned")
        assert wallet_of(top_up.user).balance_inr_minor == (50_000 if end == EventKind.DISPUTE_WON else 0)
        assert not ProviderEvent.objects.filter(top_up=top_up, processed_at=None).exists()


def elsewhere(call: Callable[[], Any]) -> threading.Thread:
    """Begin a call in another thread, and return once it has ended or waits for a lock."""
    thread = threading.Thread(target=at_once, args=(call,))
    thread.start()
    thread.join(1)
    return thread


def test_dispute_that_arrives_with_its_payment_is_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    top_up = requested_top_up()
    threads: list[threading.Thread] = []

    def meanwhile(*, top_up: TopUp) -> None:
        apply_waiting(top_up=top_up)
        if not threads:
            threads.append(elsewhere(telling(top_up, EventKind.DISPUTED)))

    # The dispute is recorded when the payment's process has looked for it, and before that commits.
    monkeypatch.setattr(provider_events, "apply_waiting", meanwhile)
    telling(top_up, EventKind.SUCCEEDED)()
    threads[0].join()
    top_up.refresh_from_db()
    assert top_up.status == "Disputed"


def test_dispute_and_digest_do_not_deadlock() -> None:
    # Two vendors, of whom the second was the first to sell.
    listings = [on_sale(), on_sale()]
    for listing in reversed(listings):
        bought(listing)
    top_up = paid_top_up(amount_minor=2 * 49_900)
    for listing in listings:
        bought(listing, top_up.user)
    with transaction.atomic():
        # What a digest does.
        for account in LedgerAccount.objects.filter(kind="vendor").order_by("pk"):
            LedgerAccount.objects.filter(pk=account.pk).update(balance_minor=F("balance_minor"))
            if account.owner == listings[1].store.owner:
                dispute = elsewhere(telling(top_up, EventKind.DISPUTED))
    dispute.join()
    top_up.refresh_from_db()
    assert top_up.status == "Disputed"


@pytest.mark.postgres
def test_deletion_of_a_vendor_and_digest_do_not_deadlock() -> None:
    listing, buyer = on_sale(), funded(inr=2 * 49_900, usd=1_000)
    # The account that the deletion would come to first by its currency was opened last.
    bought(listing, buyer, currency="USD")
    bought(listing, buyer, currency="INR", license_slug="commercial")
    outcomes: list[Any] = []

    def delete() -> None:
        outcomes.extend(outcomes_at_once(partial(delete_account, user=listing.store.owner, reason="test", actor=None)))

    with transaction.atomic():
        # What a digest does.
        for number, account in enumerate(LedgerAccount.objects.filter(kind="vendor").order_by("pk")):
            LedgerAccount.objects.filter(pk=account.pk).update(balance_minor=F("balance_minor"))
            if number == 0:
                deletion = elsewhere(delete)
    deletion.join()
    assert outcomes == ["account_in_use"]


def test_disputes_of_several_buyers_of_the_same_vendors_do_not_deadlock() -> None:
    listings = [on_sale() for _ in range(3)]
    top_ups = [paid_top_up(amount_minor=49_900 * 3) for _ in range(4)]
    for number, top_up in enumerate(top_ups):
        for listing in (listings[number % 3 :] + listings[: number % 3])[:3]:
            bought(listing, top_up.user)
    at_once(*(telling(top_up, EventKind.DISPUTED) for top_up in top_ups))
    at_once(*(telling(top_up, random.choice(ENDS)) for top_up in top_ups))
    assert not CardReversal.objects.filter(status="Open").exists()


def test_concurrent_top_ups_never_exceed_the_daily_limit() -> None:
    user = UserFactory()
    outcomes = outcomes_at_once(*(partial(request_top_up, user=user, wanted=TopUpRequest("INR", 30_000_00)) for _ in range(8)))
    assert outcomes.count("top_up_limit_exceeded") == 5
    assert TopUp.objects.filter(user=user).count() == 3


def test_concurrent_top_ups_with_one_idempotency_key_make_one() -> None:
    user = UserFactory()
    wanted = TopUpRequest("INR", 100)
    made = at_once(*(partial(request_top_up, user=user, wanted=wanted, idempotency_key="a") for _ in range(8)))
    assert len({top_up.pk for top_up, _ in made}) == 1
    assert [replayed for _, replayed in made].count(False) == 1


def test_payment_during_the_deletion_of_the_account_leaves_no_money_behind() -> None:
    for _ in range(3):
        top_up = requested_top_up()
        TopUp.objects.filter(pk=top_up.pk).update(expires_at="2099-01-01T00:00:00Z")
        outcomes = at_once(telling(top_up, EventKind.SUCCEEDED), partial(delete_account, user=top_up.user, reason="test", actor=None))
        top_up.user.refresh_from_db()
        assert isinstance(outcomes[1], Problem)
        assert wallet_of(top_up.user).balance_inr_minor == 50_000


def test_debt_is_paid_once_by_credits_that_arrive_together() -> None:
    user = indebted()
    top_ups = [requested_top_up(user, 3_000) for _ in range(8)]
    assert at_once(*(telling(top_up, EventKind.SUCCEEDED) for top_up in top_ups)) == [None] * 8
    assert (wallet_of(user).balance_inr_minor, owed_by(user.pk)) == (8 * 3_000 - 10_000, {})


def test_debt_written_off_during_credits_is_settled_once() -> None:
    user, staff = indebted(), [UserFactory() for _ in range(3)]
    top_ups = [requested_top_up(user, 3_000) for _ in range(3)]
    writing_off = [partial(write_off, user=user, currency="INR", reason="test", actor=each) for each in staff]
    at_once(*(telling(top_up, EventKind.SUCCEEDED) for top_up in top_ups), *writing_off)
    assert owed_by(user.pk) == {}
    assert Journal.objects.filter(kind="write_off").count() == 1
    repaid = -sum(journal.wallet_net_minor or 0 for journal in Journal.objects.filter(kind="repayment"))
    assert wallet_of(user).balance_inr_minor == 9_000 - repaid


def test_ends_of_disputes_purchases_and_credits_of_one_wallet_do_not_deadlock() -> None:
    user = UserFactory()
    top_ups = [paid_top_up(user, 49_900) for _ in range(4)]
    listings = [on_sale() for _ in range(3)]
    for listing in listings:
        bought(listing, user)
    for top_up in top_ups:
        deliver_event(top_up, EventKind.DISPUTED)
    fresh = [on_sale() for _ in range(2)]
    outcomes = outcomes_at_once(
        *(telling(top_up, EventKind.DISPUTE_LOST) for top_up in top_ups),
        *(partial(spend, buyer=user, purchase=PurchaseRequest(str(listing.pk))) for listing in (*listings, *fresh)),
        *(partial(credit_wallet, user=user, currency="INR", amount_minor=60_000, reason="test", actor=None) for _ in range(2)),
    )
    assert {each for each in outcomes if isinstance(each, str)} <= {"insufficient_balance", "already_owned"}


@pytest.mark.parametrize("price", [49_900, 100], ids=["paid upgrade", "free upgrade"])
def test_dispute_purchases_refunds_payouts_download_and_digest_do_not_deadlock(price: int) -> None:
    for end in ENDS:
        vendor = payee()
        top_up = paid_top_up(amount_minor=4 * 49_900)
        order, other = bought(on_sale(archive(), store=vendor.store), top_up.user), bought(on_sale(), top_up.user)
        link = issue_link(licence=Licence.objects.get(order_id=order.pk))
        Listing.objects.filter(pk=order.listing_id).update(price_inr_minor=price)
        upgrade = PurchaseRequest(str(order.listing_id), upgrade_from="personal")
        outcomes_at_once(
            *(partial(spend, buyer=top_up.user, purchase=upgrade) for _ in range(2)),
            *(partial(request_refund, order=order, reason="other", details="", actor=top_up.user) for _ in range(2)),
            *(partial(spend, buyer=top_up.user, purchase=PurchaseRequest(str(on_sale().pk))) for _ in range(2)),
            partial(requested_payout, top_up.user, 100),
            partial(refund_order, order=other, reason="test", actor=None),
            partial(record_download, link=link, byte_range=""),
            telling(top_up, EventKind.DISPUTED),
            telling(top_up, end),
            partial(prepared_payout, account_of(vendor), run=f"run-{end}"),
            lambda: list(digest_ledger(until=timezone.now())),
            partial(refund_order, order=order, reason="test", actor=None),
        )
        for batch in PayoutBatch.objects.filter(status="Prepared"):
            cancel_batch(batch=batch, reason="test", actor=None)
        order.refresh_from_db()
        assert Journal.objects.filter(order=order, kind="refund").count() == (order.status == "Refunded")
        # What was told before its beginning.
        deliver_event(top_up, EventKind.DISPUTED)
        assert CardReversal.objects.get(top_up=top_up).status == ("Kept" if end == EventKind.DISPUTE_WON else "Returned")


@pytest.mark.postgres
@pytest.mark.slow
def test_concurrent_repeated_reordered_late_and_forged_events_credit_each_payment_once() -> None:
    # `python -m tests.wallet.long events` sends as many as one likes.
    sent = FaultyEvents(200, random.Random(20))
    sent.send_all(threads=8)
    assert list(sent.wrong()) == []
    assert {what for what, _, _ in sent.responses} == {"genuine", "forged", "ignored", "other amount"}


@pytest.mark.postgres
@pytest.mark.parametrize("what", ["quote", "deletion"])
def test_late_payment_and_what_else_its_buyer_does_do_not_deadlock(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    buyer, purchase, past = UserFactory(), PurchaseRequest(on_sale().slug), timezone.now() - timedelta(days=2)
    quote = make_quote(buyer=buyer, purchase=purchase)
    top_up = requested_top_up(buyer, quote_id=str(quote.pk))
    # A new quote deletes the old one, to which the payment refers.
    Quote.objects.filter(pk=quote.pk).update(created_at=past - timedelta(minutes=1), expires_at=past)
    TopUp.objects.filter(pk=top_up.pk).update(expires_at=timezone.now())
    does: dict[str, Callable[[], Any]] = {
        "quote": partial(make_quote, buyer=buyer, purchase=purchase),
        "deletion": partial(delete_account, user=buyer, reason="test", actor=None),
    }
    began: list[Future[list[Any]]] = []
    with ThreadPoolExecutor(1) as pool:

        def meanwhile(**event: Any) -> str:
            began.append(pool.submit(outcomes_at_once, does[what]))
            until_someone_waits()
            return credit_top_up(**event)

        monkeypatch.setattr(provider_events, "credit_top_up", meanwhile)
        telling(top_up, EventKind.SUCCEEDED)()
        (outcome,) = began[0].result(PATIENCE_SECONDS)
    assert (outcome == "account_in_use") == (what == "deletion")
    assert wallet_of(buyer).balance_inr_minor == 50_000


@pytest.mark.postgres
def test_end_of_a_dispute_that_another_one_goes_on_for_does_not_deadlock_with_one_of_another_buyer() -> None:
    user = UserFactory()
    top_ups = [paid_top_up(user, amount) for amount in (30_000, 19_900)]
    order = bought(on_sale(), user)
    for top_up in top_ups:
        deliver_event(top_up, EventKind.DISPUTED, amount_minor=15_000)
    account = LedgerAccount.objects.get(kind="vendor")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            # What the dispute of another buyer does.
            withheld = LedgerAccount.objects.filter(kind="withheld", owner=account.owner)
            LedgerAccount.objects.select_for_update(no_key=True).get(pk=account.pk)
            ending = pool.submit(at_once, telling(top_ups[1], EventKind.DISPUTE_LOST, amount_minor=15_000))
            until_someone_waits()
            withheld.update(balance_minor=F("balance_minor"))
        assert ending.result(PATIENCE_SECONDS) == [None]
    # It ended, and the other one suspends the purchase from now on.
    assert [part.suspended for part in order.reversal_parts.order_by("pk")] == [True, True]

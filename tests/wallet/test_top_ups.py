"""Top-ups: a provider's event credits once, or never."""

from datetime import timedelta
from itertools import permutations
from typing import Any
from unittest.mock import patch

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from developers.models import Consent, WebhookEvent
from developers.services.consents import withdraw_consent
from marketplace.accounts.models import User
from marketplace.accounts.services import deactivate_user
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidTransition, NotFound, Problem
from tests.eager import sent_mails
from tests.factories import AppFactory, UserFactory
from tests.shop import funded, on_sale
from wallet import bounds
from wallet.card_credit import open_top_ups_of, payable_of
from wallet.errors import (
    PaymentPageClosed,
    PaymentProviderUnavailable,
    PaymentRefused,
    TooManyTopUps,
    TopUpLimitExceeded,
    TopUpUnavailable,
)
from wallet.models import Journal, ProviderEvent, Quote, TopUp, WalletPayout
from wallet.models.top_ups import EventKind
from wallet.providers import SimulatedProvider
from wallet.providers.simulated import SIGNATURE, payment_id, signed_event
from wallet.selectors import wallet_of
from wallet.services.card_refunds import refund_top_up
from wallet.services.funding import Payment, credit_wallet
from wallet.services.offers import PurchaseRequest
from wallet.services.provider_events import receive_event
from wallet.services.quotes import make_quote
from wallet.services.spending import spend
from wallet.services.top_ups import TopUpRequest, request_top_up
from wallet.services.wallet_payouts import pay_wallet_payout, refuse_wallet_payout

from .spenders import connected, personal
from .top_up_cases import deliver_event, paid_top_up, requested_top_up
from .wallet_payout_cases import requested_payout

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("books_agree")]


def test_paid_top_up_is_credited_and_mailed() -> None:
    top_up = requested_top_up()
    assert str(top_up) == "₹500.00 by test"
    assert (top_up.status, wallet_of(top_up.user).balance_inr_minor) == ("Pending", 0)
    deliver_event(top_up, EventKind.SUCCEEDED)
    assert (top_up.status, wallet_of(top_up.user).balance_inr_minor) == ("Succeeded", 50_000)
    assert top_up.journal is not None
    assert str(top_up.journal.credit_reference) == f"{top_up.payment_reference} (test)"
    assert [message.to for message in sent_mails()] == [[top_up.user.email]]
    assert [entry.action for entry in history_of(top_up)] == ["top_up.succeed", "top_up.request"]


def test_repeated_payment_event_credits_nothing() -> None:
    top_up = paid_top_up()
    for told in ({}, {"event_id": "another"}, {"event_id": "third", "payment": "another-payment"}):
        deliver_event(top_up, EventKind.SUCCEEDED, **told)
    assert wallet_of(top_up.user).balance_inr_minor == 50_000
    assert sorted(ProviderEvent.objects.values_list("outcome", flat=True)) == ["credited", *["ignored: it was Succeeded already"] * 2]


def test_failure_event_before_or_after_the_payment_does_not_prevent_the_credit() -> None:
    for kinds in permutations((EventKind.SUCCEEDED, EventKind.FAILED)):
        top_up = requested_top_up()
        for kind in kinds:
            deliver_event(top_up, kind)
        assert (top_up.status, wallet_of(top_up.user).balance_inr_minor) == ("Succeeded", 50_000)


def test_payment_that_differs_from_the_top_up_is_recorded_but_not_credited() -> None:
    changes: tuple[dict[str, Any], ...] = (
        *({"amount_minor": amount} for amount in (50_001, 49_999, 0)),
        *({"currency": "USD"}, {"currency": ""}, {"payment": ""}),
    )
    for change in changes:
        top_up = deliver_event(requested_top_up(), EventKind.SUCCEEDED, **change)
        assert (top_up.status, Journal.objects.count()) == ("Pending", 0)
        assert ProviderEvent.objects.get(top_up=top_up).outcome.startswith("refused")


def test_payment_of_a_deactivated_account_is_credited_because_the_money_has_come() -> None:
    top_up = requested_top_up()
    deactivate_user(user=top_up.user, reason="test", actor=UserFactory(is_superuser=True))
    assert deliver_event(top_up, EventKind.SUCCEEDED).status == "Succeeded"


def test_payment_that_staff_credited_by_hand_is_not_credited_again() -> None:
    top_up = requested_top_up()
    payment = Payment(payment_id(top_up), "test")
    credit_wallet(user=top_up.user, currency="INR", amount_minor=50_000, reason="test", actor=None, payment=payment)
    assert deliver_event(top_up, EventKind.SUCCEEDED).status == "Succeeded"
    assert wallet_of(top_up.user).balance_inr_minor == 50_000


def payout_of_credit_by_hand() -> tuple[TopUp, WalletPayout]:
    """Return a top-up that staff credited by hand before the provider told of its payment, and the payout that the owner asked for meanwhile."""
    top_up = requested_top_up()
    payment = Payment(payment_id(top_up), "test")
    credit_wallet(user=top_up.user, currency="INR", amount_minor=50_000, reason="test", actor=None, payment=payment)
    payout = requested_payout(top_up.user)
    deliver_event(top_up, EventKind.SUCCEEDED)
    return top_up, payout


def test_payment_that_staff_credited_by_hand_and_paid_out_by_bank_does_not_return_to_its_card_too() -> None:
    top_up, payout = payout_of_credit_by_hand()
    pay_wallet_payout(wallet_payout=payout, reference="test", actor=UserFactory())
    with pytest.raises(InvalidTransition):
        refund_top_up(top_up=top_up, reason="test", actor=UserFactory())
    assert payable_of(top_up.user) == {"INR": (0, 0)}


def test_payment_that_staff_credited_by_hand_returns_to_its_card_once_its_payout_is_refused() -> None:
    top_up, payout = payout_of_credit_by_hand()
    refuse_wallet_payout(wallet_payout=payout, reason="test", actor=UserFactory())
    assert refund_top_up(top_up=top_up, reason="test", actor=UserFactory()).reversals.get().amount_minor == 50_000
    assert payable_of(top_up.user) == {"INR": (0, 0)}


def test_payment_that_paid_another_top_up_or_was_credited_to_someone_else_is_refused() -> None:
    first, by_hand = paid_top_up(), requested_top_up()
    payment = Payment(payment_id(by_hand), "test")
    credit_wallet(user=UserFactory(), currency="INR", amount_minor=50_000, reason="test", actor=None, payment=payment)
    refused = [deliver_event(by_hand, EventKind.SUCCEEDED)]
    for amount_minor in (50_000, 60_000):
        second = requested_top_up(first.user, amount_minor)
        refused.append(deliver_event(second, EventKind.SUCCEEDED, payment=first.payment_reference))
    for top_up in refused:
        assert (top_up.status, ProviderEvent.objects.get(top_up=top_up).outcome[:7]) == ("Pending", "refused")
    assert (wallet_of(first.user).balance_inr_minor, wallet_of(by_hand.user).balance_inr_minor) == (50_000, 0)


def test_forged_event_is_refused_and_leaves_no_trace() -> None:
    event, headers = signed_event(requested_top_up(), EventKind.SUCCEEDED)
    for body, sent in (
        (event, {}),
        (event, {SIGNATURE: "é"}),
        (event, {SIGNATURE: headers[SIGNATURE].upper()}),
        (event.replace(b"50000", b"60000"), headers),
        (b"", headers),
    ):
        with pytest.raises(Problem) as excinfo:
            receive_event(provider="test", body=body, headers=sent)
        assert excinfo.value.code == "payment_signature_invalid"
    assert not ProviderEvent.objects.exists()


def test_payment_of_another_program_on_the_same_account_or_of_another_provider_is_ignored() -> None:
    top_up = requested_top_up()
    with patch.object(SimulatedProvider, "name", "another"):
        deliver_event(top_up, EventKind.SUCCEEDED)
    deliver_event(top_up, EventKind.SUCCEEDED, top_up_id="", page="another-page")
    deliver_event(top_up, EventKind.SUCCEEDED, top_up_id="0190a0a0-0000-7000-8000-000000000000", page="")
    assert (top_up.status, ProviderEvent.objects.count()) == ("Pending", 0)


def test_invalid_top_up_is_refused() -> None:
    for wanted, code in (
        (TopUpRequest("EUR", 50_000), "invalid_amount"),
        (TopUpRequest("INR", bounds.MIN_TOP_UP_MINOR - 1), "invalid_amount"),
        (TopUpRequest("INR", 50_000_01), "top_up_limit_exceeded"),
        (TopUpRequest("INR", 50_000, return_url="https://elsewhere.example/"), "invalid_return_url"),
        (TopUpRequest("INR", 50_000, quote_id="0190a0a0-0000-7000-8000-000000000000"), "not_found"),
    ):
        with pytest.raises(Problem) as excinfo:
            request_top_up(user=UserFactory(), wanted=wanted)
        assert excinfo.value.code == code
    assert not TopUp.objects.exists()


def test_currency_without_a_provider_is_refused_and_names_those_with_one(settings: Any) -> None:
    settings.TEST_PAYMENTS = False
    settings.STRIPE = {"STRIPE_SECRET_KEY": "sk_test_x", "STRIPE_WEBHOOK_SECRET": "whsec_x"}
    with pytest.raises(TopUpUnavailable) as refusal:
        requested_top_up()
    assert refusal.value.members == {"availableCurrencies": ["USD"]}


def test_limits_of_a_day_and_of_the_wallet_count_open_pages_and_the_balance() -> None:
    rich, poor = funded(inr=450_000_00), UserFactory()
    paid_top_up(rich, 40_000_00)
    assert exceeded_limit(rich, 20_000_00) == ("balance", 10_000.0)
    requested_top_up(rich, 5_000_00)
    assert exceeded_limit(rich, 6_000_00) == ("balance", 5_000.0)
    requested_top_up(poor, 50_000_00)
    requested_top_up(poor, 40_000_00)
    assert exceeded_limit(poor, 10_000_01) == ("day", 10_000.0)
    deliver_event(TopUp.objects.get(user=poor, amount_minor=50_000_00), EventKind.FAILED)
    requested_top_up(poor, 10_000_01)


def exceeded_limit(user: User, amount_minor: int) -> tuple[str, float]:
    with pytest.raises(TopUpLimitExceeded) as refusal:
        requested_top_up(user, amount_minor)
    return refusal.value.members["limit"], refusal.value.members["left"]


def test_open_pages_are_bounded_for_each_app_and_for_the_owner() -> None:
    user, app = UserFactory(), AppFactory()
    wanted = TopUpRequest("INR", 100)
    for _ in range(bounds.MAX_OPEN_TOP_UPS_OF_APP):
        request_top_up(user=user, wanted=wanted, principal=connected(user, app))
    with pytest.raises(TooManyTopUps) as refusal:
        request_top_up(user=user, wanted=wanted, principal=connected(user, app))
    assert refusal.value.members["maximum"] == bounds.MAX_OPEN_TOP_UPS_OF_APP
    request_top_up(user=user, wanted=wanted, principal=connected(user))
    for _ in range(bounds.MAX_OPEN_TOP_UPS):
        requested_top_up(user, 100)
    with pytest.raises(TooManyTopUps):
        requested_top_up(user, 100)


def test_open_pages_of_an_app_end_when_it_is_disconnected_and_a_late_payment_is_credited_and_no_longer_told(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    user = UserFactory()
    now = timezone.now()
    consent = Consent.objects.create(user=user, app=AppFactory(), audience="api", scope="wallet:fund", given_at=now, renewed_at=now)
    wanted = TopUpRequest("INR", 100)
    top_up, before = (request_top_up(user=user, wanted=wanted, principal=connected(user, consent.app))[0] for _ in range(2))
    deliver_event(before, EventKind.SUCCEEDED)
    others = [request_top_up(user=user, wanted=wanted, principal=connected(user))[0], requested_top_up(user, 100)]
    of_another_user, _ = request_top_up(user=UserFactory(), wanted=wanted, principal=connected(UserFactory(), consent.app))
    with django_capture_on_commit_callbacks(execute=True):
        withdraw_consent(user=user, app=consent.app, actor=user)
    assert list(open_top_ups_of(user.pk).order_by("pk")) == others
    assert open_top_ups_of(of_another_user.user_id).exists()
    assert deliver_event(top_up, EventKind.SUCCEEDED).status == "Succeeded"
    assert wallet_of(user).balance_inr_minor == 200
    event = WebhookEvent.objects.get(type="wallet.topped_up")
    assert (event.app_id, event.data["topUpId"], event.data["status"]) == (consent.app.pk, str(before.pk), "Succeeded")


def test_app_returns_to_its_own_origins_only(settings: Any) -> None:
    app = AppFactory(redirect_uris="https://app.example/callback http://127.0.0.1/callback")
    user = UserFactory()
    for url, principal in (
        ("https://app.example/paid?x=1", connected(user, app)),
        ("http://127.0.0.1:4711/paid", connected(user, app)),
    ):
        assert request_top_up(user=user, wanted=TopUpRequest("INR", 100, return_url=url), principal=principal)[0].return_url == url
    for url, principal in (
        ("https://app.example.evil.example/paid", connected(user, app)),
        ("https://app.example@evil.example/paid", connected(user, app)),
        (f"{settings.BASE_URL}.evil.example/paid", connected(user, app)),
        ("http://app.example/paid", connected(user, app)),
        ("https://app.example:8443/paid", connected(user, app)),
        ("javascript:alert(1)", connected(user, app)),
        ("//app.example/paid", connected(user, app)),
        ("https://app.example/paid", connected(user, AppFactory())),
        ("https://app.example/paid", personal(user)),
    ):
        with pytest.raises(Problem) as excinfo:
            request_top_up(user=user, wanted=TopUpRequest("INR", 100, return_url=url), principal=principal)
        assert excinfo.value.code == "invalid_return_url", url


def test_idempotency_key_of_another_app_or_token_makes_another_top_up() -> None:
    user = UserFactory()
    wanted, asking = TopUpRequest("INR", 100), [None, personal(user), personal(user), connected(user), connected(user)]
    made = [request_top_up(user=user, wanted=wanted, idempotency_key="a", principal=principal) for principal in asking]
    assert len({top_up.pk for top_up, _ in made}) == len(asking)
    assert not any(replayed for _, replayed in made)


def unanswered(refusal: Problem | None = None) -> User:
    """Return a user whose request with the idempotency key "a" the provider did not answer, or refused."""
    user, refusal = UserFactory(), refusal or PaymentProviderUnavailable()
    with patch.object(SimulatedProvider, "create_page", side_effect=refusal), pytest.raises(type(refusal)):
        request_top_up(user=user, wanted=TopUpRequest("INR", 100), idempotency_key="a")
    return user


def test_provider_that_does_not_answer_is_asked_again_by_the_same_request() -> None:
    user = unanswered()
    top_up, replayed = request_top_up(user=user, wanted=TopUpRequest("INR", 100), idempotency_key="a")
    assert (replayed, TopUp.objects.count(), bool(top_up.payment_url)) == (True, 1, True)


def test_repeat_after_the_payment_page_has_ended_needs_another_idempotency_key() -> None:
    user = unanswered()
    TopUp.objects.update(expires_at=timezone.now())
    with pytest.raises(PaymentPageClosed):
        request_top_up(user=user, wanted=TopUpRequest("INR", 100), idempotency_key="a")
    _, replayed = request_top_up(user=user, wanted=TopUpRequest("INR", 100), idempotency_key="b")
    assert not replayed


def test_top_up_refused_by_the_provider_fails_and_is_not_requested_again() -> None:
    user = unanswered(PaymentRefused())
    top_up, replayed = request_top_up(user=user, wanted=TopUpRequest("INR", 100), idempotency_key="a")
    assert (replayed, top_up.status, top_up.payment_url, open_top_ups_of(user.pk).count()) == (True, "Failed", "", 0)


def test_quote_is_extended_during_a_top_up_up_to_a_maximum() -> None:
    user, purchase = funded(inr=49_900), PurchaseRequest(str(on_sale().pk), "INR")
    quote = make_quote(buyer=user, purchase=purchase)
    for _ in range(3):
        requested_top_up(user, 49_900, quote_id=str(quote.pk))
    quote.refresh_from_db()
    assert (quote.expires_at - quote.created_at).total_seconds() <= bounds.WAITING_QUOTE_MINUTES * 60
    assert (quote.expires_at - quote.created_at).total_seconds() > bounds.TOP_UP_MINUTES * 60
    with pytest.raises(Problem):
        requested_top_up(UserFactory(), 49_900, quote_id=str(quote.pk))
    assert Quote.objects.get(pk=quote.pk).expires_at == quote.expires_at
    spend(buyer=user, purchase=purchase, quote_id=str(quote.pk))
    expired = make_quote(buyer=user, purchase=PurchaseRequest(str(on_sale().pk), "INR"))
    Quote.objects.filter(pk=expired.pk).update(created_at=timezone.now() - timedelta(2), expires_at=timezone.now() - timedelta(1))
    for ended in (quote, expired):
        with pytest.raises(NotFound):
            requested_top_up(user, 49_900, quote_id=str(ended.pk))


def test_test_provider_lists_its_own_payments_and_their_reversals_of_a_day() -> None:
    top_up = paid_top_up()
    deliver_event(top_up, EventKind.DISPUTED)
    provider, today = SimulatedProvider(), timezone.now().date()
    assert [each.payment for each in provider.payments_of(today)] == [payment_id(top_up)]
    assert [(each.payment, each.status) for each in provider.reversals_of(today)] == [(payment_id(top_up), "Open")]
    yesterday = today - timedelta(days=1)
    assert [*provider.payments_of(yesterday), *provider.reversals_of(yesterday)] == []
    provider.name = "another"
    assert [*provider.payments_of(today), *provider.reversals_of(today)] == []


def test_paid_top_up_and_its_event_are_never_changed_or_deleted(subtests: pytest.Subtests) -> None:
    paid_top_up()
    changes_of_top_up: tuple[dict[str, Any], ...] = (
        *({"amount_minor": 1}, {"currency": "USD"}, {"provider": "stripe"}, {"journal": None}, {"payment_reference": "x"}),
        {"user": UserFactory()},
    )
    changes_of_event = ({"amount_minor": 1}, {"event_id": "x"}, {"outcome": "x"}, {"processed_at": None, "outcome": ""})
    models: tuple[tuple[Any, tuple[dict[str, Any], ...]], ...] = ((TopUp, changes_of_top_up), (ProviderEvent, changes_of_event))
    for model, changes in models:
        for change in changes:
            with subtests.test(str(change)), pytest.raises(IntegrityError), transaction.atomic():
                model.objects.update(**change)
        with subtests.test(f"{model.__name__} deleted"), pytest.raises(IntegrityError), transaction.atomic():
            model.objects.all()._raw_delete(using="default")


def test_second_event_of_the_same_id_is_refused_by_the_database() -> None:
    paid_top_up()
    event = ProviderEvent.objects.get()
    event.pk, event.top_up, event.processed_at, event.outcome = None, None, None, ""
    event._state.adding = True
    with pytest.raises(IntegrityError, match=r"providerevent_once|event_id"), transaction.atomic():
        ProviderEvent.objects.bulk_create([event])

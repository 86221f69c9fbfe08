"""From an empty wallet through the test provider's page to a purchase; and where providers send their events."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.checks import run_checks
from django.test import Client
from django.utils import timezone

from marketplace.web.views import payments
from tests.callers import signed_in
from tests.eager import drain
from tests.factories import UserFactory
from tests.shop import funded, on_sale
from tests.wallet.top_up_cases import deliver_event, requested_top_up
from wallet import bounds
from wallet.delivery_consent import IMMEDIATE_DELIVERY
from wallet.models import Order, ProviderEvent, Quote, TopUp
from wallet.models.top_ups import EventKind
from wallet.providers.simulated import signed_event
from wallet.selectors import wallet_of
from wallet.services.funding import credit_wallet

pytestmark = pytest.mark.django_db


def outcome(address: str, chosen: str) -> Any:
    return Client().post(urlsplit(address).path, {"outcome": chosen})


@pytest.mark.slow
def test_empty_wallet_at_the_checkout_is_topped_up_and_the_purchase_goes_on() -> None:
    user = funded(inr=10_000)
    client, listing = signed_in(user), on_sale()
    checkout = client.post(f"/assets/{listing.slug}/buy", {"currency": "INR"}).headers["Location"]
    page = client.get(checkout)
    assert b'name="amount" value="399.00"' in page.content
    quote = checkout.rsplit("/", 1)[1]
    sent = client.post("/dashboard/wallet/top-ups/new", {"currency": "INR", "amount": "399.00", "quote": quote})
    assert sent.status_code == 302
    back = outcome(sent.headers["Location"], "succeeded")
    assert back.status_code == 302
    assert client.get(back.headers["Location"]).headers["Location"] == checkout
    bought = client.post(checkout, {"consent": IMMEDIATE_DELIVERY.version})
    assert Order.objects.get(buyer=user).price_minor == 49_900
    assert bought.headers["Location"].startswith("/dashboard/orders/")


@pytest.mark.slow
@pytest.mark.parametrize("expired", [False, True], ids=["bought in another window", "expired"])
def test_credit_for_a_purchase_that_cannot_be_made_any_more_is_not_asked_for(*, expired: bool) -> None:
    user = funded(inr=10_000)
    client, listing = signed_in(user), on_sale()
    checkout = client.post(f"/assets/{listing.slug}/buy", {"currency": "INR"}).headers["Location"]
    if expired:
        Quote.objects.update(created_at=timezone.now() - timedelta(hours=2), expires_at=timezone.now() - timedelta(hours=1))
    else:
        credit_wallet(user=user, currency="INR", amount_minor=39_900, reason="test", actor=None)
        client.post(checkout, {"consent": IMMEDIATE_DELIVERY.version})
    sent = client.post("/dashboard/wallet/top-ups/new", {"currency": "INR", "amount": "399.00", "quote": checkout.rsplit("/", 1)[1]})
    assert sent.headers["Location"] == checkout
    assert not TopUp.objects.exists()


@pytest.mark.slow
def test_credit_for_a_purchase_that_was_deleted_meanwhile_is_asked_for_alone() -> None:
    client, quote_id = signed_in(funded(inr=10_000)), "00000000-0000-7000-8000-000000000000"
    client.post("/dashboard/wallet/top-ups/new", {"currency": "INR", "amount": "399.00", "quote": quote_id})
    assert TopUp.objects.get().quote_id is None


@pytest.mark.slow
def test_top_up_above_the_maximum_is_refused_at_the_amount_and_keeps_it() -> None:
    answer = signed_in().post("/dashboard/wallet/top-ups/new", {"currency": "INR", "amount": "60000"})
    assert (answer.status_code, list(answer.context["form"].errors)) == (400, ["amount"])
    assert b'value="60000"' in answer.content
    assert not TopUp.objects.exists()


def test_top_up_form_says_that_there_is_no_provider(settings: Any) -> None:
    settings.TEST_PAYMENTS = False
    page = signed_in().get("/dashboard/wallet/top-ups/new").content.decode()
    assert ("no payment provider" in page, 'name="amount"' in page) == (True, False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chosen", "status", "balance"),
    [
        ("succeeded", "Succeeded", 50_000),
        ("failed", "Failed", 0),
        ("late", "Pending", 0),
        ("disputed won", "Succeeded", 50_000),
        ("disputed lost", "Returned", 0),
    ],
)
def test_outcome_chosen_on_the_test_page_is_what_happens(chosen: str, status: str, balance: int) -> None:
    top_up = requested_top_up()
    assert [outcome(top_up.payment_url, each).status_code for each in chosen.split()] == [302] * len(chosen.split())
    top_up.refresh_from_db()
    assert (top_up.status, wallet_of(top_up.user).balance_inr_minor) == (status, balance)


@pytest.mark.slow
def test_late_payment_is_credited_by_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payments, "LATE_AFTER", timedelta(seconds=-1))
    top_up = requested_top_up()
    outcome(top_up.payment_url, "late")
    drain()
    top_up.refresh_from_db()
    assert top_up.status == "Succeeded"


def test_test_page_refuses_what_cannot_be_and_is_gone_without_the_test_provider(settings: Any) -> None:
    top_up = requested_top_up()
    assert outcome(top_up.payment_url, "won").status_code == 400
    assert outcome(top_up.payment_url, "x" * 1000).status_code == 400
    assert Client().get("/payments/test/guessed").status_code == 404
    settings.TEST_PAYMENTS_ALLOWED = False
    assert Client().get(urlsplit(top_up.payment_url).path).status_code == 404


def test_test_provider_in_production_stops_the_start(settings: Any) -> None:
    assert run_checks(tags=["payments"]) == []
    settings.TEST_PAYMENTS_ALLOWED = False
    assert [message.id for message in run_checks(tags=["payments"])] == ["wallet.E001"]


@pytest.mark.parametrize(("key", "told"), [("sk_live_1", 0), ("sk_test_1", 1), ("rk_test_1", 1), ("rzp_test_1", 1), ("rzp_live_1", 0)])
def test_key_of_a_provider_s_test_mode_is_told_when_deployed(settings: Any, key: str, told: int) -> None:
    settings.STRIPE, settings.RAZORPAY = ({}, {"RAZORPAY_KEY_ID": key}) if key.startswith("rzp") else ({"STRIPE_SECRET_KEY": key}, {})
    assert [message.id for message in run_checks(include_deployment_checks=True)].count("wallet.W001") == told


def test_receipt_is_offered_by_page_once_it_is_paid_however_late_and_to_the_owner_alone() -> None:
    top_up = requested_top_up()
    address = f"/dashboard/wallet/top-ups/{top_up.pk}/receipt.pdf"
    client, page = signed_in(top_up.user), address.rsplit("/", 1)[0]
    assert address not in client.get(page).content.decode()
    assert client.get(address).status_code == 404
    assert "waits on the payment page" in client.get("/dashboard/wallet").content.decode()
    TopUp.objects.update(expires_at=top_up.created_at + timedelta(microseconds=1))
    assert "the payment page has closed" in client.get("/dashboard/wallet").content.decode()
    deliver_event(top_up, EventKind.SUCCEEDED)
    assert wallet_of(top_up.user).balance_inr_minor == 50_000
    assert address in client.get(page).content.decode()
    assert client.get(address).content.startswith(b"%PDF")
    assert signed_in().get(address).status_code == 404


@pytest.mark.slow
def test_event_is_received_once_and_parameters_of_the_address_are_ignored() -> None:
    top_up = requested_top_up()
    body, headers = signed_event(top_up, EventKind.SUCCEEDED)
    for _ in range(2):
        sent = Client().post("/payments/test/events?utm_source=x", body, content_type="application/json", headers=headers)
        assert (sent.status_code, sent.json()) == (200, {"received": True})
    assert (wallet_of(top_up.user).balance_inr_minor, ProviderEvent.objects.count()) == (50_000, 1)


def test_event_that_is_too_long_forged_or_for_nobody_is_refused_with_a_problem() -> None:
    body, headers = signed_event(requested_top_up(), EventKind.SUCCEEDED)
    long = b" " * (bounds.PROVIDER_EVENT_BYTES + 1)
    for path, sent, status, code in (
        ("/payments/test/events", long, 413, "body_too_large"),
        ("/payments/test/events", body + b" ", 400, "payment_signature_invalid"),
        ("/payments/stripe/events", body, 404, "not_found"),
    ):
        answer = Client().post(path, sent, content_type="application/json", headers=headers | {"Accept": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert Client().get("/payments/test/events").status_code == 405


@pytest.mark.slow
def test_top_up_asked_for_by_api_names_its_page_and_once_it_is_paid_its_receipt(bearer_client: Any) -> None:
    user = UserFactory()
    client = bearer_client(user)
    asked = client.post("/api/v1/wallet/top-ups", {"amount": 499.0, "currency": "INR"}, format="json").json()
    assert (asked["status"], asked["receiptUrl"]) == ("Pending", None)
    outcome(asked["paymentUrl"], "succeeded")
    shown = client.get(f"/api/v1/wallet/top-ups/{asked['id']}").json()
    assert shown["status"] == "Succeeded"
    assert signed_in(user).get(urlsplit(shown["receiptUrl"]).path).headers["Content-Type"] == "application/pdf"

"""Stripe and Razorpay: events signed as their own libraries sign them, and the requests that are sent to them."""

import datetime as dt
import hashlib
import hmac
import json
import uuid
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from stripe import WebhookSignature

from marketplace.core.errors import Problem
from wallet.errors import PaymentProviderUnavailable, PaymentRefused
from wallet.models.top_ups import EventKind, TopUp
from wallet.providers.base import Provider, ProviderPayment
from wallet.providers.razorpay import RazorpayProvider
from wallet.providers.stripe import StripeProvider

SECRET = "whsec_of_the_tests"
NOW = dt.datetime(2031, 3, 1, 12, tzinfo=dt.UTC)
# The first second of that day.
START = 1_930_089_600
TOP_UP = uuid.UUID("0190a0a0-0000-7000-8000-000000000000")


def stripe() -> StripeProvider:
    return StripeProvider({"STRIPE_SECRET_KEY": "sk_test_1", "STRIPE_WEBHOOK_SECRET": SECRET}, timeout=7)


def razorpay() -> RazorpayProvider:
    return RazorpayProvider({"RAZORPAY_KEY_ID": "rzp_test_1", "RAZORPAY_KEY_SECRET": "s", "RAZORPAY_WEBHOOK_SECRET": SECRET}, timeout=7)


def of_stripe(name: str, thing: dict[str, Any], **changes: Any) -> tuple[bytes, dict[str, str]]:
    event = {"id": "evt_1", "object": "event", "type": name, "created": 1_700_000_000, "data": {"object": thing}} | changes
    body = json.dumps(event)
    return body.encode(), {"Stripe-Signature": WebhookSignature.generate_signature_header(body, SECRET)}


def of_razorpay(name: str, created_at: int = 1_700_000_000, **parts: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
    payload = {part: {"entity": entity} for part, entity in parts.items()}
    body = json.dumps({"entity": "event", "event": name, "created_at": created_at, "payload": payload}).encode()
    return body, {"X-Razorpay-Signature": hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}


SESSION = {
    "id": "cs_1",
    "metadata": {"topUpId": str(TOP_UP)},
    # A payer can choose it in the address of a payment link.
    "client_reference_id": "0190a0a0-0000-7000-8000-00000000000f",
    "payment_intent": "pi_1",
    "payment_status": "paid",
    "amount_total": 1999,
    "currency": "usd",
}
DISPUTE = {"id": "dp_1", "payment_intent": "pi_1", "amount": 1999, "currency": "usd", "status": "needs_response"}
REFUND = {"id": "re_1", "payment_intent": "pi_1", "amount": 500, "currency": "usd", "status": "succeeded"}


@pytest.mark.parametrize(
    ("name", "thing", "kind"),
    [
        ("checkout.session.completed", SESSION, EventKind.SUCCEEDED),
        ("checkout.session.completed", SESSION | {"payment_status": "unpaid"}, None),
        ("checkout.session.async_payment_succeeded", SESSION, EventKind.SUCCEEDED),
        ("checkout.session.async_payment_failed", SESSION, EventKind.FAILED),
        ("checkout.session.expired", SESSION | {"payment_intent": None, "payment_status": "unpaid"}, EventKind.FAILED),
        ("checkout.session.expired", {"id": "cs_2", "amount_total": None, "currency": None}, EventKind.FAILED),
        ("charge.dispute.created", DISPUTE, EventKind.DISPUTED),
        ("charge.dispute.created", DISPUTE | {"status": "warning_needs_response"}, None),
        ("charge.dispute.funds_withdrawn", DISPUTE, EventKind.DISPUTED),
        ("charge.dispute.closed", DISPUTE | {"status": "won"}, EventKind.DISPUTE_WON),
        ("charge.dispute.closed", DISPUTE | {"status": "lost"}, EventKind.DISPUTE_LOST),
        ("charge.dispute.closed", DISPUTE | {"status": "warning_closed"}, None),
        ("charge.dispute.updated", DISPUTE, None),
        ("refund.created", REFUND, EventKind.REFUNDED),
        ("refund.created", REFUND | {"status": "pending"}, None),
        ("refund.failed", REFUND | {"status": "failed"}, EventKind.REFUND_FAILED),
        ("refund.updated", REFUND | {"status": "canceled"}, EventKind.REFUND_FAILED),
        ("charge.refund.updated", REFUND, None),
    ],
)
def test_stripe_event_is_read(name: str, thing: dict[str, Any], kind: EventKind | None) -> None:
    event = stripe().read_event(*of_stripe(name, thing))
    assert (None if event is None else event.kind) == kind
    assert event is None or event.occurred_at.timestamp() == 1_700_000_000
    if event is not None and kind == EventKind.SUCCEEDED:
        assert (event.event_id, event.top_up_id, event.page) == ("evt_1", str(TOP_UP), "cs_1")
        assert (event.payment, event.amount_minor, event.currency) == ("pi_1", 1999, "USD")
    elif event is not None and kind != EventKind.FAILED:
        facts = (event.reversal, event.payment, event.amount_minor, event.currency)
        assert facts == (thing["id"], thing["payment_intent"], thing["amount"], thing["currency"].upper())


LINK = {"id": "plink_1", "reference_id": str(TOP_UP), "amount_paid": 49_900, "currency": "INR"}
CASE = {"id": "disp_1", "payment_id": "pay_1", "amount": 49_900, "currency": "INR", "phase": "chargeback"}
PAYMENT = {"id": "pay_1", "captured": True}


@pytest.mark.parametrize(
    ("name", "parts", "kind"),
    [
        ("payment_link.paid", {"payment_link": LINK, "payment": PAYMENT}, EventKind.SUCCEEDED),
        ("payment_link.expired", {"payment_link": LINK | {"amount_paid": 0}}, EventKind.FAILED),
        ("payment_link.cancelled", {"payment_link": LINK | {"amount_paid": 0}}, EventKind.FAILED),
        ("payment.dispute.created", {"dispute": CASE, "payment": PAYMENT}, EventKind.DISPUTED),
        ("payment.dispute.created", {"dispute": CASE | {"phase": "retrieval"}, "payment": PAYMENT}, None),
        ("payment.dispute.closed", {"dispute": CASE | {"phase": "retrieval"}, "payment": PAYMENT}, None),
        ("payment.dispute.lost", {"dispute": CASE | {"phase": "fraud"}, "payment": PAYMENT}, None),
        ("payment.dispute.won", {"dispute": CASE, "payment": PAYMENT}, EventKind.DISPUTE_WON),
        ("payment.dispute.closed", {"dispute": CASE, "payment": PAYMENT}, EventKind.DISPUTE_WON),
        ("payment.dispute.lost", {"dispute": CASE, "payment": PAYMENT}, EventKind.DISPUTE_LOST),
        ("refund.processed", {"refund": CASE | {"id": "rfnd_1"}, "payment": PAYMENT}, EventKind.REFUNDED),
        ("refund.processed", {"refund": CASE | {"id": "rfnd_1"}, "payment": PAYMENT | {"captured": False}}, None),
        ("refund.failed", {"refund": CASE | {"id": "rfnd_1"}, "payment": PAYMENT}, EventKind.REFUND_FAILED),
        ("payment.captured", {"payment": PAYMENT}, None),
    ],
)
def test_razorpay_event_is_read(name: str, parts: dict[str, Any], kind: EventKind | None) -> None:
    event = razorpay().read_event(*of_razorpay(name, **parts))
    assert (None if event is None else event.kind) == kind
    assert event is None or event.occurred_at.timestamp() == 1_700_000_000
    if event is not None and kind == EventKind.SUCCEEDED:
        assert (event.top_up_id, event.page) == (str(TOP_UP), "plink_1")
        assert (event.payment, event.amount_minor, event.currency) == ("pay_1", 49_900, "INR")
    elif event is not None and kind != EventKind.FAILED:
        reversal_id = "rfnd_1" if "refund" in parts else "disp_1"
        assert (event.reversal, event.payment, event.amount_minor, event.currency) == (reversal_id, "pay_1", 49_900, "INR")


def test_id_of_a_razorpay_event_comes_from_its_signed_body() -> None:
    body, headers = of_razorpay("payment_link.paid", payment_link=LINK, payment=PAYMENT)
    first = razorpay().read_event(body, headers | {"X-Razorpay-Event-Id": "one"})
    again = razorpay().read_event(body, headers | {"X-Razorpay-Event-Id": "two"})
    assert first == again
    others = (
        of_razorpay("payment_link.paid", 1_700_000_001, payment_link=LINK, payment=PAYMENT),
        of_razorpay("payment_link.paid", payment_link=LINK | {"id": "plink_2"}, payment=PAYMENT),
        of_razorpay("payment_link.expired", payment_link=LINK, payment=PAYMENT),
    )
    events = (first, *(razorpay().read_event(*other) for other in others))
    assert len({event.event_id for event in events if event is not None}) == 4


GOOD: dict[str, tuple[Any, bytes, dict[str, str]]] = {
    "stripe": (stripe(), *of_stripe("checkout.session.completed", SESSION)),
    "razorpay": (razorpay(), *of_razorpay("payment_link.paid", payment_link=LINK, payment=PAYMENT)),
}


@pytest.mark.parametrize("name", GOOD)
def test_forged_event_is_refused_before_it_is_parsed(name: str) -> None:
    provider, body, headers = GOOD[name]
    ((header, signature),) = headers.items()
    for forged, sent in (
        (body, {}),
        (body, {header: "é"}),
        (body, {header: "t=,v1="}),
        (body, {header: signature[:-1] + ("0" if signature[-1] != "0" else "1")}),
        (body.replace(b"19", b"91", 1) if name == "stripe" else body.replace(b"49900", b"99900"), headers),
        (b"\xff" + body, headers),
        (b"not json", headers),
    ):
        with pytest.raises(Problem) as excinfo:
            provider.read_event(forged, sent)
        assert excinfo.value.code == "payment_signature_invalid", (forged[:20], sent)


def test_old_event_of_stripe_is_refused() -> None:
    body, _ = of_stripe("checkout.session.completed", SESSION)
    old = WebhookSignature.generate_signature_header(body.decode(), SECRET, timestamp=1_700_000_000)
    with pytest.raises(Problem) as excinfo:
        stripe().read_event(body, {"Stripe-Signature": old})
    assert excinfo.value.code == "payment_signature_invalid"


def test_signed_body_that_is_no_event_or_lacks_a_required_field_is_refused() -> None:
    things: tuple[dict[str, Any], ...] = (
        {},
        SESSION | {"amount_total": "1999"},
        SESSION | {"amount_total": -1},
        SESSION | {"amount_total": 2**60},
        SESSION | {"payment_intent": "x" * 300},
        SESSION | {"payment_intent": {"id": "pi_1"}},
        SESSION | {"id": "\x00"},
        SESSION | {"currency": "dollars"},
    )
    bodies = [of_stripe("checkout.session.completed", thing)[0].decode() for thing in things]
    bodies += [of_stripe("checkout.session.completed", SESSION, created=no_time)[0].decode() for no_time in ("now", 2**60, 2**63)]
    for body in (*bodies, "[]", "1", "null", '{"type": "x"}', '{"id": 1}', "[" * 5_000):
        signature = WebhookSignature.generate_signature_header(body, SECRET)
        with pytest.raises(Problem) as excinfo:
            stripe().read_event(body.encode(), {"Stripe-Signature": signature})
        assert excinfo.value.code == "payment_event_invalid", body[:200]
    for body in (of_razorpay("payment_link.paid", payment=PAYMENT)[0].decode(), "[]", "{}", "not json"):
        signature = hmac.new(SECRET.encode(), body.encode(), hashlib.sha256).hexdigest()
        with pytest.raises(Problem) as excinfo:
            razorpay().read_event(body.encode(), {"X-Razorpay-Signature": signature})
        assert excinfo.value.code == "payment_event_invalid", body


class Wire:
    """What is sent to a provider, and what it answers."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.sent: list[dict[str, Any]] = []

    def __call__(self, method: str, url: str, **options: Any) -> requests.Response:
        self.sent.append({"method": method, "url": url, **options})
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        response = requests.Response()
        response.status_code, told = answer if isinstance(answer, tuple) else (200, answer)
        response._content = json.dumps(told).encode()
        return response


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Any:
    def connect(*answers: Any) -> Wire:
        connected = Wire(*answers)
        monkeypatch.setattr(requests.Session, "request", connected)
        return connected

    return connect


WANTED = (TopUp(pk=TOP_UP, currency="USD", amount_minor=1999, expires_at=NOW), "https://shop.example/back")


def test_stripe_page_is_requested_once_and_expires(wire: Any) -> None:
    sent = wire({"id": "cs_1", "object": "checkout.session", "url": "https://checkout.stripe.com/c/pay/cs_1"}).sent
    page = stripe().create_page(*WANTED)
    assert (page.reference, page.url) == ("cs_1", "https://checkout.stripe.com/c/pay/cs_1")
    (request,) = sent
    form = {name: values[0] for name, values in parse_qs(request["data"]).items()}
    assert (form["line_items[0][price_data][unit_amount]"], form["line_items[0][price_data][currency]"]) == ("1999", "usd")
    assert (form["metadata[topUpId]"], form["success_url"], form["expires_at"]) == (
        str(TOP_UP),
        "https://shop.example/back",
        str(int(NOW.timestamp())),
    )
    assert request["headers"]["Idempotency-Key"] == f"top-up-{TOP_UP}"
    assert request["timeout"] == 7


def test_stripe_is_called_once_more_without_an_answer(wire: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    unanswered = requests.exceptions.ConnectTimeout()
    sent = wire(unanswered, {"id": "cs_1", "object": "checkout.session", "url": "https://checkout.stripe.com/c/pay/cs_1"}).sent
    assert stripe().create_page(*WANTED).reference == "cs_1"
    assert [request["headers"]["Idempotency-Key"] for request in sent] == [f"top-up-{TOP_UP}"] * 2
    sent = wire(*[unanswered] * 4).sent
    with pytest.raises(PaymentProviderUnavailable):
        stripe().create_page(*WANTED)
    assert len(sent) == 2


def test_razorpay_page_is_found_again_by_its_reference(wire: Any) -> None:
    link = {"id": "plink_1", "short_url": "https://rzp.io/i/1"}
    sent = wire({"payment_links": []}, link).sent
    assert razorpay().create_page(*WANTED).url == "https://rzp.io/i/1"
    body = json.loads(sent[1]["data"])
    assert (body["amount"], body["reference_id"], body["accept_partial"]) == (1999, str(TOP_UP), False)
    assert (body["notify"], body["reminder_enable"]) == ({"sms": False, "email": False}, False)
    assert {request["timeout"] for request in sent} == {7}
    wire({"payment_links": [link]})
    assert razorpay().create_page(*WANTED).reference == "plink_1"


def test_refund_names_the_payment_and_is_made_once(wire: Any) -> None:
    reversal = uuid.uuid4()
    for status, done in (("succeeded", True), ("pending", False)):
        sent = wire({"id": "re_1", "object": "refund", "status": status}).sent
        refund = stripe().refund(payment="pi_1", amount_minor=500, reversal_id=reversal)
        assert refund is not None
        assert (refund.reference, refund.done, sent[0]["headers"]["Idempotency-Key"]) == ("re_1", done, f"reversal-{reversal}")
        form = {name: value for name, (value,) in parse_qs(sent[0]["data"]).items()}
        assert form == {"payment_intent": "pi_1", "amount": "500", "metadata[reversalId]": str(reversal)}
    for status, done in (("processed", True), ("pending", False)):
        sent = wire({"id": "rfnd_1", "status": status}).sent
        refund = razorpay().refund(payment="pay_1", amount_minor=500, reversal_id=reversal)
        assert refund is not None
        assert (refund.reference, refund.done, sent[0]["headers"]["X-Refund-Idempotency"]) == ("rfnd_1", done, str(reversal))
        assert (json.loads(sent[0]["data"]), sent[0]["timeout"]) == ({"amount": 500}, 7)
    assert sent[0]["url"].endswith("/payments/pay_1/refund")


@pytest.mark.parametrize("provider", [stripe(), razorpay()], ids=["stripe", "razorpay"])
def test_refused_card_refund_returns_none_and_an_unanswered_one_can_be_retried(provider: Provider, wire: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    refused = {"error": {"type": "invalid_request_error", "code": "BAD_REQUEST_ERROR", "message": "x", "description": "disputed"}}
    wire((400, refused))
    assert provider.refund(payment="p_1", amount_minor=500, reversal_id=uuid.uuid4()) is None
    for later in (requests.exceptions.ConnectTimeout(), (429, refused), (401, refused)):
        wire(*[later] * 4)
        with pytest.raises(PaymentProviderUnavailable):
            provider.refund(payment="p_1", amount_minor=500, reversal_id=uuid.uuid4())


def test_refused_payment_page_is_an_error(wire: Any) -> None:
    refused = {"error": {"type": "invalid_request_error", "code": "BAD_REQUEST_ERROR", "message": "x", "description": "too much"}}
    for provider, before in ((stripe(), []), (razorpay(), [{"payment_links": []}])):
        wire(*before, (400, refused))
        with pytest.raises(PaymentRefused):
            provider.create_page(*WANTED)


def test_payments_of_a_day_are_read_from_every_page_of_the_provider(wire: Any) -> None:
    charge = {"object": "charge", "amount": 1999, "amount_captured": 1499, "currency": "usd", "paid": True, "captured": True}
    charges = [charge | {"id": "ch_1", "payment_intent": "pi_1"}, charge | {"id": "ch_2", "captured": False, "payment_intent": "pi_2"}]
    page = {"object": "list", "url": "/v1/charges"}
    # A charge of another program may have no payment intent.
    others = [charge | {"id": "ch_3", "payment_intent": "pi_3"}, charge | {"id": "ch_4", "payment_intent": None}]
    sent = wire(page | {"has_more": True, "data": charges}, page | {"has_more": False, "data": others}).sent
    listed = [(payment.payment, payment.amount_minor, payment.currency) for payment in stripe().payments_of(NOW.date())]
    assert listed == [("pi_1", 1499, "USD"), ("pi_3", 1499, "USD"), ("ch_4", 1499, "USD")]
    of_the_day = {"created[gte]": [str(START)], "created[lt]": [str(START + 86_400)], "limit": ["100"]}
    assert parse_qs(urlsplit(sent[0]["url"]).query) == of_the_day
    paid: list[dict[str, Any]] = [
        {"id": f"pay_{number}", "amount": 100, "currency": "INR", "captured": number != 1} for number in range(101)
    ]
    sent = wire({"items": paid[:100]}, {"items": paid[100:]}).sent
    found = list(razorpay().payments_of(NOW.date()))
    assert found == [ProviderPayment(each["id"], 100, "INR") for each in paid if each["captured"]]
    asked = {"from": START, "to": START + 86_399, "count": 100}
    assert [(request["params"], request["timeout"]) for request in sent] == [(asked | {"skip": skip}, 7) for skip in (0, 100)]


def test_disputes_and_refunds_of_a_day_are_read_without_inquiries(wire: Any) -> None:
    thing = {"payment_intent": "pi_1", "amount": 500, "currency": "usd"}
    disputes = [thing | {"object": "dispute", "id": f"dp_{status}", "status": status} for status in ("lost", "won", "warning_closed")]
    refunds = [
        thing | {"object": "refund", "id": f"re_{status}", "status": status} for status in ("pending", "succeeded", "failed", "canceled")
    ]
    # Of a charge of another program, without a payment intent.
    refunds += [refunds[0] | {"id": "re_2", "payment_intent": None}]
    pages = [{"object": "list", "url": "/v1/x", "has_more": False, "data": data} for data in (disputes, refunds)]
    wire(*pages)
    listed = [(each.reference, each.payment, each.amount_minor, each.currency, each.status) for each in stripe().reversals_of(NOW.date())]
    assert listed == [
        ("dp_lost", "pi_1", 500, "USD", "Returned"),
        ("dp_won", "pi_1", 500, "USD", "Kept"),
        ("re_pending", "pi_1", 500, "USD", "Open"),
        ("re_succeeded", "pi_1", 500, "USD", "Returned"),
        ("re_failed", "pi_1", 500, "USD", "Kept"),
        ("re_canceled", "pi_1", 500, "USD", "Kept"),
    ]
    item = {"payment_id": "pay_1", "amount": 500, "currency": "INR"}
    told = [
        item | {"id": "disp_1", "status": "under_review", "phase": "chargeback"},
        item | {"id": "disp_2", "status": "won", "phase": "fraud"},
    ]
    wire({"items": told}, {"items": [item | {"id": "rfnd_1", "status": "processed"}]})
    assert [(each.reference, each.status) for each in razorpay().reversals_of(NOW.date())] == [("disp_1", "Open"), ("rfnd_1", "Returned")]


@pytest.mark.parametrize("provider", [stripe(), razorpay()], ids=["stripe", "razorpay"])
def test_error_or_malformed_response_of_a_provider_means_it_is_unavailable(provider: Provider, wire: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    error = {"error": {"message": "x", "code": "BAD_REQUEST_ERROR", "description": "x"}}
    answers: tuple[Any, ...] = (
        requests.exceptions.ConnectTimeout(),
        *((status, error) for status in (500, 429, 401)),
        (502, "no json"),
        {},
    )
    for answer in answers:
        wire(*[answer] * 4)
        with pytest.raises(PaymentProviderUnavailable):
            provider.create_page(*WANTED)

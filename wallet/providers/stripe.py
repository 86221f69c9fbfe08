"""Stripe: Checkout Sessions, by its own library."""

import datetime as dt
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson
import stripe

from ..errors import PaymentEventInvalid, PaymentProviderUnavailable, PaymentRefused, PaymentSignatureInvalid
from ..models.top_ups import EventKind, ReversalStatus, TopUp
from .base import PaymentEvent, PaymentPage, ProviderPayment, ProviderReversal, Refund, day_bounds, moment_of

_SESSION_EVENTS = {
    "checkout.session.completed": EventKind.SUCCEEDED,
    "checkout.session.async_payment_succeeded": EventKind.SUCCEEDED,
    "checkout.session.async_payment_failed": EventKind.FAILED,
    "checkout.session.expired": EventKind.FAILED,
}
# An inquiry takes no money, and neither does its end.
_OPEN_INQUIRIES = ("warning_needs_response", "warning_under_review")
_INQUIRIES = (*_OPEN_INQUIRIES, "warning_closed", "prevented")
# Our status of disputes and refunds that have ended, by Stripe's.
_DISPUTE_STATUSES = {"won": ReversalStatus.PAYMENT_KEPT, "lost": ReversalStatus.PAYMENT_RETURNED}
_REFUND_STATUSES = {
    "succeeded": ReversalStatus.PAYMENT_RETURNED,
    "failed": ReversalStatus.PAYMENT_KEPT,
    "canceled": ReversalStatus.PAYMENT_KEPT,
}
# The kind of our event that ends a dispute or a refund, by Stripe's status of it.
_DISPUTE_EVENTS = {"won": EventKind.DISPUTE_WON, "lost": EventKind.DISPUTE_LOST}
_REFUND_EVENTS = {"succeeded": EventKind.REFUNDED, "failed": EventKind.REFUND_FAILED, "canceled": EventKind.REFUND_FAILED}


class StripeProvider:
    """Takes US dollars by card on Stripe's page."""

    name = "stripe"
    label = "Stripe"
    currencies = frozenset({"USD"})

    def __init__(self, credentials: Mapping[str, str], *, timeout: float) -> None:
        self._webhook_secret = credentials["STRIPE_WEBHOOK_SECRET"]
        http = stripe.RequestsClient(timeout=timeout)
        self._client = stripe.StripeClient(credentials["STRIPE_SECRET_KEY"], http_client=http, max_network_retries=1)

    def create_page(self, top_up: TopUp, return_url: str) -> PaymentPage:
        """Return a Checkout Session, the same one for the same top-up."""
        metadata = {"topUpId": str(top_up.pk)}
        # Typed by the library as a dictionary of literals.
        wanted: Any = {
            "mode": "payment",
            "payment_method_types": ["card"],
            "line_items": [
                {
                    "quantity": 1,
                    "price_data": {
                        "currency": top_up.currency.lower(),
                        "unit_amount": top_up.amount_minor,
                        "product_data": {"name": "Wallet credit"},
                    },
                }
            ],
            # What is paid is what is credited.
            "adaptive_pricing": {"enabled": False},
            "metadata": metadata,
            "payment_intent_data": {"metadata": metadata},
            "success_url": return_url,
            "cancel_url": return_url,
            "expires_at": int(top_up.expires_at.timestamp()),
        }
        with _translated_errors():
            try:
                session = self._client.v1.checkout.sessions.create(wanted, {"idempotency_key": f"top-up-{top_up.pk}"})
            except stripe.InvalidRequestError as error:
                raise PaymentRefused from error
            return PaymentPage(session.id, str(session.url))

    def read_event(self, body: bytes, headers: Mapping[str, str]) -> PaymentEvent | None:
        """Return the event in the body, whose signature Stripe's library checks before it is parsed."""
        try:
            stripe.WebhookSignature.verify_header(
                body, headers.get("Stripe-Signature"), self._webhook_secret, stripe.Webhook.DEFAULT_TOLERANCE
            )
        except (stripe.SignatureVerificationError, ValueError, TypeError) as error:
            raise PaymentSignatureInvalid from error
        try:
            return _event(orjson.loads(body))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise PaymentEventInvalid from error

    def refund(self, *, payment: str, amount_minor: int, reversal_id: uuid.UUID) -> Refund | None:
        with _translated_errors():
            try:
                refund = self._client.v1.refunds.create(
                    {"payment_intent": payment, "amount": amount_minor, "metadata": {"reversalId": str(reversal_id)}},
                    {"idempotency_key": f"reversal-{reversal_id}"},
                )
            except stripe.InvalidRequestError:
                return None
            return Refund(refund.id, done=refund.status == "succeeded")

    def payments_of(self, day: dt.date) -> Iterator[ProviderPayment]:
        """Yield the captured charges of a day, by the ids of their payment intents where they have one."""
        start, end = day_bounds(day)
        with _translated_errors():
            charges = self._client.v1.charges.list({"created": {"gte": start, "lt": end}, "limit": 100})
            for charge in charges.auto_paging_iter():
                if charge.captured:
                    payment = charge.payment_intent if isinstance(charge.payment_intent, str) else charge.id
                    yield ProviderPayment(payment, charge.amount_captured, charge.currency.upper())

    def reversals_of(self, day: dt.date) -> Iterator[ProviderReversal]:
        """Yield the disputes and refunds of payment intents that began on a day."""
        start, end = day_bounds(day)
        created: Any = {"created": {"gte": start, "lt": end}, "limit": 100}
        with _translated_errors():
            for statuses, listed in (
                (_DISPUTE_STATUSES, self._client.v1.disputes.list(created)),
                (_REFUND_STATUSES, self._client.v1.refunds.list(created)),
            ):
                for each in listed.auto_paging_iter():
                    if each.status not in _INQUIRIES and each.payment_intent:
                        status = statuses.get(str(each.status), ReversalStatus.OPEN)
                        yield ProviderReversal(each.id, str(each.payment_intent), each.amount, each.currency.upper(), status)


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except (stripe.StripeError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise PaymentProviderUnavailable(headers={"Retry-After": "60"}) from error


def _event(event: Mapping[str, Any]) -> PaymentEvent | None:
    """Return an event about a session, a dispute or a refund, None for others."""
    subject = event["data"]["object"]
    facts = _session(event["type"], subject) or _reversal(event["type"], subject)
    if facts is None:
        return None
    occurred = moment_of(event["created"])
    return PaymentEvent(event_id=event["id"], occurred_at=occurred, currency=str(subject["currency"] or "").upper(), **facts)


def _session(name: str, session: Mapping[str, Any]) -> dict[str, Any] | None:
    kind = _SESSION_EVENTS.get(name)
    # A completed session whose money is on its way is paid by a later event.
    if kind is None or (kind == EventKind.SUCCEEDED and session["payment_status"] != "paid"):
        return None
    return {
        "kind": kind,
        "page": session["id"],
        # Not from `client_reference_id`, which payers of a payment link choose.
        "top_up_id": (session.get("metadata") or {}).get("topUpId") or "",
        "payment": session.get("payment_intent") or "",
        # A session of another program may have no amount.
        "amount_minor": session["amount_total"] or 0,
    }


def _reversal(name: str, reversal: Mapping[str, Any]) -> dict[str, Any] | None:
    kind = None
    if name in {"charge.dispute.created", "charge.dispute.funds_withdrawn"}:
        kind = None if reversal["status"] in _OPEN_INQUIRIES else EventKind.DISPUTED
    elif name == "charge.dispute.closed":
        kind = _DISPUTE_EVENTS.get(reversal["status"])
    elif name in {"refund.created", "refund.updated", "refund.failed"}:
        kind = _REFUND_EVENTS.get(reversal.get("status") or "")
    if kind is None:
        return None
    return {"kind": kind, "reversal": reversal["id"], "payment": reversal.get("payment_intent") or "", "amount_minor": reversal["amount"]}

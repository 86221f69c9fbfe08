"""Razorpay: payment links, by its own library."""

import datetime as dt
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import orjson
import razorpay
import requests
from razorpay.errors import BadRequestError, GatewayError, ServerError, SignatureVerificationError

from ..errors import PaymentEventInvalid, PaymentProviderUnavailable, PaymentRefused, PaymentSignatureInvalid
from ..models.top_ups import EventKind, ReversalStatus, TopUp
from .base import PaymentEvent, PaymentPage, ProviderPayment, ProviderReversal, Refund, day_bounds, moment_of

_KINDS = {
    "payment_link.paid": EventKind.SUCCEEDED,
    "payment_link.expired": EventKind.FAILED,
    "payment_link.cancelled": EventKind.FAILED,
    "payment.dispute.created": EventKind.DISPUTED,
    "payment.dispute.won": EventKind.DISPUTE_WON,
    "payment.dispute.closed": EventKind.DISPUTE_WON,
    "payment.dispute.lost": EventKind.DISPUTE_LOST,
    "refund.processed": EventKind.REFUNDED,
    "refund.failed": EventKind.REFUND_FAILED,
}
# Inquiries, which take no money.
_INQUIRIES = ("fraud", "retrieval")
# Our status of disputes and refunds that have ended, by Razorpay's.
_DISPUTE_STATUSES = {"won": ReversalStatus.PAYMENT_KEPT, "closed": ReversalStatus.PAYMENT_KEPT, "lost": ReversalStatus.PAYMENT_RETURNED}
_REFUND_STATUSES = {"processed": ReversalStatus.PAYMENT_RETURNED, "failed": ReversalStatus.PAYMENT_KEPT}
PAGE_SIZE = 100


class RazorpayProvider:
    """Takes rupees on Razorpay's page."""

    name = "razorpay"
    label = "Razorpay"
    currencies = frozenset({"INR"})

    def __init__(self, credentials: Mapping[str, str], *, timeout: float) -> None:
        self._webhook_secret = credentials["RAZORPAY_WEBHOOK_SECRET"]
        self._auth = (credentials["RAZORPAY_KEY_ID"], credentials["RAZORPAY_KEY_SECRET"])
        self._timeout = timeout

    def create_page(self, top_up: TopUp, return_url: str) -> PaymentPage:
        """Return a payment link, the same one for the same top-up."""
        with _translated_errors(), self._client() as client:
            # A reference is accepted once, so a link that an earlier call made is found by it.
            known = client.payment_link.all({"reference_id": str(top_up.pk)}, timeout=self._timeout)["payment_links"]
            try:
                link = known[0] if known else client.payment_link.create(self._link(top_up, return_url), timeout=self._timeout)
            except BadRequestError as error:
                raise PaymentRefused from error
        return PaymentPage(link["id"], link["short_url"])

    def read_event(self, body: bytes, headers: Mapping[str, str]) -> PaymentEvent | None:
        """Return the event in the body, whose signature Razorpay's library checks before it is parsed."""
        try:
            razorpay.Utility().verify_webhook_signature(body.decode(), headers.get("X-Razorpay-Signature", ""), self._webhook_secret)
        except (SignatureVerificationError, ValueError, TypeError) as error:
            raise PaymentSignatureInvalid from error
        try:
            return _event(orjson.loads(body))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise PaymentEventInvalid from error

    def refund(self, *, payment: str, amount_minor: int, reversal_id: uuid.UUID) -> Refund | None:
        once = {"X-Refund-Idempotency": str(reversal_id)}
        with _translated_errors(), self._client() as client:
            try:
                refund = client.payment.refund(payment, {"amount": amount_minor}, headers=once, timeout=self._timeout)
            except BadRequestError:
                return None
            return Refund(str(refund["id"]), done=refund["status"] == "processed")

    def payments_of(self, day: dt.date) -> Iterator[ProviderPayment]:
        """Yield the captured payments of a day."""
        with _translated_errors(), self._client() as client:
            for payment in self._listed(client.payment, day):
                if payment["captured"]:
                    yield ProviderPayment(payment["id"], payment["amount"], payment["currency"])

    def reversals_of(self, day: dt.date) -> Iterator[ProviderReversal]:
        with _translated_errors(), self._client() as client:
            for statuses, resource in ((_DISPUTE_STATUSES, client.dispute), (_REFUND_STATUSES, client.refund)):
                for each in self._listed(resource, day):
                    if each.get("phase") not in _INQUIRIES:
                        status = statuses.get(each["status"], ReversalStatus.OPEN)
                        yield ProviderReversal(each["id"], each["payment_id"], each["amount"], each["currency"], status)

    def _listed(self, resource: Any, day: dt.date) -> Iterator[dict[str, Any]]:
        """Yield everything of a day, page by page."""
        start, end = day_bounds(day)
        skip = 0
        while True:
            items = resource.all({"from": start, "to": end - 1, "count": PAGE_SIZE, "skip": skip}, timeout=self._timeout)["items"]
            yield from items
            if len(items) < PAGE_SIZE:
                return
            skip += PAGE_SIZE

    @contextmanager
    def _client(self) -> Iterator[Any]:
        """Return a client of its own for each call: its session is not safe between threads."""
        with _Session() as session:
            yield razorpay.Client(session=session, auth=self._auth)

    @staticmethod
    def _link(top_up: TopUp, return_url: str) -> dict[str, Any]:
        return {
            "amount": top_up.amount_minor,
            "currency": top_up.currency,
            "accept_partial": False,
            "reference_id": str(top_up.pk),
            "description": "Wallet credit",
            "notify": {"sms": False, "email": False},
            "reminder_enable": False,
            "notes": {"topUpId": str(top_up.pk)},
            "callback_url": return_url,
            "callback_method": "get",
            "expire_by": int(top_up.expires_at.timestamp()),
        }


class _Session(requests.Session):
    """Tells permanent refusals (400) from temporary ones, which Razorpay's library reports alike."""

    def request(self, *args: Any, **kwargs: Any) -> requests.Response:
        """Return the response; raise an error for one that asks to wait, or that refuses our key."""
        response = super().request(*args, **kwargs)
        if response.status_code != HTTPStatus.BAD_REQUEST:
            response.raise_for_status()
        return response


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except (BadRequestError, GatewayError, ServerError, requests.RequestException, LookupError, TypeError, ValueError) as error:
        raise PaymentProviderUnavailable(headers={"Retry-After": "60"}) from error


def _event(event: Mapping[str, Any]) -> PaymentEvent | None:
    """Return an event about a payment link, a dispute or a refund, None for others."""
    name = event["event"]
    kind = _KINDS.get(name)
    if kind is None:
        return None
    parts = {name: part["entity"] for name, part in event["payload"].items()}
    if kind in {EventKind.SUCCEEDED, EventKind.FAILED}:
        facts = _link_event(parts)
    else:
        reversal = parts["refund" if name.startswith("refund.") else "dispute"]
        # A payment that was never captured is refunded by itself.
        automatic = name.startswith("refund.") and parts.get("payment", {}).get("captured") is False
        if automatic or reversal.get("phase") in _INQUIRIES:
            return None
        facts = {
            "reversal": reversal["id"],
            "payment": reversal["payment_id"],
            "amount_minor": reversal["amount"],
            "currency": reversal["currency"],
        }
    # The header with the event's id is not signed, so the id is made from what is.
    subject = facts.get("reversal") or facts["page"]
    event_id = f"{name}:{subject}:{event['created_at']}"
    return PaymentEvent(event_id=event_id, kind=kind, occurred_at=moment_of(event["created_at"]), **facts)


def _link_event(parts: Mapping[str, Any]) -> dict[str, Any]:
    link, payment = parts["payment_link"], parts.get("payment", {})
    return {
        "page": link["id"],
        "top_up_id": link.get("reference_id") or "",
        "payment": payment.get("id", ""),
        "amount_minor": link["amount_paid"],
        "currency": link["currency"],
    }

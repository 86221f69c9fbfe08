"""The test provider: a page of our own that moves no money. Its events are signed and read like those of a real one."""

import datetime as dt
import hashlib
import hmac
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac

from ..errors import PaymentEventInvalid, PaymentSignatureInvalid
from ..models import CardReversal, TopUp
from ..models.top_ups import EventKind, ReversalStatus
from .base import PaymentEvent, PaymentPage, ProviderPayment, ProviderReversal, Refund, moment_of

SIGNATURE = "Test-Signature"


class SimulatedProvider:
    """Takes test money in both currencies."""

    name = "test"
    label = "Test provider"
    currencies = frozenset({"INR", "USD"})

    def create_page(self, top_up: TopUp, return_url: str) -> PaymentPage:
        """Return our own page, whose address cannot be guessed."""
        reference = _keyed("page", top_up.pk.bytes)
        return PaymentPage(reference, settings.BASE_URL + reverse("test-payment", args=[reference]))

    def read_event(self, body: bytes, headers: Mapping[str, str]) -> PaymentEvent | None:
        if not hmac.compare_digest(_keyed("event", body).encode(), headers.get(SIGNATURE, "").encode()):
            raise PaymentSignatureInvalid
        try:
            facts = orjson.loads(body)
            return PaymentEvent(**facts | {"kind": EventKind(facts["kind"]), "occurred_at": moment_of(facts["occurred_at"])})
        except (ValueError, LookupError, TypeError) as error:
            raise PaymentEventInvalid from error

    def refund(self, *, payment: str, amount_minor: int, reversal_id: uuid.UUID) -> Refund | None:
        """Return a refund that is done."""
        return Refund(f"refund-{reversal_id}", done=True)

    def payments_of(self, day: dt.date) -> Iterator[ProviderPayment]:
        for top_up in TopUp.objects.filter(provider=self.name, paid_at__date=day):
            yield ProviderPayment(top_up.payment_reference, top_up.amount_minor, top_up.currency)

    def reversals_of(self, day: dt.date) -> Iterator[ProviderReversal]:
        rows = CardReversal.objects.filter(top_up__provider=self.name, opened_at__date=day).exclude(reference="")
        for row in rows.select_related("top_up"):
            payment, currency = row.top_up.payment_reference, row.top_up.currency
            yield ProviderReversal(row.reference, payment, row.amount_minor, currency, ReversalStatus(row.status))


def signed_event(top_up: TopUp, kind: EventKind, **changes: Any) -> tuple[bytes, dict[str, str]]:
    """Return an event about a top-up as the test provider sends it: the body and its headers."""
    facts: dict[str, Any] = {
        "kind": kind.value,
        "event_id": f"{kind}-{top_up.pk}",
        "occurred_at": int(timezone.now().timestamp()),
        "top_up_id": str(top_up.pk),
        "page": top_up.page_reference,
        "payment": payment_id(top_up),
        "amount_minor": top_up.amount_minor,
        "currency": top_up.currency,
    }
    if kind not in {EventKind.SUCCEEDED, EventKind.FAILED}:
        facts |= {"reversal": f"dispute-{top_up.pk}"}
    body = orjson.dumps(facts | changes)
    return body, {SIGNATURE: _keyed("event", body)}


def payment_id(top_up: TopUp) -> str:
    """Return the provider's id of a top-up's payment, which is as short as those of other providers."""
    return f"payment-{top_up.pk.hex[-16:]}"


def _keyed(purpose: str, content: bytes) -> str:
    """Return a keyed hash of the content."""
    return salted_hmac(f"wallet.test-provider.{purpose}", content, algorithm=hashlib.sha256().name).hexdigest()

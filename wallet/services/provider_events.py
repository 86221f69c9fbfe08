"""Events of payment providers: each is recorded once, by the provider's id, and applied in the same transaction.

An event about something that has not been reported yet waits for it: a dispute may be reported before its payment.
"""

from collections.abc import Mapping
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from marketplace.core.database import row_by_id
from marketplace.core.errors import NotFound, Problem

from .. import bounds
from ..models import ProviderEvent, TopUp
from ..models.top_ups import EventKind
from ..providers import PaymentEvent, provider_named
from .reversals import apply_reversal
from .top_ups import credit_top_up, fail_top_up, lock_top_up

# Kinds of events about the payment page. They name our top-up or the page; other events name the payment.
_PAGE_KINDS = {EventKind.SUCCEEDED, EventKind.FAILED}


def receive_event(*, provider: str, body: bytes, headers: Mapping[str, str]) -> None:
    """Apply an event in a request from a provider; one that was received before changes nothing.

    Raises:
        NotFound: no such provider is set up.
        PaymentSignatureInvalid: it is not the provider's.
        PaymentEventInvalid: it lacks something.
    """
    known = provider_named(provider)
    if known is None:
        raise NotFound
    event = known.read_event(body, headers)
    # Other programs may use the same account with the provider.
    if event is not None and (event.kind not in _PAGE_KINDS or _top_up_of(provider, event) is not None):
        _apply_once(provider, event)
        # In a second transaction, which sees what concurrent requests have committed: when a payment and its dispute arrive at the same
        # time, whichever request commits last applies the event that waits.
        _apply_waiting_for(provider, event)


def unmatched_events() -> QuerySet[ProviderEvent]:
    """Return the events that have belonged to none of our payments for `PROVIDER_EVENT_DAYS`."""
    before = timezone.now() - timedelta(days=bounds.PROVIDER_EVENT_DAYS)
    return ProviderEvent.objects.filter(processed_at__isnull=True, top_up__isnull=True, received_at__lte=before)


@transaction.atomic
def _apply_once(provider: str, event: PaymentEvent) -> None:
    facts = {
        "kind": event.kind,
        "payment_reference": event.payment,
        "reversal_reference": event.reversal,
        "amount_minor": event.amount_minor,
        "currency": event.currency,
        "occurred_at": event.occurred_at,
    }
    # A concurrent duplicate waits here for the first.
    row, created = ProviderEvent.objects.get_or_create(provider=provider, event_id=event.event_id, defaults=facts)
    if not created and row.processed_at is not None:
        return
    top_up = _top_up_of(provider, event)
    if top_up is None:
        return
    top_up = lock_top_up(top_up=top_up)
    row.refresh_from_db()
    if row.processed_at is None:
        _apply(row, top_up, event)


@transaction.atomic
def _apply_waiting_for(provider: str, event: PaymentEvent) -> None:
    top_up = _top_up_of(provider, event)
    if top_up is not None:
        apply_waiting(top_up=lock_top_up(top_up=top_up))


def apply_waiting(*, top_up: TopUp) -> None:
    """Apply the events that waited for a top-up, which the caller has locked, in the order in which they happened.

    An event that ends one dispute may make an earlier event applicable that opens another, so it goes on until none can be applied.
    """
    if not top_up.payment_reference:
        return
    waiting = ProviderEvent.objects.filter(provider=top_up.provider, payment_reference=top_up.payment_reference, processed_at__isnull=True)
    applied = True
    while applied:
        applied = False
        for row in waiting.order_by("occurred_at", "id"):
            applied |= _apply(row, top_up, _event_of(row))


def _apply(row: ProviderEvent, top_up: TopUp, event: PaymentEvent) -> bool:
    """Apply an event to the top-up, which is locked, and record the outcome; return False if it must wait."""
    outcome = _change_top_up(top_up, event)
    row.top_up = top_up
    if outcome:
        row.processed_at, row.outcome = timezone.now(), outcome[:200]
    row.save(update_fields=["top_up", "processed_at", "outcome"])
    return bool(outcome)


def _change_top_up(top_up: TopUp, event: PaymentEvent) -> str:
    """Change the top-up as an event says, and return what happened; empty if the event must wait."""
    if event.kind == EventKind.FAILED:
        return fail_top_up(top_up=top_up)
    if event.currency != top_up.currency:
        return "refused: the currency is not that of the top-up"
    if event.kind != EventKind.SUCCEEDED:
        return apply_reversal(top_up=top_up, event=event)
    if not event.payment or event.amount_minor != top_up.amount_minor:
        return "refused: the amount is not what was asked for"
    try:
        # A refused credit is undone, the record of the event is not.
        with transaction.atomic():
            return credit_top_up(top_up=top_up, event=event)
    except Problem as problem:
        return f"refused: {problem.message}"


def _top_up_of(provider: str, event: PaymentEvent) -> TopUp | None:
    """Return the top-up that an event is about: by our id or the page where it has them, else by the payment."""
    top_ups = TopUp.objects.filter(provider=provider)
    if event.kind in _PAGE_KINDS:
        return row_by_id(top_ups, event.top_up_id) or (top_ups.filter(page_reference=event.page).first() if event.page else None)
    return top_ups.filter(payment_reference=event.payment).first() if event.payment else None


def _event_of(row: ProviderEvent) -> PaymentEvent:
    """Return a recorded event as it was read."""
    return PaymentEvent(
        event_id=row.event_id,
        kind=EventKind(row.kind),
        occurred_at=row.occurred_at,
        payment=row.payment_reference,
        reversal=row.reversal_reference,
        amount_minor=row.amount_minor,
        currency=row.currency,
    )

"""A provider's list of a day against the ledger."""

import datetime as dt
from contextlib import nullcontext
from dataclasses import replace
from io import StringIO
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from marketplace.core.ids import new_id
from tests.factories import UserFactory
from wallet.errors import PaymentProviderUnavailable
from wallet.models import CardReversal, ProviderEvent, TopUp
from wallet.models.top_ups import EventKind, ReversalStatus
from wallet.providers import SimulatedProvider
from wallet.providers.base import ProviderPayment, ProviderReversal, Refund
from wallet.services.card_refunds import refund_top_up
from wallet.top_up_differences import provider_differences

from .tampering import unguarded
from .top_up_cases import deliver_event, paid_top_up, requested_top_up

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]


def told(day: dt.date, differences: int = 0) -> str:
    out = StringIO()
    expected = pytest.raises(CommandError, match=f"{differences} differences") if differences else nullcontext()
    with expected:
        call_command("reconcile", provider="test", day=day, stdout=out)
    assert ("agree" in out.getvalue()) is not bool(differences)
    return out.getvalue()


def provider_lists(monkeypatch: pytest.MonkeyPatch, *listed: ProviderPayment | ProviderReversal, kind: str = "payments_of") -> None:
    monkeypatch.setattr(SimulatedProvider, kind, lambda *_: iter(listed))


def day_of(top_up: TopUp) -> dt.date:
    assert top_up.paid_at is not None
    return top_up.paid_at.date()


def test_reconciliation_with_the_provider_passes_for_an_equal_day_and_names_the_differences_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    top_up = paid_top_up()
    told(day_of(top_up))
    deliver_event(requested_top_up(), EventKind.SUCCEEDED, amount_minor=1)
    provider_lists(monkeypatch, ProviderPayment(top_up.payment_reference, 49_999, "INR"), ProviderPayment("unknown", 100, "INR"))
    said = told(day_of(top_up), differences=3)
    assert "unknown" in said
    assert str(top_up.pk) in said
    assert TopUp.objects.filter(status="Pending").count() == 1


def test_reconciliation_with_the_provider_reports_a_payment_of_another_amount_and_a_missing_one_on_its_day_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Payments close to midnight may be in the list of another day, and this test may run close to midnight.
    monkeypatch.setattr("wallet.top_up_differences.MARGIN", dt.timedelta())
    top_up = paid_top_up()
    for amount_minor, currency in ((49_999, "INR"), (50_001, "INR"), (50_000, "USD")):
        provider_lists(monkeypatch, ProviderPayment(top_up.payment_reference, amount_minor, currency))
        told(day_of(top_up), differences=1)
    provider_lists(monkeypatch)
    for days in (-1, 0):
        told(day_of(top_up) + dt.timedelta(days=days), differences=0 if days else 1)
    assert not list(provider_differences(SimulatedProvider(), day_of(top_up) + dt.timedelta(days=1)))


def test_reconciliation_with_the_provider_reports_waiting_events_with_their_reason() -> None:
    paid = deliver_event(paid_top_up(), EventKind.DISPUTED)
    deliver_event(paid, EventKind.DISPUTED, event_id="second", reversal="second", amount_minor=1)
    deliver_event(requested_top_up(), EventKind.DISPUTED)
    said = told(timezone.now().date(), differences=2)
    assert f"for payment {paid.payment_reference} waits: another dispute or refund of the payment has not ended" in said
    assert "waits: the payment was not credited" in said


def test_reconciliation_needs_a_provider_that_is_set_up_and_a_day() -> None:
    # A day that has not begun has no list that could agree.
    for options in ({"provider": "nobody"}, {"day": timezone.now().date()}, {"provider": "test", "day": dt.date.max}):
        with pytest.raises(CommandError):
            call_command("reconcile", **options)


def test_reconciliation_with_a_provider_that_refuses_the_key_says_what_to_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimulatedProvider, "payments_of", Mock(side_effect=PaymentProviderUnavailable))
    with pytest.raises(CommandError, match="refuses the key"):
        call_command("reconcile", provider="test")


def test_reconciliation_with_the_provider_reports_a_dispute_that_differs_from_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    top_up = deliver_event(paid_top_up(), EventKind.DISPUTED)
    reversal = CardReversal.objects.get()
    same = ProviderReversal(reversal.reference, top_up.payment_reference, 50_000, "INR", ReversalStatus.OPEN)
    for other, said in (
        (same, ""),
        (replace(same, reference="unknown"), "nothing of it is in the ledger"),
        (replace(same, amount_minor=1), "in the ledger it is"),
        (replace(same, status=ReversalStatus.PAYMENT_RETURNED), "in the ledger it is"),
        (replace(same, payment="of another program"), ""),
        # A refund that failed.
        (replace(same, reference="unknown", status=ReversalStatus.PAYMENT_KEPT), ""),
    ):
        provider_lists(monkeypatch, same, other, kind="reversals_of")
        assert said in told(reversal.opened_at.date(), differences=1 if said else 0)


def test_reconciliation_with_the_provider_reports_a_refund_that_the_provider_does_not_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wallet.top_up_differences.MARGIN", dt.timedelta())
    refund_top_up(top_up=paid_top_up(), reason="asked for", actor=UserFactory())
    provider_lists(monkeypatch, kind="reversals_of")
    told(CardReversal.objects.get().opened_at.date(), differences=1)


DAY = dt.date(2026, 5, 5)
MIDNIGHT = dt.datetime(2026, 5, 5, tzinfo=dt.UTC)


def differences() -> list[str]:
    return list(provider_differences(SimulatedProvider(), DAY))


def moved(row: Any, **changes: Any) -> Any:
    """Return a row changed past the triggers."""
    with unguarded():
        type(row).objects.filter(pk=row.pk).update(**changes)
    row.refresh_from_db()
    return row


def event(kind: str, provider: str = "test", at: dt.datetime = MIDNIGHT, **fields: Any) -> ProviderEvent:
    facts = {"amount_minor": 1, "currency": "INR", "payment_reference": "p", **fields}
    return ProviderEvent.objects.create(provider=provider, event_id=f"{new_id()}", kind=kind, occurred_at=at, **facts)


@pytest.mark.parametrize(
    ("after", "missed"),
    [
        (dt.timedelta(minutes=-30), 0),
        (dt.timedelta(minutes=59), 0),
        (dt.timedelta(hours=1), 2),
        (dt.timedelta(hours=23, seconds=-1), 2),
        (dt.timedelta(hours=23), 0),
        (dt.timedelta(hours=24, minutes=30), 0),
    ],
    ids=str,
)
def test_payment_or_refund_that_the_provider_does_not_list_is_missed_unless_it_was_close_to_midnight(
    monkeypatch: pytest.MonkeyPatch,
    after: dt.timedelta,
    missed: int,
) -> None:
    monkeypatch.setattr(SimulatedProvider, "refund", lambda *_, **__: Refund("ours", done=False))
    unlisted, listed = (moved(paid_top_up(), paid_at=MIDNIGHT + after) for _ in range(2))
    moved(paid_top_up(), paid_at=MIDNIGHT + after, provider="another")
    for top_up in (unlisted, listed, paid_top_up(), paid_top_up(), disputed := paid_top_up()):
        if top_up == disputed:
            deliver_event(top_up, EventKind.DISPUTED)
        else:
            refund_top_up(top_up=top_up, reason="asked for", actor=UserFactory())
    for reversal in CardReversal.objects.select_related("top_up"):
        moved(reversal, opened_at=MIDNIGHT + after)
    of_another, failed = CardReversal.objects.filter(kind="refund").exclude(top_up__in=[unlisted, listed])
    moved(of_another.top_up, provider="another")
    moved(failed, status="Kept", decided_at=MIDNIGHT, closing_journal=paid_top_up().journal)
    moved(CardReversal.objects.get(top_up=listed), reference="listed")
    reference, payment = "listed", listed.payment_reference
    provider_lists(monkeypatch, ProviderPayment(payment, 50_000, "INR"))
    provider_lists(monkeypatch, ProviderReversal(reference, payment, 50_000, "INR", ReversalStatus.OPEN), kind="reversals_of")
    found = differences()
    assert all(unlisted.payment_reference in sentence for sentence in found)
    assert len(found) == missed


def test_payment_that_another_provider_credited_or_that_was_not_credited_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    moved(paid_top_up(), provider="another", payment_reference="of another")
    moved(requested_top_up(), payment_reference="pending")
    provider_lists(monkeypatch, *(ProviderPayment(payment, 50_000, "INR") for payment in ("of another", "pending")))
    assert differences() == [f"test lists {payment}, ₹500.00; it was not credited" for payment in ("of another", "pending")]


def test_dispute_of_a_payment_to_another_provider_is_neither_missed_nor_taken_for_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = deliver_event(paid_top_up(), EventKind.DISPUTED, reversal="one")
    payment = theirs.payment_reference
    moved(theirs, provider="another")
    provider_lists(monkeypatch, ProviderReversal("one", payment, 50_000, "INR", ReversalStatus.OPEN), kind="reversals_of")
    moved(pending := requested_top_up(), payment_reference=payment)
    assert differences() == []
    TopUp.objects.filter(pk=pending.pk).update(payment_reference="")
    moved(paid_top_up(), payment_reference=payment)
    assert differences() == [f"test lists one of {payment}, ₹500.00, open; nothing of it is in the ledger"]


def test_events_of_the_day_that_were_refused_or_wait_are_differences() -> None:
    top_up = paid_top_up()
    ended: dict[str, Any] = {"processed_at": timezone.now()}
    refused = event("disputed", top_up=top_up, outcome="refused: x", **ended)
    event("disputed", top_up=top_up, outcome="frozen", **ended)
    waiting = event("disputed")
    others: tuple[dict[str, Any], ...] = (
        {"provider": "another"},
        {"at": MIDNIGHT - dt.timedelta(seconds=1)},
        {"at": MIDNIGHT + dt.timedelta(days=1)},
    )
    for other in others:
        event("disputed", top_up=top_up, outcome="refused: x", **ended, **other)
        event("disputed", **other)
    # Neither credited what it paid.
    moved(paid_top_up(), provider="another", payment_reference="p")
    moved(requested_top_up(), payment_reference="p")
    assert differences() == [
        f"event {refused.event_id} of test for top-up {top_up.pk} was refused: x",
        f"event {waiting.event_id} of test for payment p waits: the payment was not credited",
    ]

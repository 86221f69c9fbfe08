"""A provider's list of a day against the ledger."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tests.factories import UserFactory
from wallet.models import CardReversal, TopUp
from wallet.models.top_ups import EventKind, ReversalStatus
from wallet.providers import SimulatedProvider
from wallet.providers.base import ProviderPayment, ProviderReversal
from wallet.services.card_refunds import refund_top_up

from .top_up_cases import deliver_event, paid_top_up, requested_top_up

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]


def told(**options: Any) -> str:
    out = StringIO()
    call_command("reconcile", provider="test", stdout=out, **options)
    return out.getvalue()


def test_reconciliation_with_the_provider_passes_for_an_equal_day_and_names_the_differences_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    top_up = paid_top_up()
    day = top_up.paid_at.date() if top_up.paid_at else timezone.now().date()
    assert "agree" in told(day=day)
    deliver_event(requested_top_up(), EventKind.SUCCEEDED, amount_minor=1)
    listed = [ProviderPayment(top_up.payment_reference, 49_999, "INR"), ProviderPayment("unknown", 100, "INR")]
    monkeypatch.setattr(SimulatedProvider, "payments_of", lambda *_: iter(listed))
    out = StringIO()
    with pytest.raises(CommandError, match="3 differences"):
        call_command("reconcile", provider="test", day=day, stdout=out)
    assert "unknown" in out.getvalue()
    assert str(top_up.pk) in out.getvalue()
    assert TopUp.objects.filter(status="Pending").count() == 1


@pytest.mark.parametrize(("amount_minor", "currency"), [(49_999, "INR"), (50_001, "INR"), (50_000, "USD")])
def test_reconciliation_with_the_provider_reports_a_payment_of_another_amount(
    amount_minor: int, currency: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    top_up = paid_top_up()
    assert top_up.paid_at is not None
    listed = [ProviderPayment(top_up.payment_reference, amount_minor, currency)]
    monkeypatch.setattr(SimulatedProvider, "payments_of", lambda *_: iter(listed))
    with pytest.raises(CommandError, match="1 differences"):
        told(day=top_up.paid_at.date())


def test_reconciliation_with_the_provider_reports_waiting_events_with_their_reason() -> None:
    paid = deliver_event(paid_top_up(), EventKind.DISPUTED)
    deliver_event(paid, EventKind.DISPUTED, event_id="second", reversal="second", amount_minor=1)
    deliver_event(requested_top_up(), EventKind.DISPUTED)
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("reconcile", provider="test", day=timezone.now().date(), stdout=out)
    assert f"for payment {paid.payment_reference} waits: another dispute or refund of the payment has not ended" in out.getvalue()
    assert "waits: the payment was not credited" in out.getvalue()


@pytest.mark.parametrize("days", [-1, 1])
def test_payment_of_another_day_is_not_reported_as_missing(days: int, monkeypatch: pytest.MonkeyPatch) -> None:
    top_up = paid_top_up()
    assert top_up.paid_at is not None
    monkeypatch.setattr(SimulatedProvider, "payments_of", lambda *_: iter([]))
    assert "agree" in told(day=top_up.paid_at.date() + timedelta(days=days))


@pytest.mark.parametrize("options", [{"provider": "nobody"}, {"day": timezone.now().date()}])
def test_reconciliation_needs_a_provider_that_is_set_up_and_a_day(options: dict[str, Any]) -> None:
    with pytest.raises(CommandError):
        call_command("reconcile", **options)


@pytest.mark.parametrize(
    ("changed", "told_of"),
    [
        ({}, ""),
        ({"reference": "unknown"}, "nothing of it is in the ledger"),
        ({"amount_minor": 1}, "in the ledger it is"),
        ({"status": ReversalStatus.PAYMENT_RETURNED}, "in the ledger it is"),
        ({"payment": "of another program"}, ""),
        ({"reference": "unknown", "status": ReversalStatus.PAYMENT_KEPT}, ""),
    ],
    ids=["same", "unknown here", "other amount", "ended there", "payment of another program", "failed refund"],
)
def test_reconciliation_with_the_provider_reports_a_dispute_that_differs_from_the_ledger(
    changed: dict[str, Any], told_of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    top_up = deliver_event(paid_top_up(), EventKind.DISPUTED)
    reversal = CardReversal.objects.get()
    same: dict[str, Any] = {"reference": reversal.reference, "payment": top_up.payment_reference, "amount_minor": 50_000, "currency": "INR"}
    listed = [ProviderReversal(**{**same, "status": ReversalStatus.OPEN})]
    if changed:
        listed = [*listed, ProviderReversal(**{**same, "status": ReversalStatus.OPEN, **changed})]
    monkeypatch.setattr(SimulatedProvider, "reversals_of", lambda *_: iter(listed))
    out = StringIO()
    if not told_of:
        assert "agree" in told(day=reversal.opened_at.date())
        return
    with pytest.raises(CommandError, match="1 differences"):
        call_command("reconcile", provider="test", day=reversal.opened_at.date(), stdout=out)
    assert told_of in out.getvalue()


def test_reconciliation_with_the_provider_reports_a_refund_that_the_provider_does_not_list(monkeypatch: pytest.MonkeyPatch) -> None:
    # Refunds close to midnight may be in the list of another day, and this test may run close to midnight.
    monkeypatch.setattr("wallet.top_up_differences.MARGIN", timedelta())
    refund_top_up(top_up=paid_top_up(), reason="asked for", actor=UserFactory())
    monkeypatch.setattr(SimulatedProvider, "reversals_of", lambda *_: iter([]))
    with pytest.raises(CommandError, match="1 differences"):
        told(day=CardReversal.objects.get().opened_at.date())

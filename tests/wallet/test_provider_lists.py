"""A provider's list of a day against the ledger."""

import datetime as dt
from contextlib import nullcontext
from dataclasses import replace
from io import StringIO
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tests.factories import UserFactory
from wallet.errors import PaymentProviderUnavailable
from wallet.models import CardReversal, TopUp
from wallet.models.top_ups import EventKind, ReversalStatus
from wallet.providers import SimulatedProvider
from wallet.providers.base import ProviderPayment, ProviderReversal
from wallet.services.card_refunds import refund_top_up
from wallet.top_up_differences import provider_differences

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

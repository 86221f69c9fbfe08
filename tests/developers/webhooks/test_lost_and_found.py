"""No event stays behind, whatever happens to its worker, its endpoint or its app meanwhile; and none is told to who may not hear it."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from developers.event_types import EventType
from developers.models import App, WebhookAttempt, WebhookDelivery, WebhookEndpoint
from developers.services.scopes import narrow_scopes
from developers.services.webhooks import delete_endpoint, disable_endpoint, redeliver_event, rotate_endpoint_secret
from developers.webhooks import delivering, publishing
from marketplace.core.scopes import Scope
from marketplace.jobs.models import Job
from marketplace.jobs.queue import claim_job, release_job
from tests.eager import drain
from tests.factories import UserFactory

from .conftest import Listen, Listening, go_on, tell
from .receiver import Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def turns_to_come() -> list[Any]:
    """Return when the jobs that wait will look at an endpoint."""
    return list(Job.objects.filter(status="READY", task_path=delivering.deliver.module_path).values_list("run_after", flat=True))


def during_a_call(monkeypatch: pytest.MonkeyPatch, happens: Any) -> None:
    """Have something happen while the receiver is called."""
    call = delivering._send

    def calling(*args: Any) -> Any:
        outcome = call(*args)
        happens()
        return outcome

    monkeypatch.setattr(delivering, "_send", calling)


def test_event_is_delivered_after_the_lease_of_a_killed_worker_ends(listen: Listen, receiver: Receiver) -> None:
    to = listen()
    until = timezone.now() + timedelta(hours=1)
    WebhookEndpoint.objects.update(leased_until=until)
    for _ in range(3):
        tell()
    drain()
    assert (receiver.calls, turns_to_come()) == ([], [until])
    WebhookEndpoint.objects.update(leased_until=timezone.now())
    Job.objects.update(run_after=timezone.now())
    drain()
    assert len(receiver.calls) == 3
    assert to.fresh.status == "Active"


def test_stopped_worker_finishes_its_call_and_the_next_worker_continues_at_once(
    listen: Listen, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    to, stopped = listen(), threading.Event()
    monkeypatch.setattr(delivering, "interrupted", stopped)
    during_a_call(monkeypatch, stopped.set)
    for _ in range(3):
        publishing.fan_out.call(str(tell().pk))
    Job.objects.all().delete()
    delivering.deliver.call(str(to.endpoint.pk))
    assert len(receiver.calls) == 1
    assert to.fresh.leased_until is None
    stopped.clear()
    monkeypatch.undo()
    drain()
    assert WebhookDelivery.objects.filter(status="Delivered").count() == 3


def test_delivery_job_that_is_released_during_a_call_leaves_no_lease(listen: Listen, receiver: Receiver) -> None:
    to = listen()
    delivering.schedule_delivery(to.endpoint)
    job = claim_job(queue_names=["webhooks"], worker_id="ends")
    assert job is not None
    WebhookEndpoint.objects.update(leased_until=timezone.now() + delivering.LEASE)
    release_job(job)
    assert to.fresh.leased_until is None
    # Another worker has it by now: its lease is its own.
    WebhookEndpoint.objects.update(leased_until=timezone.now() + delivering.LEASE)
    release_job(job)
    assert to.fresh.leased_until is not None


def test_queue_does_not_grow_while_one_delivery_waits_for_hours(failing: Listening, receiver: Receiver) -> None:
    late = timezone.now() + timedelta(hours=10)
    WebhookDelivery.objects.update(next_at=late)
    WebhookEndpoint.objects.update(paused_until=None, next_job_at=None)
    Job.objects.all().delete()
    receiver.status = 200
    for _ in range(4):
        tell()
        drain()
    assert len(receiver.calls) == 5
    assert turns_to_come() == [late]


def test_app_that_lost_its_scopes_gets_neither_waiting_events_nor_redeliveries(listen: Listen, receiver: Receiver) -> None:
    to = listen(EventType.ORDER_COMPLETED)
    for _ in range(2):
        tell(EventType.ORDER_COMPLETED, app_id=to.app.pk)
    drain()
    had, waits = WebhookDelivery.objects.all()
    for delivery in (had, waits):
        WebhookDelivery.objects.filter(pk=delivery.pk).update(ended_at=timezone.now() - timedelta(hours=1))
    WebhookDelivery.objects.filter(pk=waits.pk).update(status="Pending", ended_at=None)
    app = App.objects.get(pk=to.app.pk)
    narrow_scopes(app=app, scopes={Scope.ACCOUNT_READ, Scope.WALLET_SPEND}, reason="Not needed.", actor=UserFactory())
    redeliver_event(delivery=had, actor=to.app.developer)
    drain()
    assert len(receiver.calls) == 2
    assert set(WebhookDelivery.objects.values_list("status", flat=True)) == {"Cancelled"}


def test_endpoint_that_is_deleted_during_a_call_is_no_failure(listen: Listen, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    to = listen()
    during_a_call(monkeypatch, lambda: delete_endpoint(endpoint=to.endpoint, actor=to.app.developer))
    tell()
    jobs = drain()
    assert len(receiver.calls) == 1
    assert {job.status for job in jobs} == {"SUCCESSFUL"}


def test_endpoint_that_is_disabled_during_a_call_is_disabled_once(
    listen: Listen, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.status = 410
    to = listen()
    during_a_call(monkeypatch, lambda: disable_endpoint(endpoint=to.endpoint, reason="Too many calls.", actor=UserFactory()))
    tell()
    drain()
    assert to.fresh.disabled_reason == "Too many calls."
    assert len(mail.outbox) == 1
    assert WebhookAttempt.objects.get().http_status == 410


def test_rotation_helps_where_the_secret_cannot_be_read(listen: Listen, receiver: Receiver, settings: Any) -> None:
    to = listen()
    settings.SECRET_KEY = "another-key-" * 5
    new = rotate_endpoint_secret(endpoint=to.endpoint, overlap=timedelta(days=1), actor=to.app.developer)
    tell()
    drain()
    receiver.calls[0].opened_with(new)


def test_event_that_is_fanned_out_twice_is_delivered_once_and_after_the_pause_of_an_endpoint(listen: Listen, receiver: Receiver) -> None:
    paused, until = listen(), timezone.now() + timedelta(minutes=5)
    WebhookEndpoint.objects.update(paused_until=until, failures=9)
    listen()
    event = tell()
    for _ in range(2):
        publishing.fan_out.call(str(event.pk))
    drain()
    assert (turns_to_come(), len(receiver.calls)) == ([until], 1)
    go_on()
    assert (len(receiver.calls), paused.fresh.status) == (2, "Active")

"""What an endpoint gets, when, and how often."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import connections
from django.utils import timezone
from standardwebhooks import WebhookVerificationError

from developers.event_types import EventType
from developers.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent
from developers.services.apps import suspend_app
from developers.services.webhooks import redeliver_event, rotate_endpoint_secret, send_test_event
from developers.webhooks import delivering
from developers.webhooks.publishing import fan_out, new_event, publish_merged
from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from marketplace.http import outbound
from marketplace.jobs.models import Job
from tests.eager import drain
from tests.factories import UserFactory

from .conftest import Listen, Listening, go_on, tell
from .receiver import Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.database]
ASSET = EventType.ASSET_PUBLISHED
SERIES = sum(delivering.RETRY_DELAYS, timedelta())


def test_event_arrives_signed_as_the_standard_says(listen: Listen, receiver: Receiver) -> None:
    to = listen()
    event = tell()
    drain()
    [call] = receiver.calls
    told = call.opened_with(to.secret)
    assert told == {"type": "asset.published", "timestamp": told["timestamp"], "data": event.data}
    assert datetime.fromisoformat(told["timestamp"]) == event.created_at
    assert call.id == event.webhook_id
    assert (to.delivery.status, to.delivery.attempts) == ("Delivered", 1)
    [attempt] = WebhookAttempt.objects.all()
    assert (attempt.http_status, attempt.response, attempt.error) == (200, "ok", "")
    with pytest.raises(WebhookVerificationError):
        call.opened_with(listen().secret)


def test_event_without_endpoints_enqueues_no_job(listen: Listen, django_assert_num_queries: Any) -> None:
    listen(EventType.ASSET_REMOVED)
    # The event, and whether there is an endpoint.
    with django_assert_num_queries(2):
        tell()
    assert not Job.objects.exists()


def test_failed_delivery_waits_as_the_standard_recommends_and_fails_at_last(failing: Listening, receiver: Receiver) -> None:
    waits = []
    for _ in range(7):
        assert failing.delivery.status == "Pending"
        waits.append((failing.delivery.next_at - WebhookAttempt.objects.latest("at").at).total_seconds())
        go_on()
    assert waits == [5, 300, 1800, 7200, 18000, 36000, 36000]
    go_on()
    assert (failing.delivery.status, failing.delivery.attempts, failing.fresh.status) == ("Failed", 8, "Failing")
    assert [call.id for call in receiver.calls] == [failing.delivery.event.webhook_id] * 8


def test_next_delivery_of_an_endpoint_is_scheduled_once_for_its_due_time(failing: Listening, receiver: Receiver) -> None:
    tell()
    tell()
    drain()
    waiting = Job.objects.filter(status="READY", task_path="developers.webhooks.delivering.deliver")
    paused = failing.fresh.paused_until
    assert paused is not None
    assert [job.run_after for job in waiting] == [max(paused, WebhookDelivery.objects.earliest("next_at").next_at)]
    assert len(receiver.calls) == 1
    receiver.status = 204
    # The endpoint's pause ends before the first one is due.
    WebhookDelivery.objects.filter(attempts=1).update(next_at=timezone.now() + timedelta(hours=1))
    WebhookEndpoint.objects.update(paused_until=None, next_job_at=None)
    Job.objects.update(run_after=timezone.now())
    drain()
    assert len(receiver.calls) == 3
    go_on()
    assert len(receiver.calls) == 4
    assert failing.fresh.status == "Active"
    assert not Job.objects.filter(status="READY").exists()


def test_failing_endpoint_is_paused_and_does_not_delay_others(listen: Listen, receiver: Receiver) -> None:
    dead, alive = listen(url="http://127.0.0.1:9/"), listen()
    for _ in range(3):
        tell()
    drain()
    assert len(receiver.calls) == 3
    assert WebhookAttempt.objects.filter(delivery__endpoint=dead.endpoint).count() == 1
    pauses = []
    for failures in (1, 2, 5, 9, 100):
        WebhookEndpoint.objects.filter(pk=dead.endpoint.pk).update(failures=failures - 1, failing_since=None)
        go_on()
        fresh = dead.fresh
        assert fresh.paused_until is not None
        assert fresh.failing_since is not None
        pauses.append((fresh.paused_until - fresh.failing_since).total_seconds())
    assert pauses == [5, 10, 80, 600, 600]
    assert alive.fresh.status == "Active"


def test_slow_or_failing_endpoint_comes_after_the_others(listen: Listen) -> None:
    slow, fast = listen(), listen()
    WebhookEndpoint.objects.filter(pk=slow.endpoint.pk).update(last_ms=2001)
    event = tell()
    fan_out.call(str(event.pk))
    jobs = Job.objects.filter(queue_name="webhooks").order_by("-priority")
    assert [(job.args_kwargs["args"][0], job.priority) for job in jobs] == [(str(fast.endpoint.pk), 0), (str(slow.endpoint.pk), -20)]


@pytest.mark.parametrize(
    ("status", "asked", "waits"), [(429, "120", 120), (503, "999999", 36_000), (307, "120", 5), (500, "120", 5), (429, "soon", 5)]
)
def test_retry_after_of_the_receiver_is_respected_up_to_a_maximum(
    listen: Listen, receiver: Receiver, status: int, asked: str, waits: int
) -> None:
    receiver.status, receiver.headers = status, {"Retry-After": asked}
    to = listen()
    tell()
    drain()
    assert (to.delivery.next_at - WebhookAttempt.objects.get().at).total_seconds() == waits


def test_endpoint_that_is_gone_is_disabled_at_once(listen: Listen, receiver: Receiver) -> None:
    receiver.status = 410
    to = listen()
    tell()
    tell()
    drain()
    assert (to.fresh.status, len(receiver.calls)) == ("Disabled", 1)
    assert set(WebhookDelivery.objects.values_list("status", flat=True)) == {"Failed"}
    [sent] = mail.outbox
    assert (sent.to, receiver.url in sent.body) == ([to.app.developer.email], True)


def test_endpoint_at_which_nothing_arrives_for_five_days_is_disabled_with_a_mail(failing: Listening, receiver: Receiver) -> None:
    # Of many events, which wait for each other, none has used up its attempts.
    WebhookAttempt.objects.update(at=timezone.now() - SERIES)
    WebhookEndpoint.objects.update(failing_since=timezone.now() - timedelta(days=5) + timedelta(minutes=1))
    go_on()
    assert (failing.fresh.status, mail.outbox) == ("Failing", [])
    WebhookEndpoint.objects.update(failing_since=timezone.now() - timedelta(days=5))
    go_on()
    assert (failing.fresh.status, len(mail.outbox)) == ("Disabled", 1)
    assert AuditEntry.objects.get(action="webhook.disable").actor is None
    tell()
    go_on()
    assert len(receiver.calls) == 3


@pytest.mark.slow
def test_endpoint_is_disabled_by_the_last_attempt_of_an_event_not_by_its_first(failing: Listening) -> None:
    # The event before has failed long ago, and nothing was sent since.
    WebhookEndpoint.objects.update(failing_since=timezone.now() - timedelta(days=30))
    for _ in range(6):
        go_on()
    assert (failing.fresh.status, failing.delivery.attempts, mail.outbox) == ("Failing", 7, [])
    go_on()
    assert (failing.fresh.status, failing.delivery.status, len(mail.outbox)) == ("Disabled", "Failed", 1)


@pytest.mark.parametrize("status", ["Failed", "Cancelled"])
def test_old_event_that_is_sent_again_by_hand_has_all_its_attempts(status: str, failing: Listening, receiver: Receiver) -> None:
    then = timezone.now() - timedelta(days=6)
    WebhookDelivery.objects.update(status=status, ended_at=timezone.now() - timedelta(minutes=1), created_at=then)
    WebhookEndpoint.objects.update(failing_since=then)
    WebhookAttempt.objects.update(at=then)
    if status == "Cancelled":
        # Its app was suspended before the first attempt.
        WebhookAttempt.objects.all().delete()
    redeliver_event(delivery=failing.delivery, actor=failing.app.developer)
    drain()
    assert (failing.fresh.status, failing.delivery.status, failing.delivery.attempts) == ("Failing", "Pending", 1)
    assert [call.id for call in receiver.calls] == [failing.delivery.event.webhook_id] * 2


def test_both_secrets_sign_until_the_old_one_ends(listen: Listen, receiver: Receiver) -> None:
    to = listen()
    new = rotate_endpoint_secret(endpoint=to.endpoint, overlap=timedelta(days=1), actor=to.app.developer)
    assert AuditEntry.objects.get(action="webhook.rotate_secret").data == {"overlap_hours": 24}
    tell()
    drain()
    assert receiver.calls[0].opened_with(new) == receiver.calls[0].opened_with(to.secret)
    WebhookEndpoint.objects.update(old_secret_until=timezone.now())
    tell()
    drain()
    receiver.calls[1].opened_with(new)
    with pytest.raises(WebhookVerificationError):
        receiver.calls[1].opened_with(to.secret)


def test_secret_is_encrypted_at_rest_and_in_no_log(listen: Listen, caplog: pytest.LogCaptureFixture) -> None:
    to = listen()
    rotate_endpoint_secret(endpoint=to.endpoint, overlap=timedelta(days=1), actor=to.app.developer)
    kept = str(WebhookEndpoint.objects.values_list()) + str(list(AuditEntry.objects.values_list()))
    assert to.secret.removeprefix("whsec_") not in kept + caplog.text


def test_webhook_secrets_survive_a_change_of_the_secret_key(listen: Listen, receiver: Receiver, settings: Any) -> None:
    to, earlier = listen(), settings.SECRET_KEY
    settings.SECRET_KEY = "another-key-" * 5
    tell()
    drain()
    assert WebhookAttempt.objects.get().error == "The secret can't be decrypted any more: rotate it."
    with pytest.raises(CommandError, match="cannot be decrypted"):
        call_command("reencrypt_secrets")
    settings.SECRET_KEY_FALLBACKS = [earlier]
    call_command("reencrypt_secrets")
    settings.SECRET_KEY_FALLBACKS = []
    go_on()
    receiver.calls[0].opened_with(to.secret)


@pytest.mark.parametrize("end", ["suspended app", "deactivated account"])
def test_suspended_app_and_deactivated_account_get_no_events(end: str, listen: Listen, receiver: Receiver) -> None:
    to = listen()
    event = tell()
    fan_out.call(str(event.pk))
    if end == "suspended app":
        suspend_app(app=to.app, reason="Too many calls.", actor=UserFactory())
    else:
        User.objects.filter(pk=to.app.developer.pk).update(is_active=False)
    drain()
    tell()
    drain()
    assert (receiver.calls, to.delivery.status) == ([], "Cancelled")


def test_edits_within_moments_send_one_event(listen: Listen) -> None:
    listen()
    subject = uuid.uuid4()
    for _ in range(3):
        publish_merged(new_event(EventType.ASSET_UPDATED, subject=subject, data={}))
    assert WebhookEvent.objects.count() == 1
    WebhookEvent.objects.update(merges_until=timezone.now())
    publish_merged(new_event(EventType.ASSET_UPDATED, subject=subject, data={}))
    assert WebhookEvent.objects.count() == 2


def test_worker_that_is_killed_between_sending_and_noting_sends_again_under_the_same_id(
    listen: Listen, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = listen()
    tell()
    with monkeypatch.context() as killed:
        killed.setattr(delivering, "_record", lambda *_: (_ for _ in ()).throw(SystemExit))
        drain()
    assert to.delivery.status == "Pending"
    go_on()
    assert [call.id for call in receiver.calls] == [to.delivery.event.webhook_id] * 2
    assert to.delivery.status == "Delivered"


def test_response_of_a_webhook_is_logged_shortened_and_without_control_characters(listen: Listen, receiver: Receiver) -> None:
    receiver.answer = b"\x00\x1b[31m" + b"a" * 100_000
    listen()
    tell()
    drain()
    kept = WebhookAttempt.objects.get().response
    assert len(kept) <= 1024
    assert kept.startswith("[31maaa")


def test_delivery_to_a_slow_receiver_times_out(listen: Listen, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivering, "TIMEOUT_SECONDS", 0.2)
    receiver.seconds = 1
    to = listen()
    tell()
    drain()
    attempt = WebhookAttempt.objects.get()
    assert (attempt.http_status, attempt.error) == (None, "It timed out.")
    assert to.delivery.status == "Pending"


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_concurrent_workers_send_a_delivery_once(listen: Listen, receiver: Receiver) -> None:
    to = listen()
    event = tell()
    fan_out.call(str(event.pk))
    receiver.seconds = 0.5

    def work(_number: int) -> None:
        try:
            delivering.deliver.call(str(to.endpoint.pk))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(receiver.calls) == 1
    assert to.delivery.status == "Delivered"
    assert WebhookAttempt.objects.count() == 1


def test_webhook_whose_host_later_resolves_to_an_internal_address_is_not_called(
    settings: Any, listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OUTBOUND_LOOPBACK = False
    connected: list[Any] = []
    monkeypatch.setattr(outbound, "_connect", lambda *a: connected.append(a))
    found = ["93.184.216.34", "10.0.0.1"]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_a, **_k: [(2, 1, 6, "", (address, 0)) for address in found])
    to = listen(url="https://rebound.example/hook")
    tell()
    drain()
    assert connected == []
    assert WebhookAttempt.objects.get().error == "The host name resolves to an address that is not public."
    assert to.fresh.status == "Failing"


def test_ping_is_sent_at_once_even_if_the_endpoint_is_paused(listen: Listen, receiver: Receiver) -> None:
    to = listen(ASSET)
    WebhookEndpoint.objects.update(paused_until=timezone.now() + timedelta(hours=1), failures=9)
    send_test_event(endpoint=to.endpoint, actor=to.app.developer)
    drain()
    assert receiver.bodies[0]["type"] == "ping"
    assert receiver.bodies[0]["data"] == {"endpointId": str(to.endpoint.pk)}
    assert to.fresh.status == "Active"

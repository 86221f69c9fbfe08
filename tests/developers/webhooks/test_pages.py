"""The pages of webhooks: whose they are, what they do, and that a secret is on one answer only."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from developers.errors import TooManyTestEvents
from developers.event_types import EventType
from developers.models import App, WebhookDelivery, WebhookEndpoint, WebhookEvent
from developers.models.apps import AppStatus
from developers.services.webhooks import TRIES_A_MINUTE, create_endpoint, disable_endpoint, send_test_event
from marketplace.core.audit import history_of
from marketplace.core.models import AuditEntry
from tests.admin.pages import text_of
from tests.callers import signed_in
from tests.eager import drain
from tests.factories import AppFactory, UserFactory

from .conftest import Listen
from .receiver import Receiver

pytestmark = pytest.mark.django_db
FORM = {"url": "https://app.example/hook", "description": "", "events": ["asset.published"]}


@pytest.fixture
def delivery(listen: Listen, receiver: Receiver) -> WebhookDelivery:
    """A ping that was delivered a while ago."""
    to = listen()
    sent = send_test_event(endpoint=to.endpoint, actor=to.app.developer)
    drain()
    WebhookDelivery.objects.update(ended_at=timezone.now() - timedelta(hours=1))
    return WebhookDelivery.objects.select_related("endpoint__app__user").get(pk=sent.pk)


def address(name: str, delivery: WebhookDelivery) -> str:
    parts = [delivery.endpoint.app_id, delivery.endpoint_id, delivery.pk]
    count = 1 if name in {"webhooks", "webhook-create"} else 3 if name in {"webhook-delivery", "webhook-redeliver"} else 2
    return reverse(name, args=parts[:count])


def own(delivery: WebhookDelivery) -> Client:
    return signed_in(delivery.endpoint.app.developer)


def test_endpoint_is_not_found_under_another_app_of_the_same_developer(delivery: WebhookDelivery) -> None:
    other, client = AppFactory(user=delivery.endpoint.app.developer), own(delivery)
    for name in ("webhook", "webhook-edit", "webhook-rotate", "webhook-delete", "webhook-delivery"):
        page = address(name, delivery)
        assert client.get(page).status_code == 200, name
        assert client.get(page.replace(str(delivery.endpoint.app_id), str(other.pk))).status_code == 404, name


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"url": "http://app.example/"}, "must begin with https"),
        ({"events": []}, "at least one event"),
        ({"events": ["ping"]}, "valid choice"),
        ({"description": "a\u202eb"}, "text direction characters"),
    ],
)
def test_invalid_webhook_is_refused_with_an_error_in_the_form(changes: dict[str, Any], words: str, settings: Any) -> None:
    settings.OUTBOUND_LOOPBACK = False
    app = AppFactory()
    answer = signed_in(app.user).post(reverse("webhook-create", args=[app.pk]), FORM | changes)
    assert answer.status_code == 400
    assert words in text_of(answer)
    assert not WebhookEndpoint.objects.exists()


def test_app_that_is_not_approved_gets_no_webhook() -> None:
    app = AppFactory(status="Suspended")
    answer = signed_in(app.user).post(reverse("webhook-create", args=[app.pk]), FORM)
    assert "while the app is approved" in text_of(answer)
    assert not WebhookEndpoint.objects.exists()


def test_endpoint_is_changed_rotated_switched_and_deleted(delivery: WebhookDelivery) -> None:
    client, endpoint = own(delivery), delivery.endpoint
    assert client.get(address("webhook-edit", delivery)).status_code == 200
    client.post(address("webhook-edit", delivery), FORM | {"events": ["order.refunded", "asset.removed"]})
    changed = WebhookEndpoint.objects.get()
    assert (changed.url, changed.events) == (FORM["url"], ["asset.removed", "order.refunded"])
    assert "whsec_" in client.post(address("webhook-rotate", delivery), {"overlap": "0"}, follow=True).content.decode()
    rotated = WebhookEndpoint.objects.get()
    assert rotated.encrypted_secret != endpoint.encrypted_secret
    assert (rotated.encrypted_old_secret, rotated.old_secret_until) == ("", None)
    for to, status in (("disabled", "Disabled"), ("enabled", "Active")):
        client.post(address("webhook-switch", delivery), {"to": to})
        assert WebhookEndpoint.objects.get().status == status
        entry = history_of(endpoint)[0]
        assert (entry.to_state, entry.actor) == (to, endpoint.app.developer)
    client.post(address("webhook-delete", delivery))
    assert not WebhookEndpoint.objects.exists()


@pytest.mark.slow
def test_empty_log_of_a_disabled_webhook_does_not_say_that_nothing_was_ever_sent_and_offers_no_ping(delivery: WebhookDelivery) -> None:
    disable_endpoint(endpoint=delivery.endpoint, reason="Broken.", actor=delivery.endpoint.app.developer)
    WebhookDelivery.objects.all().delete()
    page = text_of(own(delivery).get(address("webhook", delivery)))
    assert ("Nothing was sent in the last 30 days." in page, "Nothing has been sent yet" in page, "Send a ping" in page) == (
        True,
        False,
        False,
    )


@pytest.mark.slow
def test_enabled_webhook_of_a_suspended_app_is_said_to_wait_for_its_approval(delivery: WebhookDelivery) -> None:
    disable_endpoint(endpoint=delivery.endpoint, reason="Broken.", actor=delivery.endpoint.app.developer)
    App.objects.update(status=AppStatus.SUSPENDED)
    page = text_of(own(delivery).post(address("webhook-switch", delivery), {"to": "enabled"}, follow=True))
    assert "It gets events from now on, while the app is approved." in page


@pytest.mark.slow
def test_events_and_redeliveries_by_hand_are_rate_limited(delivery: WebhookDelivery, receiver: Receiver) -> None:
    client = own(delivery)
    for words in ["A ping was sent"] * 4 + ["Wait a minute"]:
        assert words in text_of(client.post(address("webhook-test", delivery), follow=True))
    for words in ("being redelivered", "already being delivered"):
        assert words in text_of(client.post(address("webhook-redeliver", delivery), follow=True))
    drain()
    assert "Wait a minute" in text_of(client.post(address("webhook-redeliver", delivery), follow=True))
    assert len(receiver.calls) == 6


def test_pings_to_one_endpoint_do_not_delay_those_to_another(listen: Listen) -> None:
    busy, idle = listen(), listen()
    for _ in range(TRIES_A_MINUTE):
        send_test_event(endpoint=busy.endpoint, actor=busy.app.developer)
    with pytest.raises(TooManyTestEvents):
        send_test_event(endpoint=busy.endpoint, actor=busy.app.developer)
    assert send_test_event(endpoint=idle.endpoint, actor=idle.app.developer) == idle.delivery


def test_disabled_endpoint_is_neither_called_nor_mailed_about_again(delivery: WebhookDelivery) -> None:
    client = own(delivery)
    disable_endpoint(endpoint=delivery.endpoint, reason="Too slow.", actor=UserFactory())
    for name in ("webhook-test", "webhook-redeliver", "webhook-redeliver-failed"):
        assert "enable it first" in text_of(client.post(address(name, delivery), follow=True))
    page = text_of(client.get(address("webhook", delivery)))
    assert "Too slow." in page
    assert "Send a ping" not in page


def test_failed_deliveries_are_redelivered_oldest_first_and_others_are_not(listen: Listen, receiver: Receiver) -> None:
    to, other = listen(), listen()
    client, page = signed_in(to.app.developer), reverse("webhook-redeliver-failed", args=[to.app.pk, to.endpoint.pk])
    events = [WebhookEvent.objects.create(type="ping", data={"number": number}, subject="x", app=to.app) for number in range(4)]
    now = timezone.now()
    for number, status in enumerate(("Failed", "Delivered", "Cancelled", "Failed")):
        # The newest was written first.
        at = now - timedelta(hours=number)
        WebhookDelivery.objects.create(
            event=events[number], endpoint=to.endpoint, status=status, attempts=8, created_at=at, next_at=now, ended_at=now
        )
    foreign = WebhookDelivery.objects.create(event=events[0], endpoint=other.endpoint, status="Failed", ended_at=now)
    assert "being sent again" in text_of(client.post(page, follow=True))
    drain()
    assert [json.loads(call.body)["data"]["number"] for call in receiver.calls] == [3, 0]
    assert [*WebhookDelivery.objects.filter(endpoint=to.endpoint).order_by("event_id").values_list("status", "attempts")] == [
        ("Delivered", 1),
        ("Delivered", 8),
        ("Cancelled", 8),
        ("Delivered", 1),
    ]
    foreign.refresh_from_db()
    assert foreign.status == "Failed"
    assert "Nothing in the log has failed" in text_of(client.post(page, follow=True))
    assert AuditEntry.objects.filter(action="webhook.redeliver_failed").count() == 1


def test_page_of_a_delivery_shows_what_was_sent_and_what_came_back_escaped(delivery: WebhookDelivery, receiver: Receiver) -> None:
    receiver.status, receiver.answer = 500, b"<script>alert(1)</script>"
    client = own(delivery)
    client.post(address("webhook-redeliver", delivery))
    drain()
    page = client.get(address("webhook-delivery", delivery))
    assert b"<script>alert(1)" not in page.content
    for words in ('"type":"ping"', "500", "<script>alert(1)</script>"):
        assert words in text_of(page)


def test_webhook_pages_send_as_many_queries_however_long_the_log(delivery: WebhookDelivery, django_assert_max_num_queries: Any) -> None:
    client, endpoint = own(delivery), delivery.endpoint
    events = [WebhookEvent(type="ping", data={}, subject="x", app=endpoint.app) for _ in range(60)]
    WebhookEvent.objects.bulk_create(events)
    WebhookDelivery.objects.bulk_create([WebhookDelivery(event=event, endpoint=endpoint) for event in events])
    for _ in range(4):
        create_endpoint(app=endpoint.app, url=endpoint.url, events=list(EventType), actor=endpoint.app.developer)
    with django_assert_max_num_queries(9):
        page = client.get(address("webhook", delivery))
    assert "Page 1 of 3" in text_of(page)
    with django_assert_max_num_queries(7):
        assert client.get(address("webhooks", delivery)).content.count(b"127.0.0.1") == 5


def test_old_events_are_removed_but_those_on_their_way_and_a_dry_run_removes_none(
    delivery: WebhookDelivery, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = send_test_event(endpoint=delivery.endpoint, actor=delivery.endpoint.app.developer)
    WebhookEvent.objects.update(created_at=timezone.now() - timedelta(days=31))
    call_command("purge", "webhooks", "--dry-run")
    assert capsys.readouterr().out == "1 deliveries, 1 events would be deleted.\n"
    call_command("purge", "webhooks")
    assert [kept.pk for kept in WebhookDelivery.objects.all()] == [waiting.pk]


def test_audit_log_keeps_where_an_endpoint_is_but_not_its_path_and_query() -> None:
    app = AppFactory()
    client = signed_in(app.user)
    client.post(reverse("webhook-create", args=[app.pk]), FORM | {"url": "https://app.example:8443/hooks/s3cr3t?token=s3cr3t"})
    parts = [app.pk, WebhookEndpoint.objects.get().pk]
    client.post(reverse("webhook-edit", args=parts), FORM | {"url": "https://other.example/s3cr3t?token=s3cr3t"})
    client.post(reverse("webhook-delete", args=parts))
    entries = AuditEntry.objects.filter(subject_type="developers.webhookendpoint").order_by("pk")
    sites = [(entry.action, entry.data["site"]) for entry in entries]
    assert sites == [
        ("webhook.create", "https://app.example:8443"),
        ("webhook.change", "https://other.example"),
        ("webhook.delete", "https://other.example"),
    ]
    assert "s3cr3t" not in str([entry.data for entry in AuditEntry.objects.all()])

"""Webhooks managed with an API key of their app."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from developers.event_types import EventType
from developers.models import ApiKey, App, WebhookDelivery, WebhookEndpoint
from developers.services.webhooks import change_endpoint, create_endpoint, disable_endpoint
from marketplace.core.audit import history_of
from marketplace.core.scopes import Scope
from tests.eager import drain
from tests.factories import AppFactory, UserFactory

from .conftest import go_on, tell
from .receiver import Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

ADDRESS = "/api/v1/webhooks"
EVENTS = ["asset.published", "asset.removed"]


@pytest.fixture
def app(db: None) -> App:
    return AppFactory()


@pytest.fixture
def client(app: App, key_client: Callable[..., APIClient]) -> APIClient:
    return key_client(app=app)


def sent(client: APIClient, method: str, path: str = "", **body: Any) -> Any:
    """Send a call that succeeds; return the answer."""
    answer = getattr(client, method)(ADDRESS + path, body or None, format="json")
    assert answer.status_code == 200, answer.json()
    return answer.json()


def refusal(client: APIClient, method: str, path: str = "", **body: Any) -> tuple[int, str]:
    answer = getattr(client, method)(ADDRESS + path, body or None, format="json")
    return answer.status_code, answer.json()["code"]


def test_created_webhook_gets_events_signed_with_the_secret_of_the_response(client: APIClient, app: App, receiver: Receiver) -> None:
    made = sent(client, "post", url=receiver.url, events=EVENTS)
    tell()
    drain()
    receiver.calls[0].opened_with(made["secret"])
    shown = sent(client, "get", f"/{made['id']}")
    assert "secret" not in shown
    assert (shown["status"], shown["events"]) == ("Active", EVENTS)
    assert shown["lastDeliveredAt"]
    assert sent(client, "get")["items"] == [shown]
    assert [entry.actor for entry in history_of(WebhookEndpoint.objects.get())] == [app.user]


def test_omitted_fields_of_a_changed_webhook_are_kept(client: APIClient) -> None:
    made = sent(client, "post", url="https://hooks.example.com/in", events=EVENTS, description="Staging")
    changed = sent(client, "patch", f"/{made['id']}", url="https://hooks.example.com/new")
    assert changed == {name: value for name, value in made.items() if name != "secret"} | {"url": "https://hooks.example.com/new"}
    assert sent(client, "patch", f"/{made['id']}", **changed) == changed
    assert sent(client, "patch", f"/{made['id']}", description="", events=EVENTS[:1])["events"] == EVENTS[:1]


def test_webhook_is_disabled_and_enabled_and_the_reason_of_staff_is_told(client: APIClient) -> None:
    path = f"/{sent(client, 'post', url='https://hooks.example.com/in', events=EVENTS)['id']}"
    for enabled, status in ((False, "Disabled"), (False, "Disabled"), (True, "Active"), (True, "Active")):
        changed = sent(client, "patch", path, enabled=enabled)
        assert (changed["enabled"], changed["status"]) == (enabled, status)
    disable_endpoint(endpoint=WebhookEndpoint.objects.get(), reason="It answers with pages.", actor=UserFactory())
    assert sent(client, "get", path)["disabledReason"] == "It answers with pages."


def test_webhook_with_an_address_that_is_not_called_is_refused(client: APIClient, settings: Any) -> None:
    settings.OUTBOUND_LOOPBACK = False
    assert refusal(client, "post", url="http://hooks.example.com/in", events=EVENTS) == (422, "webhook_url_refused")
    assert not WebhookEndpoint.objects.exists()
    path = f"/{sent(client, 'post', url='https://hooks.example.com/in', events=EVENTS)['id']}"
    assert refusal(client, "patch", path, url="http://hooks.example.com/in") == (422, "webhook_url_refused")


def test_key_without_the_scope_of_an_event_cannot_have_it_sent(client: APIClient, app: App, key_client: Callable[..., APIClient]) -> None:
    narrow = key_client(app=app)
    ApiKey.objects.filter(pk=ApiKey.objects.latest("id").pk).update(scope=Scope.CATALOG_READ.value)
    wanted: dict[str, Any] = {"url": "https://hooks.example.com/in", "events": ["asset.published", "order.completed"]}
    refused = narrow.post(ADDRESS, wanted, format="json")
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert refused.json()["requiredScope"] == "account:read"
    assert not WebhookEndpoint.objects.exists()
    path = f"/{sent(client, 'post', **wanted)['id']}"
    mine = {"url": "https://hooks.example.com/mine"}
    # With other events too, which would take away those that it may not list.
    for change in (mine, {"events": ["order.completed"]}, {"enabled": True}, mine | {"events": EVENTS}):
        assert refusal(narrow, "patch", path, **change) == (403, "insufficient_scope")
    assert sent(client, "get", path)["url"] == wanted["url"]
    assert sent(narrow, "patch", path, enabled=False)["status"] == "Disabled"


@pytest.mark.parametrize("event", [EventType.SALE_COMPLETED, EventType.LISTING_REVIEWED])
def test_no_key_has_events_of_its_developers_store_sent(client: APIClient, app: App, event: EventType) -> None:
    wanted: dict[str, Any] = {"url": "https://hooks.example.com/in", "events": ["asset.published", event.value]}
    refused = client.post(ADDRESS, wanted, format="json")
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert refused.json()["requiredScope"] == "vendor:manage"
    own = sent(client, "post", url=wanted["url"], events=EVENTS)
    assert refusal(client, "patch", f"/{own['id']}", events=[event.value]) == (403, "insufficient_scope")
    by_hand, _ = create_endpoint(app=app, url=wanted["url"], events=[event], actor=app.developer)
    assert refusal(client, "patch", f"/{by_hand.pk}", url="https://hooks.example.com/mine") == (403, "insufficient_scope")
    assert {row.event for endpoint in app.webhook_endpoints.all() for row in endpoint.subscriptions.all()} == {*EVENTS, event}


def test_key_neither_lists_nor_repeats_deliveries_of_events_that_it_may_not_list(client: APIClient, app: App, receiver: Receiver) -> None:
    endpoint, _ = create_endpoint(app=app, url=receiver.url, events=[EventType.SALE_COMPLETED], actor=app.developer)
    tell(EventType.SALE_COMPLETED, owner_id=app.developer.pk)
    drain()
    path, sale = f"/{endpoint.pk}", WebhookDelivery.objects.get()
    assert sent(client, "get", f"{path}/deliveries")["items"] == []
    # Even when the endpoint has other events by now, for which the key may give it another address.
    change_endpoint(endpoint=endpoint, events=EVENTS, actor=app.developer)
    sent(client, "patch", path, url=f"{receiver.url}/mine")
    assert refusal(client, "post", f"{path}/deliveries/{sale.pk}/redeliver") == (404, "not_found")


def test_delivery_that_waits_when_its_event_is_removed_is_not_sent_to_the_address_that_a_key_chooses_next(
    client: APIClient, app: App, receiver: Receiver
) -> None:
    receiver.status = 500
    endpoint, _ = create_endpoint(app=app, url=receiver.url, events=[EventType.SALE_COMPLETED, *EVENTS], actor=app.developer)
    tell(EventType.SALE_COMPLETED, owner_id=app.developer.pk)
    kept = tell()
    drain()
    change_endpoint(endpoint=endpoint, events=EVENTS, actor=app.developer)
    sent(client, "patch", f"/{endpoint.pk}", url=f"{receiver.url}/mine")
    receiver.status = 200
    del receiver.calls[:]
    go_on()
    assert [call.id for call in receiver.calls] == [kept.webhook_id]
    assert WebhookDelivery.objects.get(event__type=EventType.SALE_COMPLETED).status == "Cancelled"


def test_rotated_secret_signs_and_the_response_tells_until_when_the_old_one_does(client: APIClient, receiver: Receiver) -> None:
    path = f"/{sent(client, 'post', url=receiver.url, events=EVENTS)['id']}/rotate-secret"
    assert sent(client, "post", path, overlapHours=0)["oldSecretExpiresAt"] is None
    for body, hours in (({"overlapHours": 1}, 1), ({}, 24)):
        rotated = sent(client, "post", path, **body)
        remaining = datetime.fromisoformat(rotated["oldSecretExpiresAt"]) - timezone.now()
        assert round(remaining / timedelta(hours=1)) == hours
    tell()
    drain()
    receiver.calls[0].opened_with(rotated["secret"])


@pytest.mark.slow
def test_failed_delivery_is_found_and_delivered_again(client: APIClient, receiver: Receiver) -> None:
    receiver.status = 500
    path = f"/{sent(client, 'post', url=receiver.url, events=EVENTS)['id']}/deliveries"
    tell()
    drain()
    [waiting] = sent(client, "get", f"{path}?status=Pending")["items"]
    assert waiting["nextAttemptAt"]
    assert (waiting["lastHttpStatus"], waiting["eventId"], waiting["attempts"]) == (500, receiver.calls[0].id, 1)
    assert refusal(client, "post", f"{path}/{waiting['id']}/redeliver") == (409, "invalid_transition")
    for _ in range(7):
        go_on()
    [failed] = sent(client, "get", f"{path}?status=Failed")["items"]
    receiver.status = 200
    WebhookEndpoint.objects.get().deliveries.update(ended_at=None)
    assert sent(client, "post", f"{path}/{failed['id']}/redeliver")["status"] == "Pending"
    go_on()
    [delivered] = sent(client, "get", path)["items"]
    assert (delivered["status"], delivered["lastHttpStatus"], delivered["nextAttemptAt"]) == ("Delivered", 200, None)


def test_deliveries_are_paged(client: APIClient, receiver: Receiver) -> None:
    path = f"/{sent(client, 'post', url=receiver.url, events=EVENTS)['id']}/deliveries"
    ids = [tell().webhook_id for _ in range(3)]
    drain()
    page = sent(client, "get", f"{path}?limit=2")
    rest = sent(client, "get", f"{path}?limit=2&cursor={page['nextCursor']}")
    assert [row["eventId"] for row in page["items"] + rest["items"]] == ids[::-1]
    assert rest["nextCursor"] is None
    for row in page["items"]:
        assert row["createdAt"] <= row["lastAttemptAt"]
        shown = {name: row[name] for name in ("type", "status", "attempts", "nextAttemptAt", "lastHttpStatus", "lastError")}
        assert list(shown.values()) == ["asset.published", "Delivered", 1, None, 200, ""]


def test_deleted_webhook_is_gone(client: APIClient) -> None:
    path = f"/{sent(client, 'post', url='https://hooks.example.com/in', events=EVENTS)['id']}"
    sent(client, "delete", path)
    assert refusal(client, "get", path) == (404, "not_found")


def test_webhook_of_another_app_of_the_same_developer_is_not_found(client: APIClient, app: App) -> None:
    other = AppFactory(user=app.user)
    endpoint, _ = create_endpoint(app=other, url="https://hooks.example.com/in", events=EventType, actor=other.developer)
    for method, path in (("get", ""), ("patch", ""), ("delete", ""), ("post", "/rotate-secret"), ("get", "/deliveries")):
        assert refusal(client, method, f"/{endpoint.pk}{path}") == (404, "not_found")
    assert sent(client, "get")["items"] == []


def test_sixth_webhook_is_refused(client: APIClient) -> None:
    for number in range(5):
        sent(client, "post", url=f"https://hooks.example.com/{number}", events=EVENTS)
    assert refusal(client, "post", url="https://hooks.example.com/6", events=EVENTS) == (409, "too_many_webhook_endpoints")

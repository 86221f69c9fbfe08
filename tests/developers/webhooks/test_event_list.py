"""Which app lists which events, and in what order."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from developers.event_types import EventType
from developers.models import EventCounter, WebhookEvent
from developers.webhooks import event_feed as event_list
from marketplace.core.scopes import Scope, format_scopes
from tests.eager import drain
from tests.factories import AppFactory

from .conftest import Listen, tell
from .receiver import Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.database]

KeyClient = Callable[..., APIClient]


def listed(client: APIClient, **query: Any) -> Any:
    answer = client.get("/api/v1/events", query)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def subjects(page: Any) -> list[str]:
    return [event["data"]["assetId"] for event in page["items"]]


def test_app_without_webhooks_lists_what_they_would_get(key_client: KeyClient, listen: Listen, receiver: Receiver) -> None:
    listen(EventType.ASSET_PUBLISHED)
    tell()
    drain()
    [event] = listed(key_client())["items"]
    assert event == {"id": receiver.calls[0].id, **receiver.bodies[0]}


def test_events_of_other_apps_and_developers_are_not_listed(key_client: KeyClient) -> None:
    app = AppFactory()
    other = AppFactory()
    seen = [tell().subject, tell(app_id=app.pk).subject, tell(event_type=EventType.ORDER_REFUNDED, app_id=app.pk).subject]
    hidden = [tell(app_id=other.pk).subject, tell(owner_id=app.user_id).subject, tell(owner_id=other.user_id).subject]
    assert subjects(listed(key_client(app=app))) == seen
    assert subjects(listed(key_client(app=other))) == [seen[0], hidden[0]]


def test_key_from_before_the_grant_of_a_scope_lists_no_orders(key_client: KeyClient) -> None:
    app = AppFactory(granted_scopes=Scope.CATALOG_READ)
    older = key_client(app=app)
    app.granted_scopes = format_scopes({Scope.CATALOG_READ, Scope.ACCOUNT_READ})
    app.save()
    seen = [tell(event_type=EventType.ORDER_COMPLETED, app_id=app.pk).subject, tell().subject]
    assert subjects(listed(older)) == seen[1:]
    assert subjects(listed(key_client(app=app))) == seen


def test_pages_of_events_are_continued_by_their_cursor_or_from_the_latest(key_client: KeyClient) -> None:
    client = key_client()
    first = [tell().subject for _ in range(5)]
    page = listed(client, limit=2)
    assert (subjects(page), page["hasMore"]) == (first[:2], True)
    page = listed(client, limit=3, after=page["nextCursor"])
    assert (subjects(page), page["hasMore"]) == (first[2:], False)
    latest = listed(client, after="latest")
    assert (subjects(listed(client, after=page["nextCursor"])), latest["items"]) == ([], [])
    later = tell().subject
    for cursor in (page["nextCursor"], latest["nextCursor"]):
        assert subjects(listed(client, after=cursor)) == [later]


def test_events_older_than_30_days_are_not_listed(key_client: KeyClient) -> None:
    tell()
    WebhookEvent.objects.update(created_at=timezone.now() - timedelta(days=30))
    kept = tell().subject
    assert subjects(listed(key_client())) == [kept]


def test_edits_are_listed_when_the_time_for_merging_them_is_over(key_client: KeyClient) -> None:
    client = key_client()
    edited = tell(event_type=EventType.ASSET_UPDATED, merge=True).subject
    later = tell().subject
    page = listed(client)
    assert subjects(page) == [later]
    WebhookEvent.objects.filter(merges_until__isnull=False).update(merges_until=timezone.now())
    assert subjects(listed(client, after=page["nextCursor"])) == [edited]


def test_many_new_events_are_listed_a_part_at_a_time(key_client: KeyClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_list, "BATCH", 2)
    client = key_client()
    told_of, found = [tell().subject for _ in range(5)], []
    after: dict[str, str] = {}
    while True:
        page = listed(client, **after)
        found += subjects(page)
        after = {"after": page["nextCursor"]}
        if not page["hasMore"]:
            break
    assert found == told_of


def test_cursor_of_the_future_is_refused(key_client: KeyClient) -> None:
    client = key_client()
    tell()
    cursor = listed(client)["nextCursor"]
    EventCounter.objects.update(last=0)
    assert client.get("/api/v1/events", {"after": cursor}).json()["errors"][0]["code"] == "invalid_cursor"


def test_page_of_events_takes_few_queries(django_assert_max_num_queries: Any) -> None:
    app = AppFactory()
    for _ in range(6):
        tell()
    assert event_list.events_after(None, app=app, scopes=app.scopes, limit=5).has_more
    # Transaction, new ones; the last position, and a page of each audience.
    with django_assert_max_num_queries(7):
        event_list.events_after(None, app=app, scopes=app.scopes, limit=5)

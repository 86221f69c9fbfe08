"""Events of transactions that commit in another order than they were begun in."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import connections, transaction

from developers.models import App, WebhookEvent
from developers.webhooks.event_feed import events_after
from tests.factories import AppFactory
from tests.races import at_once
from tests.waiting import PATIENCE_SECONDS

from .conftest import tell

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


def read_all(app: App, cursor: str | None = None) -> tuple[list[str], str]:
    found: list[str] = []
    while True:
        page = events_after(cursor, app=app, scopes=app.scopes, limit=3)
        found += [event.subject for event in page.events]
        cursor = page.next_cursor
        if not page.has_more:
            return found, cursor


def test_event_of_a_transaction_that_commits_late_is_listed_after_those_that_were_read() -> None:
    app, written, read = AppFactory(), threading.Event(), threading.Event()

    def publish_slowly() -> str:
        try:
            with transaction.atomic():
                event = tell()
                written.set()
                assert read.wait(PATIENCE_SECONDS)
            return event.subject
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(publish_slowly)
        assert written.wait(PATIENCE_SECONDS)
        quick = tell()
        found, cursor = read_all(app)
        read.set()
        late = slow.result()
    assert found == [quick.subject]
    assert read_all(app, cursor)[0] == [late]


def test_readers_among_writers_get_every_event_once_and_in_the_same_order() -> None:
    app = AppFactory()
    done = threading.Event()

    def write() -> None:
        for _ in range(20):
            with transaction.atomic():
                tell()

    def read() -> list[str]:
        found: list[str] = []
        cursor, last = None, False
        try:
            while not last:
                # Read once more after the last commit.
                last = done.is_set()
                new, cursor = read_all(app, cursor)
                found += new
        finally:
            connections.close_all()
        return found

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        at_once(*[write] * 4)
        done.set()
        seen = [reader.result() for reader in readers]
    assert len(seen[0]) == WebhookEvent.objects.count() == 80
    assert set(seen[0]) == set(WebhookEvent.objects.values_list("subject", flat=True))
    assert all(other == seen[0] for other in seen)


def test_reader_does_not_wait_for_a_deletion_of_some_of_the_new_events() -> None:
    app, going, staying = AppFactory(), tell(), tell()
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        WebhookEvent.objects.filter(pk=going.pk).delete()
        [(found, _cursor)] = pool.submit(at_once, partial(read_all, app)).result(PATIENCE_SECONDS)
    assert found == [staying.subject]

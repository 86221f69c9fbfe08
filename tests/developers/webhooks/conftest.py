"""Endpoints that lead to a receiver on this machine."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone

from developers.event_types import EventType
from developers.models import App, WebhookDelivery, WebhookEndpoint, WebhookEvent
from developers.services.webhooks import create_endpoint
from developers.webhooks.publishing import new_event, publish_events, publish_merged
from marketplace.jobs.models import Job
from tests.eager import drain
from tests.factories import AppFactory

from .receiver import Receiver, receiving


@dataclass
class Listening:
    """An endpoint with what it knows."""

    app: App
    endpoint: WebhookEndpoint
    secret: str

    @property
    def fresh(self) -> WebhookEndpoint:
        """The row as it stands."""
        return WebhookEndpoint.objects.get(pk=self.endpoint.pk)

    @property
    def delivery(self) -> WebhookDelivery:
        """The one delivery."""
        return WebhookDelivery.objects.get(endpoint=self.endpoint)


Listen = Callable[..., Listening]


def tell(event_type: EventType = EventType.ASSET_PUBLISHED, *, merge: bool = False, **audience: Any) -> WebhookEvent:
    subject = uuid.uuid4()
    event = new_event(event_type, subject=subject, data={"assetId": str(subject)}, **audience)
    (publish_merged if merge else publish_events)(event)
    return event


def go_on() -> None:
    """Let all the time pass that something waits for, and do what is due then."""
    WebhookDelivery.objects.update(next_at=timezone.now())
    WebhookEndpoint.objects.update(paused_until=None, next_job_at=None)
    Job.objects.update(run_after=timezone.now())
    drain()


@pytest.fixture(autouse=True)
def _jobs_wait_and_loopback_is_open(settings: Any, jobs_wait: None) -> None:
    settings.OUTBOUND_LOOPBACK = True


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture
def listen(db: None, receiver: Receiver) -> Listen:
    """Make an endpoint that leads to the receiver, or elsewhere."""

    def make(*events: EventType, app: App | None = None, url: str = "") -> Listening:
        app = app or AppFactory()
        endpoint, secret = create_endpoint(app=app, url=url or receiver.url, events=events or tuple(EventType), actor=app.developer)
        return Listening(app, endpoint, secret)

    return make


@pytest.fixture
def failing(listen: Listen, receiver: Receiver) -> Listening:
    """An endpoint whose receiver fails, after the first attempt of an event."""
    receiver.status = 500
    to = listen()
    tell()
    drain()
    return to

"""Endpoints that lead to a receiver on this machine."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from developers.models import App, WebhookDelivery, WebhookEndpoint
from developers.services.webhooks import create_endpoint
from developers.webhooks.events import EventType
from tests.eager import EagerBackend
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


@pytest.fixture(autouse=True)
def _jobs_wait_and_loopback_is_open(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EagerBackend, "on", False)
    settings.OUTBOUND_LOOPBACK = True


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver that takes everything."""
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

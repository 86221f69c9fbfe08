"""Traces and reports of crashes: sent where settings say so, and without anybody's secrets."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import sentry_sdk
from django.apps import apps
from django.conf import settings as django_settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test import Client
from opentelemetry.instrumentation.django import DjangoInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sentry_sdk.envelope import Envelope
from sentry_sdk.transport import Transport

from developers.secrets import Prefix, new_secret
from marketplace.monitoring import crashes, tracing

pytestmark = pytest.mark.django_db(transaction=True)
# Up here: the source around a crash is sent.
HIDDEN = "hunter2"
SIGNED = "/api/v1/downloads/s3cr3t:signature?x=alsos3cr3t"


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    before, connect = list(django_settings.MIDDLEWARE), vars(psycopg.Connection)["connect"]
    connection.close()
    tracing.instrument(provider)
    yield exporter
    for instrumentor in (DjangoInstrumentor(), PsycopgInstrumentor(), RedisInstrumentor()):
        instrumentor.uninstrument()
    # The instrumentor leaves the method bound to the class, so that subclasses would open its connections.
    psycopg.Connection.connect = connect  # type: ignore[method-assign]
    connection.close()
    assert before == django_settings.MIDDLEWARE


class Kept(Transport):
    """Keeps what would be sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Any] = []

    def capture_envelope(self, envelope: Envelope) -> None:
        """Keep it."""
        self.sent += [item.payload.json for item in envelope.items if item.type == "event"]


@pytest.fixture
def reports(settings: Any) -> Iterator[Kept]:
    transport = Kept()
    settings.SENTRY_DSN, settings.SENTRY_ENVIRONMENT = "https://key@sentry.example/1", "tests"
    with sentry_sdk.isolation_scope():
        crashes.start(transport)
        yield transport
        sentry_sdk.get_client().close()
        sentry_sdk.init()


def shown(span: ReadableSpan) -> str:
    return json.dumps([span.name, dict(span.attributes or {})], default=str)


def test_request_is_a_span_by_its_route_without_signature_or_query(spans: InMemorySpanExporter) -> None:
    client = Client()
    response = client.get(SIGNED)
    assert response.status_code in {403, 404, 410}
    (span,) = [span for span in spans.get_finished_spans() if span.kind.name == "SERVER"]
    assert span.attributes is not None
    assert span.attributes["marketplace.request_id"] == response["X-Request-Id"]
    assert span.attributes["http.status_code"] == response.status_code
    assert "downloads" in shown(span)
    assert "s3cr3t" not in "".join(map(shown, spans.get_finished_spans()))


# Only psycopg is traced.
@pytest.mark.postgres
def test_statements_are_spans_without_their_values(spans: InMemorySpanExporter) -> None:
    Client().get("/api/v1/assets/hunter2")
    statements = [shown(span) for span in spans.get_finished_spans() if span.kind.name == "CLIENT"]
    assert any("SELECT" in statement for statement in statements)
    assert "hunter2" not in "".join(statement for statement in statements)


def test_health_checks_are_not_traced(spans: InMemorySpanExporter) -> None:
    assert Client().get("/healthz").status_code == 200
    assert spans.get_finished_spans() == ()


@pytest.mark.slow
def test_crash_is_reported_with_its_request_id_and_nobodys_secrets(reports: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = new_secret(Prefix.API_KEY)

    def crash(*_args: Any, **_kwargs: Any) -> None:
        password = HIDDEN
        raise RuntimeError(f"{len(password)} broken for {secret}")

    monkeypatch.setattr("library.api.views.packages.open_link", crash)
    handler = Client(raise_request_exception=False, headers={"Cookie": f"sessionid={HIDDEN}", "X-Api-Key-Like": HIDDEN})
    response = handler.get(SIGNED, headers={"X-Request-Id": "request-12345"})
    assert response.status_code == 500
    assert len(reports.sent) == 1
    (event,) = reports.sent
    assert event["tags"]["request_id"] == "request-12345"
    assert event["exception"]["values"][-1]["type"] == "RuntimeError"
    assert event["environment"] == "tests"
    told = json.dumps(event)
    for word in (HIDDEN, "s3cr3t", secret):
        assert word not in told


@pytest.mark.parametrize("setting", ["OTEL_ENDPOINT", "SENTRY_DSN"])
def test_without_the_libraries_the_start_stops_with_a_sentence(settings: Any, monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    loaded = [name for name in sys.modules if name.split(".")[0] in {"opentelemetry", "sentry_sdk"}]
    for name in (*loaded, tracing.__name__, crashes.__name__):
        monkeypatch.delitem(sys.modules, name)
    for name in ("opentelemetry", "sentry_sdk"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("marketplace.monitoring.apps.watch_queries", lambda: None)
    setattr(settings, setting, "https://k@x.example/1")
    with pytest.raises(ImproperlyConfigured, match=f"{setting} needs libraries that are not installed: uv sync --group observability."):
        apps.get_app_config("monitoring").ready()


def test_tracing_and_crash_reports_are_off_by_default() -> None:
    assert (django_settings.OTEL_ENDPOINT, django_settings.SENTRY_DSN) == ("", "")
    assert not any("opentelemetry" in name for name in django_settings.MIDDLEWARE)

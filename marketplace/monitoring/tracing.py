"""OpenTelemetry traces, if `OTEL_ENDPOINT` is set; imported only then, as its libraries are an optional dependency group."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.django import DjangoInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Span

from .logs import redacted

# After `HealthMiddleware`, whose endpoints are not traced.
POSITION = 1
# Attributes with addresses, by their old and new names.
_ADDRESSES = ("http.url", "http.target", "url.full", "url.path", "url.original")
_QUERY = "url.query"


def start() -> None:
    """Start tracing requests, statements and cache calls."""
    provider = TracerProvider(
        resource=Resource.create({SERVICE_NAME: settings.OTEL_SERVICE_NAME}),
        sampler=ParentBased(TraceIdRatioBased(settings.OTEL_PERCENT / 100)),
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{settings.OTEL_ENDPOINT}/v1/traces")))
    instrument(provider)


def instrument(provider: TracerProvider) -> None:
    """Instrument the libraries; statements are reported without parameters."""
    DjangoInstrumentor().instrument(
        tracer_provider=provider, request_hook=_redact, response_hook=_add_id, middleware_position=POSITION, is_sql_commentor_enabled=False
    )
    PsycopgInstrumentor().instrument(tracer_provider=provider)
    RedisInstrumentor().instrument(tracer_provider=provider)


def _redact(span: Span, _request: HttpRequest) -> None:
    """Remove queries and signatures from addresses."""
    attributes: Any = getattr(span, "attributes", None) or {}
    for name in _ADDRESSES:
        if name in attributes:
            span.set_attribute(name, redacted(urlsplit(str(attributes[name]))._replace(query="").geturl()))
    if _QUERY in attributes:
        span.set_attribute(_QUERY, "")


def _add_id(span: Span, _request: HttpRequest, response: HttpResponseBase) -> None:
    span.set_attribute("marketplace.request_id", response.get("X-Request-Id", ""))

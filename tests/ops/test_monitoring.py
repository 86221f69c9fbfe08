"""Metrics and log lines: what is in them, and what never is."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from rest_framework.test import APIClient

from developers.event_types import EventType
from developers.models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from developers.models.webhooks import DeliveryStatus
from developers.secrets import Prefix
from developers.services.webhooks import create_endpoint
from developers.webhooks.signing import new_secret
from marketplace.core.errors import Problem
from marketplace.monitoring import metrics
from marketplace.monitoring.logs import JsonFormatter, RedactingFilter, RequestIdFilter
from marketplace.monitoring.queries import time_query
from marketplace.web.views import front
from tests import ROOT
from tests.waiting import PATIENCE_SECONDS
from wallet.services.offers import PurchaseRequest
from wallet.services.spending import spend

from ..factories import AppFactory, UserFactory
from ..servers.process import bare_environment, run
from ..shop import funded, on_sale
from .secret_addresses import SECRET_ADDRESSES

pytestmark = pytest.mark.django_db
TOKEN = "metrics-token-of-the-tests"


@pytest.fixture
def measured(settings: Any) -> dict[str, str]:
    """Switch metrics and the access log on; return the headers that show the figures."""
    settings.METRICS_TOKEN, settings.ACCESS_LOG = TOKEN, True
    return {"Authorization": f"Bearer {TOKEN}"}


class Lines(logging.Handler):
    """What a logger wrote, in a format of ours."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.setFormatter(formatter)
        self.addFilter(RequestIdFilter())
        self.addFilter(RedactingFilter())

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line."""
        self.lines.append(self.format(record))


@pytest.fixture
def json_lines() -> Iterator[Lines]:
    handler = Lines(JsonFormatter())
    loggers = [logging.getLogger(name) for name in ("marketplace", "django")]
    for logger in loggers:
        logger.addHandler(handler)
    yield handler
    for logger in loggers:
        logger.removeHandler(handler)


def values(body: bytes) -> dict[str, float]:
    return {
        f"{sample.name}{sorted(sample.labels.items())}": sample.value
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
    }


def test_metrics_are_404_without_the_token_and_where_none_is_set(measured: dict[str, str], client: Client, settings: Any) -> None:
    assert client.get("/metrics", headers=measured).status_code == 200
    for token, given in ((TOKEN, ("", "Bearer wrong", TOKEN, "Bearer é")), ("", ("", "Bearer ", "Bearer"))):
        settings.METRICS_TOKEN = token
        for header in given:
            assert client.get("/metrics", headers={"Authorization": header}).status_code == 404


def test_requests_are_counted_by_route_method_and_status(measured: dict[str, str], key_client: Callable[..., APIClient]) -> None:
    before = values(Client().get("/metrics", headers=measured).content)
    client = Client()
    key_client().get("/api/v1/wallet")
    for asset in ("one", "two"):
        client.get(f"/api/v1/assets/{asset}")
    client.generic("BREW", "/api/v1/assets/one")
    client.get("/no-such-page")
    client.get("/api/v1/categories")
    client.get("/api/v1/categories")
    after = values(client.get("/metrics", headers=measured | {"Host": "10.0.0.1"}).content)

    def gained(name: str, **labels: str) -> float:
        key = f"{name}{sorted(labels.items())}"
        return after.get(key, 0) - before.get(key, 0)

    assert gained("marketplace_requests_total", route="wallet", method="GET", status="200") == 1
    assert gained("marketplace_requests_total", route="asset", method="GET", status="404") == 2
    assert gained("marketplace_requests_total", route="asset", method="OTHER", status="405") == 1
    assert gained("marketplace_requests_total", route="unrouted", method="GET", status="404") == 1
    assert gained("marketplace_requests_total", route="categories", method="GET", status="200") == 2
    assert gained("marketplace_request_seconds_count", route="wallet") == 1
    assert gained("marketplace_catalog_responses_total", cache="hit") == gained("marketplace_catalog_responses_total", cache="miss") == 1


def test_refused_calls_are_counted_by_their_limit(measured: dict[str, str], settings: Any, client: Client) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"anonymous": 1}
    name = "marketplace_rate_limited_total[('policy', 'anonymous')]"
    before = values(client.get("/metrics", headers=measured).content).get(name, 0)
    assert [client.get("/api/v1/categories").status_code for _ in range(3)] == [200, 429, 429]
    assert values(client.get("/metrics", headers=measured).content)[name] == before + 2


def test_purchases_are_counted_by_what_came_of_them(measured: dict[str, str], client: Client) -> None:
    def counted() -> list[float]:
        found = values(client.get("/metrics", headers=measured).content)
        return [
            found.get(f"marketplace_spends_total[('outcome', '{outcome}')]", 0)
            for outcome in ("sold", "repeated", "insufficient_balance", "already_owned")
        ]

    listing, buyer, before = on_sale(), funded(inr=100_000), counted()
    purchase = PurchaseRequest(str(listing.id))
    for key, who in (("a" * 16, buyer), ("a" * 16, buyer), ("b" * 16, buyer), ("c" * 16, UserFactory())):
        with suppress(Problem):
            spend(buyer=who, purchase=purchase, idempotency_key=key)
    assert [now - then for now, then in zip(counted(), before, strict=True)] == [1, 1, 1, 1]


@pytest.mark.database_full
def test_deliveries_of_recent_events_are_counted_by_status(measured: dict[str, str], client: Client) -> None:
    app = AppFactory()
    endpoint, _ = create_endpoint(app=app, url="https://app.example/hook", events=[EventType.ASSET_UPDATED], actor=app.developer)
    hour = timezone.now() - timedelta(hours=2)
    for created_at, status in ((timezone.now(), "Delivered"), (timezone.now(), "Failed"), (hour, "Failed")):
        event = WebhookEvent.objects.create(type="asset.updated", subject="x", data={}, created_at=created_at)
        WebhookDelivery.objects.create(event=event, endpoint=endpoint, status=status)
    WebhookEndpoint.objects.update(failing_since=timezone.now())
    found = values(client.get("/metrics", headers=measured).content)
    shown = {status: found[f"marketplace_webhook_deliveries[('status', '{status}')]"] for status in DeliveryStatus.values}
    assert shown == {"Pending": 0, "Delivered": 1, "Failed": 1, "Cancelled": 0}
    assert found["marketplace_webhook_endpoints_failing[]"] == 1


# A statement that took too long, and a database that is down: each further reader would wait for that.
@pytest.mark.parametrize(("connected", "depth"), [(True, 7), (None, None)])
def test_gauge_that_fails_leaves_the_others_unless_the_database_is_down(
    measured: dict[str, str], client: Client, monkeypatch: pytest.MonkeyPatch, connected: object, depth: int | None
) -> None:
    def broken() -> list[Metric]:
        monkeypatch.setattr(metrics, "connection", Mock(connection=connected))
        raise OperationalError

    monkeypatch.setattr(metrics, "_readers", [broken, lambda: [GaugeMetricFamily("depth", "Waiting.", value=7)]])
    shown = values(client.get("/metrics", headers=measured).content)
    assert (shown.get("depth[]"), shown["marketplace_failed_readings[]"]) == (depth, 1)


@pytest.mark.slow
def test_metrics_of_several_processes_are_summed(tmp_path: Path) -> None:
    code = (
        "from marketplace.monitoring import metrics as m; m.REQUESTS.labels('r', 'GET', '200').inc(2); "
        "m.REQUEST_SECONDS.labels('r').observe(0.2); print(m.exposition().decode())"
    )
    env = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    for _ in range(2):
        shown = subprocess.run([sys.executable, "-c", code], env=env, check=True, timeout=PATIENCE_SECONDS, capture_output=True)
    found = values(shown.stdout.rstrip() + b"\n")
    assert found["marketplace_requests_total[('method', 'GET'), ('route', 'r'), ('status', '200')]"] == 4
    assert found["marketplace_request_seconds_count[('route', 'r')]"] == 2


@pytest.mark.slow
def test_command_leaves_no_figures_that_every_scrape_would_read(tmp_path: Path) -> None:
    given = {"DATA_DIR": str(tmp_path), "METRICS_TOKEN": "m" * 20, "METRICS_DIR": str(tmp_path / "metrics")}
    done = run(sys.executable, ROOT / "manage.py", "check", env=bare_environment() | given)
    assert (done.returncode, list((tmp_path / "metrics").iterdir())) == (0, [])


def test_access_log_line_has_ids_only_of_user_credential_and_route(
    measured: dict[str, str], json_lines: Lines, key_client: Callable[..., APIClient]
) -> None:
    caller: Any = key_client()
    key = caller._credentials["HTTP_X_API_KEY"]
    response = caller.get("/api/v1/library?cursor=secret-cursor", headers={"X-Request-Id": "request-12345"})
    assert response.status_code == 400
    lines = [json.loads(line) for line in json_lines.lines]
    line = next(line for line in lines if line["logger"] == "marketplace.access")
    assert (line["route"], line["method"], line["status"], line["requestId"]) == ("library", "GET", 400, "request-12345")
    assert line["duration_ms"] > 0
    assert {"user", "app", "credential", "time", "level"} <= line.keys()
    written = "\n".join(json_lines.lines)
    assert key not in written
    assert "secret-cursor" not in written


@pytest.mark.parametrize("path", SECRET_ADDRESSES)
def test_secret_address_is_redacted_in_logs(measured: dict[str, str], json_lines: Lines, path: str) -> None:
    Client(raise_request_exception=False).get(path)
    logging.getLogger("django.request").error("broken: %s", path, extra={"request": path})
    try:
        int(path)
    except ValueError:
        logging.getLogger("django.request").exception("broken")
    assert json_lines.lines
    assert "SECRET" not in "\n".join(json_lines.lines)


def test_refusals_are_lines_of_the_access_log_and_nothing_else(measured: dict[str, str], json_lines: Lines, anonymous: APIClient) -> None:
    reviewer = Client()
    reviewer.force_login(UserFactory(is_staff=True))
    root = Client()
    root.force_login(UserFactory(is_staff=True, is_superuser=True))
    too_many = "&".join(f"x{number}=" for number in range(300))
    statuses = [
        anonymous.get("/api/v1/assets?page=none").status_code,
        anonymous.get("/api/v1/wallet").status_code,
        anonymous.get("/api/v1/assets/nothing").status_code,
        reviewer.get("/admin/catalog/listing/").status_code,
        Client().get(f"/browse?{too_many}").status_code,
        Client().get("/nothing").status_code,
        root.get("/admin/catalog/listing/?title=%00").status_code,
        root.get("/admin/catalog/listing/?_to_field=short_description").status_code,
        Client(enforce_csrf_checks=True).post("/account/login/").status_code,
        Client().get("/api/v1/assets", headers={"host": "scanner.example"}).status_code,
    ]
    assert statuses == [400, 401, 404, 403, 400, 404, 400, 400, 403, 400]
    assert [json.loads(line)["logger"] for line in json_lines.lines] == ["marketplace.access"] * len(statuses)


def test_exception_is_logged_in_addition_to_the_access_line(
    measured: dict[str, str], json_lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object, **_options: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(front, "currency_of", broken)
    assert Client(raise_request_exception=False).get("/").status_code == 500
    assert "django.request" in [json.loads(line)["logger"] for line in json_lines.lines]


def test_keys_tokens_and_secrets_of_webhooks_are_redacted_in_logs(json_lines: Lines) -> None:
    for start, prefix in product(("cam_", "cam_test_"), Prefix):
        kind = f"{start}{prefix.split('_')[-2]}"
        logging.getLogger("django.request").error("broken: %s", f"{kind}_{'aB3' * 12}")
        assert json.loads(json_lines.lines[-1])["message"] == f"broken: {kind}_…"
    secret = new_secret()
    logging.getLogger("django.request").error("broken: %s", f"{secret}, {secret[:20]}")
    assert "whsec_…, whsec_…" in json_lines.lines[-1]
    assert secret.removeprefix("whsec_")[:8] not in json_lines.lines[-1]


@pytest.mark.database_full
def test_slow_statement_is_logged_without_its_values_and_no_other(json_lines: Lines, settings: Any) -> None:
    settings.SLOW_QUERY_MS = 10_000
    with connection.execute_wrapper(time_query), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    settings.SLOW_QUERY_MS = 1
    with connection.execute_wrapper(time_query), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_sleep(0.01), %s", ["hunter2"])
        else:
            cursor.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) SELECT max(i), %s FROM n", ["hunter2"]
            )
    (line,) = [json.loads(line) for line in json_lines.lines]
    assert (line["logger"], line["database"], line["level"]) == ("marketplace.slow_queries", "default", "WARNING")
    assert line["duration_ms"] >= 1
    assert "SELECT" in line["statement"]
    assert "hunter2" not in json_lines.lines[0]

"""`/healthz` and `/readyz`, as load balancers call them."""

import threading
import time
from concurrent.futures import wait
from typing import Any

import pytest
from django.test import Client

from marketplace.monitoring import health
from marketplace.monitoring.health import Monitor, NotReady, monitor
from marketplace.settings.environment import redis_caches
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody works in the background of tests.
    monkeypatch.delitem(monitor._probes, "worker")
    monkeypatch.setattr(monitor, "_report", None)


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Monitor:
    """A monitor without probes, which the endpoint asks."""
    own = Monitor()
    monkeypatch.setattr("marketplace.http.monitoring.monitor", own)
    settings.READY_REQUIRES = ["database", "cache"]
    return own


def fail() -> None:
    raise NotReady("password=hunter2 at 10.0.0.5")


def test_dependency_that_is_down_is_named_without_its_error_and_is_503_only_if_it_is_needed(probes: Monitor, client: Client) -> None:
    probes.register("database", lambda: None)
    probes.register("mirror", fail)
    response = client.get("/readyz")
    parts = {"database": {"status": "ok"}, "mirror": {"status": "down"}}
    assert (response.status_code, response.json()) == (200, {"status": "degraded", "down": ["mirror"], "components": parts})
    probes.register("database", fail)
    probes._report = None
    response = client.get("/readyz")
    assert (response.status_code, response["Retry-After"], response["Cache-Control"]) == (503, "5", "no-store")
    assert (response.json()["status"], response.json()["down"]) == ("unavailable", ["database", "mirror"])
    assert b"hunter2" not in response.content


def test_hanging_health_probe_is_reported_as_down_in_time_and_started_once(
    probes: Monitor, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "PROBE_SECONDS", 0.05)
    monkeypatch.setattr(health, "CACHE_SECONDS", 0)
    release, started, ended = threading.Event(), [], threading.Event()

    def hang() -> None:
        started.append(1)
        if not release.is_set():
            release.wait(PATIENCE_SECONDS)
            ended.set()
            raise NotReady("what was found then is old news")

    probes.register("database", hang)
    began = time.monotonic()
    assert [client.get("/readyz").status_code for _ in range(3)] == [503, 503, 503]
    assert time.monotonic() - began < PATIENCE_SECONDS / 2
    assert client.get("/healthz").json() == {"status": "ok"}
    assert started == [1]
    release.set()
    assert ended.wait(PATIENCE_SECONDS)
    monkeypatch.setattr(health, "PROBE_SECONDS", PATIENCE_SECONDS)
    wait(probes._under_way.values())
    assert client.get("/readyz").status_code == 200


def test_concurrent_health_checks_probe_once(probes: Monitor, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(health, "CACHE_SECONDS", PATIENCE_SECONDS)

    def probe() -> None:
        asked.append(1)

    probes.register("database", probe)
    assert {client.get("/readyz").status_code for _ in range(20)} == {200}
    assert asked == [1]


@pytest.mark.database
def test_health_check_answers_any_host_name_without_tls_and_rate_limit(client: Client, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"anonymous": 1}
    for _ in range(3):
        for path in ("/healthz", "/readyz"):
            response = client.get(path, headers={"host": "10.1.2.3:8000"})
            assert response.status_code == 200, response.content
            assert "RateLimit" not in response
    assert response.json()["status"] == "ok"
    assert response.json()["components"].keys() >= {"database", "migrations", "cache", "objects"}


def test_health_check_names_an_unavailable_cache(client: Client, settings: Any) -> None:
    settings.CACHES = redis_caches("redis://127.0.0.1:9/0")
    response = client.get("/readyz")
    assert (response.status_code, response.json()["status"]) == (200, "degraded")
    assert response.json()["down"] == ["cache"]


@pytest.mark.database
def test_migration_that_is_missing_is_not_ready(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_own_migrations", lambda: frozenset({("catalog", "9999_tomorrow")}))
    response = client.get("/readyz")
    assert (response.status_code, response.json()["down"]) == (503, ["migrations"])


def test_post_to_health_and_metrics_is_not_found(client: Client) -> None:
    assert [client.post(path).status_code for path in ("/healthz", "/readyz", "/metrics")] == [404, 404, 404]

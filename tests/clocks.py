"""Fixtures that keep rate-limit windows and days from ending in the middle of a test."""

import datetime as dt
import time
from types import SimpleNamespace

import hypothesis
import pytest
from django.utils import timezone

from marketplace.monitoring import health

from .waiting import PATIENCE_SECONDS

HOUR = 3_600

# No time is too long for an example, and each run of the suite tries the same ones; the long commands try others.
hypothesis.settings.register_profile(
    "suite", deadline=None, derandomize=True, database=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("suite")


@pytest.fixture(autouse=True)
def counters_clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Stop the clock of the counters of calls, `now`: beyond the edge of a minute as many more pass, rightly."""
    clock = SimpleNamespace(now=time.time())
    monkeypatch.setattr("django_ratelimit.core.time", SimpleNamespace(time=lambda: clock.now))
    return clock


@pytest.fixture(autouse=True)
def _nothing_expires_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what counts for a few seconds count for as long as a test may take on a busy machine."""
    monkeypatch.setattr(health, "PROBE_SECONDS", PATIENCE_SECONDS)


@pytest.fixture
def midday(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test begin at noon: no day ends in it."""
    now = timezone.now
    moved = dt.datetime.combine(now().date(), dt.time(12), tzinfo=dt.UTC) - now()
    monkeypatch.setattr(timezone, "now", lambda: now() + moved)

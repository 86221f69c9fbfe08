"""The pages of usage: whose it is, how far back, of which key, and what they cost."""

import datetime as dt
from typing import Any

import pytest
from django.urls import reverse

from developers.models import ApiKey
from developers.services.credentials import issue_api_key
from developers.usage import rows
from developers.usage.chart import chart_of
from developers.usage.rows import CallKey
from developers.usage.selectors import DAY, SPANS, WEEK, usage_of_app, usage_of_credentials
from tests.callers import signed_in
from tests.factories import AppFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def key() -> ApiKey:
    app = AppFactory()
    return issue_api_key(app=app, name="laptop", actor=app.developer)[0]


def call_by(key: ApiKey, *, ago: dt.timedelta = dt.timedelta(), **changes: Any) -> CallKey:
    at = dt.datetime.now(tz=dt.UTC) - ago
    call = CallKey(at.date(), "api_key", key.app_id, key.pk, "GET wallet", "account:read", 200, at.hour)
    return call._replace(**changes)


def page_of(key: ApiKey, **query: Any) -> str:
    return reverse("app-usage", args=[key.app_id], query=query)


@pytest.mark.parametrize("query", [{"last": "1y"}, {"last": ""}, {"of": "x"}, {"of": "\0"}, {"last": "24h", "of": "a" * 5_000}])
def test_usage_page_of_an_unknown_span_or_key_is_not_found(key: ApiKey, query: dict[str, str]) -> None:
    assert signed_in(key.app.developer).get(page_of(key, **query)).status_code == 404


def test_key_of_another_app_and_token_of_another_user_are_not_found(key: ApiKey) -> None:
    other = AppFactory(user=key.app.developer)
    foreign = issue_api_key(app=other, name="other", actor=other.developer)[0]
    client = signed_in(key.app.developer)
    assert client.get(page_of(key, of=foreign.pk)).status_code == 404
    assert client.get(reverse("token-usage", query={"of": foreign.pk})).status_code == 404


def test_usage_of_a_day_is_shown_by_hour_and_of_a_week_by_day(key: ApiKey) -> None:
    hours, days = dt.timedelta(hours=1), dt.timedelta(days=1)
    rows.add_to_rows({call_by(key): 3, call_by(key, ago=23 * hours): 2, call_by(key, ago=24 * hours): 7, call_by(key, ago=6 * days): 5})
    rows.add_to_rows({call_by(key): 1})
    day, week = (usage_of_app(key.app, [key], span=span) for span in (DAY, WEEK))
    assert [counts.total for counts in day.points.values()] == [2, *[0] * 22, 4]
    assert (week.total.total, next(iter(week.points.values())).total) == (18, 5)


def test_calls_beyond_the_rate_limit_are_counted_separately(key: ApiKey) -> None:
    rows.add_to_rows({call_by(key): 9, call_by(key, status=429): 4, call_by(key, status=404): 2, call_by(key, status=503): 1})
    usage = usage_of_credentials([key], span=DAY)
    assert (usage.total.done, usage.total.limited, usage.total.refused, usage.total.failed) == (9, 4, 2, 1)
    chart = chart_of(usage, calls_per_minute=key.calls_per_minute)
    assert chart.reference is not None
    assert chart.reference.value == 3_600
    assert chart_of(usage_of_credentials([key], span=WEEK), calls_per_minute=60).reference is None


def test_usage_page_of_a_key_shows_only_its_calls(key: ApiKey) -> None:
    other = issue_api_key(app=key.app, name="server", actor=key.app.developer)[0]
    rows.add_to_rows({call_by(key): 3, call_by(other, operation="tool search_assets"): 5})
    client = signed_in(key.app.developer)
    for last in SPANS:
        text = client.get(page_of(key, last=last, of=other.pk)).content.decode()
        assert "tool search_assets" in text
        assert "GET wallet" not in text
        assert client.get(page_of(key, last=last)).context["usage"].total.total == 8

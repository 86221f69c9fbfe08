"""Usage: counted in memory, added up in rows, shown to the owner and the admin."""

import datetime as dt
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone
from rest_framework.test import APIClient

from developers import purging
from developers.models import AccessToken, ApiUsage, App, AppScope, HourlyUsage
from developers.models.usage import KEPT_HOURS
from developers.services.credentials import issue_api_key
from developers.usage import buffer, rows
from developers.usage.buffer import UsageBuffer, usage_buffer
from developers.usage.rows import CallKey
from developers.usage.selectors import unused_scopes, usage_of_app
from marketplace.core.access import CredentialKind
from marketplace.core.ids import new_id
from marketplace.core.scopes import Scope
from tests.admin.pages import address, text_of
from tests.callers import personal_token, said, signed_in
from tests.factories import AppFactory, UserFactory
from tests.waiting import PATIENCE_SECONDS, until

from .conditions import hold

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("midday"), pytest.mark.database_full]


def counted() -> dict[tuple[str, int], int]:
    usage_buffer.flush()
    return {(row.operation, row.status): row.calls for row in ApiUsage.objects.all()}


def call_for(app: App | None = None, **changes: Any) -> CallKey:
    call = CallKey(timezone.now().date(), "api_key", app.pk if app else None, new_id(), "GET wallet", "account:read", 200, hour=0)
    return call._replace(**changes)


def test_call_without_a_credential_or_with_a_refused_one_is_not_counted(anonymous: APIClient) -> None:
    anonymous.get("/api/v1/categories")
    anonymous.get("/api/v1/wallet")
    anonymous.get("/api/v1/wallet", headers={"x-api-key": "cam_sk_nonsense"})
    assert counted() == {}


def test_calls_are_counted_by_route_and_outcome_never_by_path(
    key_client: Callable[..., APIClient], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, narrow = key_client(), key_client(scopes=frozenset({Scope.CATALOG_READ}))
    for path in ("wallet", "wallet", "assets/no-such-thing", "assets/another"):
        client.get(f"/api/v1/{path}")
    client.post("/api/v1/wallet/spend", {}, format="json")
    client.delete("/api/v1/wallet")
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"api_key": 1}
    narrow.get("/api/v1/wallet")
    narrow.get("/api/v1/wallet")
    monkeypatch.setattr("wallet.api.views.wallet.wallet_of", lambda _user: 1 / 0)
    assert key_client().get("/api/v1/wallet").status_code == 500
    assert counted() == {
        ("GET wallet", 200): 2,
        ("GET wallet", 403): 1,
        ("GET wallet", 429): 1,
        ("GET wallet", 500): 1,
        ("GET asset", 404): 2,
        ("POST wallet-spend", 400): 1,
        ("DELETE wallet", 405): 1,
    }
    assert set(ApiUsage.objects.values_list("scope", flat=True)) == {"account:read", "wallet:spend", ""}


def test_token_is_counted_under_itself_or_its_app_and_a_page_not_at_all(anonymous: APIClient) -> None:
    held = {kind: hold(kind) for kind in CredentialKind if kind not in {CredentialKind.API_KEY, CredentialKind.MCP}}
    for credential in held.values():
        anonymous.get("/api/v1/wallet", headers=credential.headers)
    usage_buffer.flush()
    app, console = held[CredentialKind.OAUTH].app, held[CredentialKind.CONSOLE].app
    assert app is not None
    assert console is not None
    found = set(ApiUsage.objects.values_list("kind", "app", "credential_id"))
    assert found == {
        ("personal", None, held[CredentialKind.PERSONAL].row.pk),
        ("oauth", app.pk, app.pk),
        ("console", console.pk, console.pk),
    }
    assert list(usage_of_app(console, []).callers) == ["Developer console"]


def test_counters_that_cannot_be_made_do_not_fail_the_request(
    key_client: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("developers.usage.middleware.call_of", lambda *_args: 1 / 0)
    assert key_client().get("/api/v1/wallet").status_code == 200


def test_flush_of_hundreds_of_counters_is_one_statement_which_adds_to_the_rows_that_are_there(django_assert_max_num_queries: Any) -> None:
    app = AppFactory()
    counts = Counter({call_for(app): 1 for _ in range(100)})
    # A savepoint and its release, the apps there are, the rows of days and of hours.
    with django_assert_max_num_queries(5):
        rows.add_to_rows(counts)
    rows.add_to_rows(counts + Counter({call_for(app): 1 for _ in range(501)}))
    assert Counter(ApiUsage.objects.values_list("calls", flat=True)) == {2: 100, 1: 501}


def test_usage_of_a_deleted_app_is_dropped() -> None:
    kept, gone = AppFactory(), AppFactory()
    calls = {call_for(kept): 1, call_for(gone): 1}
    gone.delete()
    rows.add_to_rows(calls)
    assert ApiUsage.objects.get().app == kept


def test_usage_counts_survive_an_unavailable_database(monkeypatch: pytest.MonkeyPatch) -> None:
    counters, call = UsageBuffer(), call_for(AppFactory())
    counters.count(call)
    with monkeypatch.context() as away:

        def refuse(_counts: Any) -> None:
            counters.count(call)
            raise OperationalError

        away.setattr(buffer, "add_to_rows", refuse)
        assert counters.flush() == 0
    assert counters.flush() == 1
    assert ApiUsage.objects.get().calls == 2


def test_buffer_never_grows_beyond_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffer, "MAX_COUNTERS", 10)
    counters, app = UsageBuffer(), AppFactory()
    calls = [call_for(app) for _ in range(15)]
    for call in calls + calls:
        counters.count(call)
    counters.flush()
    assert sorted(ApiUsage.objects.values_list("calls", flat=True)) == [2] * 10


def test_concurrent_threads_count_every_call() -> None:
    counters, call = UsageBuffer(), call_for(AppFactory())

    def count(_number: int) -> None:
        for _ in range(2_000):
            counters.count(call)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(8)))
    counters.flush()
    assert ApiUsage.objects.get().calls == 16_000


def test_thread_flushes_by_itself_and_early_when_much_waits(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    written: Counter[CallKey] = Counter()
    monkeypatch.setattr(buffer, "add_to_rows", written.update)
    monkeypatch.setattr(buffer, "FLUSH_AT", 2)
    counters, call = UsageBuffer(), call_for(None, kind="personal")

    def arrives(calls: int) -> None:
        until(lambda: written.total() == calls, f"{calls} calls in rows")

    def no_thread() -> bool:
        return not any(thread.name == "usage" for thread in threading.enumerate())

    settings.USAGE_FLUSH_SECONDS = 0.05
    for calls in (1, 2):
        counters.count(call)
        arrives(calls)
    settings.USAGE_FLUSH_SECONDS = 0
    until(no_thread, "the end of the thread")

    settings.USAGE_FLUSH_SECONDS = 10 * PATIENCE_SECONDS
    counters = UsageBuffer()
    counters.count(call)
    counters.count(call._replace(status=404))
    arrives(4)
    settings.USAGE_FLUSH_SECONDS = 0
    counters.count(call)
    counters.count(call._replace(status=404))
    until(no_thread, "the end of the thread")


def test_owner_and_admin_see_calls_by_operation_key_and_day() -> None:
    app = AppFactory()
    key, _ = issue_api_key(app=app, name="laptop", actor=app.user)
    call = call_for(app, credential_id=key.pk)
    rows.add_to_rows(
        {call: 5, call._replace(status=404): 2, call._replace(day=timezone.now().date() - dt.timedelta(days=29), status=500): 1}
    )
    rows.add_to_rows({call._replace(day=timezone.now().date() - dt.timedelta(days=30)): 100, call_for(AppFactory()): 100})
    found = usage_of_app(app, [key])
    assert (found.total.done, found.total.refused, found.total.failed) == (5, 2, 1)
    assert len(found.points) == 30
    assert list(found.callers) == [str(key)]
    assert "GET wallet 5 2 0 1 8" in text_of(signed_in(app.user).get(f"/dashboard/apps/{app.pk}"))
    admin = signed_in(UserFactory(is_staff=True, is_superuser=True)).get(address(App, "change", app.pk))
    assert "GET wallet 5" in text_of(admin)


def test_scope_is_flagged_as_unused_when_no_call_needed_it_for_90_days() -> None:
    app = AppFactory(granted_scopes="catalog:read account:read wallet:spend")
    App.objects.filter(pk=app.pk).update(created=timezone.now() - dt.timedelta(days=91))
    app.refresh_from_db()
    call = call_for(app)
    rows.add_to_rows({call: 1, call._replace(scope="wallet:spend", operation="POST wallet-spend", status=403): 9})
    stale = call._replace(scope="catalog:read", operation="GET asset-manifest", day=timezone.now().date() - dt.timedelta(days=91))
    rows.add_to_rows({stale: 1})
    assert unused_scopes(app, app.scope_rows.all()) == [Scope.CATALOG_READ, Scope.WALLET_SPEND]
    AppScope.objects.create(app=app, scope="catalog:read", reason="x", granted=True, decided_at=app.created)
    admin = signed_in(UserFactory(is_staff=True, is_superuser=True))
    assert "No call has required it for 90 days" in text_of(signed_in(app.developer).get(f"/dashboard/apps/{app.pk}"))
    assert "no call in 90 days" in text_of(admin.get(address(App, "change", app.pk)))
    AppScope.objects.create(app=app, scope="wallet:spend", reason="x", granted=True, decided_at=timezone.now())
    assert unused_scopes(app, app.scope_rows.all()) == [Scope.CATALOG_READ]
    assert unused_scopes(AppFactory(), []) == []


@pytest.mark.parametrize(
    ("today", "first"),
    [("2026-03-31", "2025-02-28"), ("2026-01-15", "2024-12-15")],
)
def test_usage_is_kept_for_13_months(today: str, first: str) -> None:
    assert purging.oldest_usage(dt.date.fromisoformat(today)) == dt.date.fromisoformat(first)


def test_purge_removes_what_is_older_and_has_a_dry_run() -> None:
    app, today = AppFactory(), timezone.now().date()
    first, day = purging.oldest_usage(today), dt.timedelta(days=1)
    rows.add_to_rows({call_for(app, day=day_): 1 for day_ in (today, first, first - day, first - 2 * day)})
    # Only the newest calls are counted by the hour.
    assert HourlyUsage.objects.update(hour=timezone.now() - dt.timedelta(hours=KEPT_HOURS, minutes=1)) == 1
    assert said("purge", "usage", dry_run=True) == "2 daily rows, 1 hourly rows would be deleted.\n"
    assert ApiUsage.objects.count() == 4
    said("purge", "usage")
    assert {row.day for row in ApiUsage.objects.all()} == {today, first}
    assert not HourlyUsage.objects.exists()


def test_owner_and_admin_see_the_calls_of_personal_tokens_and_nobody_elses() -> None:
    token, _ = personal_token(UserFactory(), frozenset({Scope.ACCOUNT_READ}))
    rows.add_to_rows({call_for(None, kind="personal", credential_id=token.pk): 37})
    assert "GET wallet 37" in text_of(signed_in(token.user).get("/dashboard/tokens"))
    assert "GET wallet" not in text_of(signed_in(UserFactory()).get("/dashboard/tokens"))
    admin = signed_in(UserFactory(is_staff=True, is_superuser=True))
    assert "GET wallet 37" in text_of(admin.get(address(AccessToken, "change", token.pk)))


def test_paths_and_methods_that_a_caller_makes_up_add_no_rows_of_their_own(key_client: Callable[..., APIClient]) -> None:
    client = key_client()
    for number in range(3):
        client.get(f"/api/v1/made-up-{number}")
        client.get(f"/api/v1/assets/made-up-{number}")
        client.get(f"/api/v1/assets?page={number + 1}")
        client.generic(f"MADE{number}", "/api/v1/wallet")
        client.generic(f"MADE{number}", f"/api/v1/made-up-{number}")
        client.put(f"/api/v1/assets/made-up-{number}")
    usage_buffer.flush()
    operations = set(ApiUsage.objects.values_list("operation", flat=True))
    assert operations <= {"GET unknown", "OTHER unknown", "GET asset", "GET assets", "OTHER wallet", "PUT asset"}
    assert ApiUsage.objects.count() <= 6

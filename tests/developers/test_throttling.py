"""Rate limits: exact counts, own buckets, fields on every answer, a counter store that is down."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from developers.services.credentials import issue_api_key, limit_api_key, revoke_api_key
from marketplace.core.scopes import Scope
from tests.callers import bearer
from tests.factories import AppFactory, UserFactory

from .cases import token_of

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.developers.probe")]

NOW = 1_800_000_000.0


@pytest.fixture(autouse=True)
def clock(counters_clock: Any) -> Any:
    """The clock of the counters, which stands still."""
    counters_clock.now = NOW
    return counters_clock


@pytest.fixture
def few(settings: Any) -> None:
    settings.RATE_LIMITS = {"api_key": 3, "bearer_app": 4, "bearer_user": 6, "anonymous": 5, "failed_credentials": 2}


def statuses(client: APIClient, calls: int, operation: str = "public", **extra: Any) -> list[int]:
    return [client.get(f"/api/v1/{operation}", **extra).status_code for _ in range(calls)]


def test_calls_of_a_full_bucket_are_refused_and_accepted_again_exactly_after_retry_after(
    key_client: Callable[..., APIClient], clock: Any, few: None
) -> None:
    client = key_client()
    assert statuses(client, 3, "keyed") == [200] * 3
    refused = client.get("/api/v1/keyed")
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    wait = int(refused["Retry-After"])
    assert 1 <= wait <= 60
    assert (refused["RateLimit-Policy"], refused["RateLimit"]) == ('"default";q=3;w=60', f'"default";r=0;t={wait}')
    clock.now += wait - 1
    last = client.get("/api/v1/public")
    assert (last.status_code, last["Retry-After"]) == (429, "1")
    clock.now += 1
    assert statuses(client, 4) == [200, 200, 200, 429]


def test_two_full_buckets_are_waited_for_until_the_later_one_is_empty(settings: Any, clock: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"bearer_app": 1, "bearer_user": 1}
    # Each bucket has a window of its own: the ends of some pair differ.
    for _ in range(20):
        client = APIClient(headers=bearer(token_of("oauth")[1]))
        assert statuses(client, 1, "either") == [200]
        refused = client.get("/api/v1/either")
        ends = [int(part.rpartition("t=")[2]) for part in refused["RateLimit"].split(", ")]
        if len(set(ends)) == 2:
            break
    assert (refused.status_code, int(refused["Retry-After"])) == (429, max(ends))
    clock.now += max(ends)
    assert statuses(client, 1, "either") == [200]


def test_every_response_has_the_remaining_calls_in_the_ratelimit_header(key_client: Callable[..., APIClient], few: None) -> None:
    client = key_client(scopes=frozenset({Scope.CATALOG_READ}))
    answers = [client.get("/api/v1/keyed"), client.get("/api/v1/spend"), client.delete("/api/v1/public"), client.get("/api/v1/keyed")]
    assert [answer.status_code for answer in answers] == [200, 403, 405, 429]
    assert [answer["RateLimit"].split(";")[1] for answer in answers] == ["r=2", "r=1", "r=0", "r=0"]
    assert {answer["RateLimit-Policy"] for answer in answers} == {'"default";q=3;w=60'}


def test_each_key_has_its_own_bucket_with_its_own_limit_even_under_one_app(few: None) -> None:
    app = AppFactory()
    keys = [issue_api_key(app=app, name=name, actor=app.user) for name in ("default", "another", "partner")]
    (_, default), (_, another), (partner, secret) = keys
    limit_api_key(key=partner, rate_limit=5, reason="Partner", actor=UserFactory())
    assert statuses(APIClient(headers={"x-api-key": default}), 4) == [200, 200, 200, 429]
    # One with another limit would have a bucket of its own in any case.
    assert statuses(APIClient(headers={"x-api-key": another}), 1) == [200]
    client = APIClient(headers={"x-api-key": secret})
    assert statuses(client, 6) == [200] * 5 + [429]
    assert client.get("/api/v1/public")["RateLimit-Policy"] == '"default";q=5;w=60'


def test_tokens_of_one_user_share_the_limit_of_their_kind(bearer_client: Callable[..., APIClient], few: None) -> None:
    user = UserFactory()
    first, second, other = bearer_client(user), bearer_client(user), bearer_client()
    assert statuses(first, 2) + statuses(second, 3) == [200] * 4 + [429]
    assert statuses(other, 1) == [200]


def test_user_has_a_limit_over_all_apps(bearer_client: Callable[..., APIClient], few: None) -> None:
    user = UserFactory()
    assert statuses(bearer_client(user), 4) == [200] * 4
    app = APIClient(headers=bearer(token_of("oauth", user)[1]))
    answer = app.get("/api/v1/public")
    assert answer["RateLimit-Policy"] == '"app";q=4;w=60, "user";q=6;w=60'
    app_part, user_part = answer["RateLimit"].split(", ")
    assert (app_part.split(";")[:2], user_part.split(";")[:2]) == (['"app"', "r=3"], ['"user"', "r=1"])
    assert statuses(app, 2) == [200, 429]


def test_anonymous_callers_are_counted_by_network_whatever_address_they_forge(anonymous: APIClient, few: None) -> None:
    forged = [anonymous.get("/api/v1/public", HTTP_X_FORWARDED_FOR=f"192.0.2.{n}").status_code for n in range(6)]
    assert forged == [200] * 5 + [429]
    assert anonymous.get("/api/v1/public", REMOTE_ADDR="192.0.2.2")["RateLimit-Policy"] == '"anonymous";q=5;w=60'
    assert statuses(anonymous, 5, REMOTE_ADDR="2001:db8::1") == [200] * 5
    assert statuses(anonymous, 1, REMOTE_ADDR="2001:db8::2") == [429]
    assert statuses(anonymous, 1, REMOTE_ADDR="2001:db8:0:1::1") == [200]


def test_refused_anonymous_calls_count_against_the_rate_limit(anonymous: APIClient, few: None) -> None:
    assert statuses(anonymous, 6, "keyed") == [401] * 5 + [429]


def test_bad_credentials_are_limited_by_address_and_good_ones_go_on(key_client: Callable[..., APIClient], few: None) -> None:
    app = AppFactory()
    key, revoked = issue_api_key(app=app, name="laptop", actor=app.user)
    revoke_api_key(key=key, actor=app.user)
    answers = [APIClient().get("/api/v1/public", HTTP_X_API_KEY=secret) for secret in ("cam_sk_nonsense", revoked, "cam_sk_nonsense")]
    assert [answer.status_code for answer in answers] == [401, 401, 429]
    assert answers[2].json()["code"] == "rate_limited"
    assert int(answers[2]["Retry-After"]) >= 1
    assert answers[2]["RateLimit-Policy"] == '"failed-credentials";q=2;w=60'
    assert statuses(key_client(), 1) == [200]
    elsewhere = APIClient().get("/api/v1/public", HTTP_X_API_KEY="cam_sk_nonsense", REMOTE_ADDR="192.0.2.9")
    assert elsewhere.status_code == 401


@pytest.fixture(params=["tests.developers.broken.CacheDown", "tests.developers.broken.CacheForgets"])
def store_down(request: pytest.FixtureRequest, settings: Any) -> None:
    """The cache does not answer, or answers that it holds nothing."""
    settings.CACHES = {"default": {"BACKEND": request.param}}


def test_reads_pass_without_ratelimit_headers_while_the_store_is_down(
    store_down: None, anonymous: APIClient, key_client: Callable[..., APIClient], bearer_client: Callable[..., APIClient]
) -> None:
    for client, operation in ((anonymous, "public"), (key_client(), "keyed"), (bearer_client(), "vendor"), (bearer_client(), "either")):
        answer = client.get(f"/api/v1/{operation}")
        assert answer.status_code == 200
        assert "RateLimit" not in answer


def test_spending_is_a_503_while_the_rate_limit_store_is_down(
    store_down: None, key_client: Callable[..., APIClient], bearer_client: Callable[..., APIClient]
) -> None:
    for client in (key_client(), bearer_client()):
        answer = client.post("/api/v1/spend")
        assert (answer.status_code, answer.json()["code"]) == (503, "dependency_unavailable")
        assert int(answer["Retry-After"]) >= 1


def test_invalid_credential_is_refused_while_the_rate_limit_store_is_down(store_down: None) -> None:
    answer = APIClient().get("/api/v1/public", HTTP_X_API_KEY="cam_sk_nonsense")
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_credential")


@pytest.mark.urls("marketplace.urls")
def test_openapi_document_is_limited_by_address_too(anonymous: APIClient, settings: Any) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "anonymous": 1}
    first, second = anonymous.get("/api/v1/schema"), anonymous.get("/api/v1/schema")
    assert (first.status_code, first["RateLimit"].split(";")[1]) == (200, "r=0")
    assert (second.status_code, second.json()["code"]) == (429, "rate_limited")

"""Tokens of our own pages: how a page gets one, what it is good for, and what ends it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from developers import bounds
from developers.authentication import principal_of_bearer, principal_of_key
from developers.models import FirstPartyToken
from developers.selectors import needs_spending_limit
from developers.services.credentials import issue_api_key
from developers.services.first_party import PAGE_SCOPES, issue_console_token, issue_page_token
from marketplace.accounts.models import User
from marketplace.accounts.services import deactivate_user, reactivate_user
from marketplace.core.access import CredentialKind
from marketplace.core.errors import NotFound
from marketplace.core.scopes import APP_SCOPES, Scope
from tests.callers import bearer, signed_in
from tests.factories import PASSWORD, AppFactory, UserFactory

from .cases import console_token, page_token, session_of

pytestmark = pytest.mark.django_db
ADDRESS = "/dashboard/api-token"

Queries = Callable[[int], Any]


def ask(browser: Client, **wanted: object) -> Any:
    return browser.post(ADDRESS, wanted)


def refused(response: Any) -> tuple[int, str]:
    assert response["Content-Type"] == "application/problem+json"
    return response.status_code, response.json()["code"]


def wallet(headers: dict[str, str]) -> int:
    return int(APIClient(headers=headers).get("/api/v1/wallet").status_code)


def test_other_methods_at_the_first_party_tokens_are_a_405_problem() -> None:
    answer = signed_in(UserFactory()).get(ADDRESS)
    assert (refused(answer), answer["Allow"]) == ((405, "method_not_allowed"), "POST")


@pytest.mark.parametrize(
    ("wanted", "refusal"),
    [
        ({}, (400, "scope_not_available")),
        ({"scopes": "account:read wallet:spend"}, (400, "scope_not_available")),
        ({"scopes": "account:reed"}, (400, "invalid_input")),
        ({"scopes": "a" * 300}, (400, "invalid_input")),
        ({"app": "nonsense"}, (400, "invalid_input")),
        ({"app": "00000000-0000-0000-0000-000000000000"}, (404, "not_found")),
    ],
)
def test_first_party_token_with_unavailable_scopes_is_refused(wanted: dict[str, str], refusal: tuple[int, str]) -> None:
    assert refused(ask(signed_in(UserFactory()), **wanted)) == refusal
    assert not FirstPartyToken.objects.exists()


def test_console_token_for_the_app_of_someone_else_is_not_found() -> None:
    app = AppFactory()
    assert refused(ask(signed_in(UserFactory()), app=app.pk)) == (404, "not_found")
    with pytest.raises(NotFound):
        issue_console_token(session_key="x" * 32, app=app, actor=UserFactory())


@pytest.mark.parametrize(("status", "granted"), [("Suspended", "account:read"), ("Approved", "")])
def test_console_token_for_an_app_that_is_not_approved_or_has_no_scopes_is_refused(status: str, granted: str) -> None:
    app = AppFactory(status=status, granted_scopes=granted)
    assert refused(ask(signed_in(app.developer), app=app.pk)) == (409, "app_not_approved")


def test_first_party_token_has_the_requested_scopes_and_its_response_is_not_cached() -> None:
    user = UserFactory()
    answer = ask(signed_in(user), scopes="vendor:manage account:read")
    assert "no-store" in answer["Cache-Control"]
    body = answer.json()
    assert (body["header"], body["seconds"], body["scopes"]) == ("Authorization", 900, ["account:read", "vendor:manage"])
    assert wallet(bearer(body["token"])) == 200
    assert refused(APIClient(headers=bearer(body["token"])).get("/api/v1/library")) == (403, "insufficient_scope")


def test_console_calls_with_the_grant_of_the_app_where_its_key_would_be() -> None:
    app = AppFactory(granted_scopes="catalog:read account:read")
    body = ask(signed_in(app.developer), app=app.pk).json()
    assert (body["header"], body["scopes"]) == ("X-Api-Key", ["catalog:read", "account:read"])
    assert wallet({"x-api-key": body["token"]}) == 200


def test_token_is_one_query_and_lives_a_quarter_of_an_hour(django_assert_num_queries: Queries) -> None:
    app = AppFactory()
    for (token, secret), read in ((page_token(app.developer), principal_of_bearer), (console_token(app), principal_of_key)):
        assert timedelta(minutes=14) < token.expires_at - timezone.now() <= timedelta(minutes=15)
        with django_assert_num_queries(1):
            principal = read(f"Bearer {secret}" if read is principal_of_bearer else secret)
        assert (principal.user, principal.credential, principal.app) == (app.developer, token, token.app)


def sign_out(browser: Client, _user: User) -> None:
    browser.post("/account/logout/")


def change_password_elsewhere(_browser: Client, user: User) -> None:
    answers = {"oldpassword": PASSWORD} | dict.fromkeys(("password1", "password2"), "a new battery of horses")
    assert signed_in(user).post("/account/password/change/", answers).status_code == 302


def session_ends(_browser: Client, _user: User) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("end", [sign_out, change_password_elsewhere, session_ends])
def test_first_party_token_ends_with_its_session_at_the_next_call(end: Callable[[Client, User], None]) -> None:
    app = AppFactory()
    browser = signed_in(app.developer)
    own, of_app = ask(browser, scopes="account:read").json()["token"], ask(browser, app=app.pk).json()["token"]
    elsewhere = ask(signed_in(app.developer), scopes="account:read").json()["token"]
    assert (wallet(bearer(own)), wallet({"x-api-key": of_app})) == (200, 200)
    end(browser, app.developer)
    assert (wallet(bearer(own)), wallet({"x-api-key": of_app})) == (401, 401)
    # Signing out ends one session, all else every one.
    assert wallet(bearer(elsewhere)) == (200 if end is sign_out else 401)


def test_first_party_token_of_a_deactivated_account_stays_invalid_after_its_reactivation() -> None:
    user, admin = UserFactory(), UserFactory(is_staff=True, is_superuser=True)
    secret = page_token(user)[1]
    deactivate_user(user=user, reason="Spam", actor=admin)
    assert wallet(bearer(secret)) == 401
    reactivate_user(user=user, reason="It was not", actor=admin)
    assert wallet(bearer(secret)) == 401


def test_first_party_token_of_a_session_ended_by_a_new_password_is_invalid() -> None:
    user = UserFactory()
    stale = User.objects.get(pk=user.pk)
    key = session_of(signed_in(user))
    user.set_password("something else entirely")
    user.save()
    _, secret = issue_page_token(session_key=key, scopes=PAGE_SCOPES, actor=stale)
    assert wallet(bearer(secret)) == 401


def test_new_first_party_token_replaces_the_oldest_and_deletes_expired_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_FIRST_PARTY_TOKENS", 3)
    user = UserFactory()
    other = page_token(UserFactory())[1]
    secrets = [page_token(user)[1] for _ in range(5)]
    assert [wallet(bearer(secret)) for secret in secrets] == [401, 401, 200, 200, 200]
    FirstPartyToken.objects.filter(user=user).update(expires_at=timezone.now())
    page_token(user)
    assert FirstPartyToken.objects.filter(user=user).count() == 1
    assert wallet(bearer(other)) == 200


def test_console_spends_within_the_owners_limits_only_and_a_page_not_at_all() -> None:
    app = AppFactory()
    console, page = principal_of_key(console_token(app)[1]), principal_of_bearer(f"Bearer {page_token(app.developer)[1]}")
    assert (console.kind, console.scopes) == (CredentialKind.CONSOLE, APP_SCOPES)
    assert Scope.WALLET_SPEND not in page.scopes
    assert needs_spending_limit(console)
    assert needs_spending_limit(page)
    key = principal_of_key(issue_api_key(app=app, name="laptop", actor=app.developer)[1])
    assert not needs_spending_limit(key)


def test_console_shares_the_bucket_of_the_app_and_leaves_those_of_keys_alone(settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"bearer_app": 2}
    app = AppFactory()
    calls = [wallet({"x-api-key": console_token(app)[1]}) for _ in range(3)]
    assert calls == [200, 200, 429]
    assert wallet({"x-api-key": issue_api_key(app=app, name="laptop", actor=app.developer)[1]}) == 200

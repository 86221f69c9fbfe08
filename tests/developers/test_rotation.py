"""Rotation: the successor is made while the old key or token goes on for a while."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from developers import bounds
from developers.authentication import principal_of_bearer, principal_of_key
from developers.errors import PasswordRequired, TooManyKeys
from developers.models import AccessToken, ApiKey, App
from developers.selectors import owner_spending_limits
from developers.services.credentials import issue_api_key, issue_mcp_token, issue_token_without_app, limit_api_key
from developers.services.rotation import rotate_api_key, rotate_token
from developers.services.spending import LimitValues
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidCredential, InvalidInput, InvalidTransition
from marketplace.core.money import Currency
from marketplace.core.scopes import Scope
from tests.factories import AppFactory, UserFactory

from .cases import token_of

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

DAY = timedelta(days=1)


@contextmanager
def later(days: int) -> Iterator[None]:
    then = timezone.now() + days * DAY
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timezone, "now", lambda: then)
        yield


def spender() -> tuple[AccessToken, str]:
    user = UserFactory()
    return issue_token_without_app(
        user=user,
        name="agent",
        scopes=frozenset({Scope.WALLET_SPEND}),
        expires_at=timezone.now() + 30 * DAY,
        actor=user,
        password_confirmed=True,
        limits=[LimitValues(Currency.USD, per_day_minor=500, categories=["fonts"])],
    )


def server(expires_at: datetime | None = None) -> tuple[ApiKey, str]:
    app = AppFactory()
    return issue_api_key(app=app, name="server", actor=app.user, expires_at=expires_at)


@pytest.mark.parametrize("overlap", [-DAY, 31 * DAY])
def test_overlap_of_a_rotation_is_limited(overlap: timedelta) -> None:
    key, _ = server()
    token, _ = spender()
    with pytest.raises(InvalidInput):
        rotate_api_key(key=key, overlap=overlap, actor=key.app.developer)
    with pytest.raises(InvalidInput):
        rotate_token(token=token, overlap=overlap, actor=token.user, password_confirmed=True)
    assert (ApiKey.objects.count(), AccessToken.objects.count()) == (1, 1)


def test_both_keys_work_during_the_overlap_and_only_the_new_one_after() -> None:
    key, old = server(timezone.now() + 90 * DAY)
    limit_api_key(key=key, rate_limit=500, reason="Busy", actor=UserFactory())
    with later(10):
        successor, new = rotate_api_key(key=key, overlap=DAY, actor=key.app.developer)
        assert principal_of_key(old).credential.pk == key.pk
        assert principal_of_key(new).credential.pk == successor.pk
        # As long a life as the old one had, and the limit that staff set.
        assert successor.expires_at is not None
        assert abs(successor.expires_at - timezone.now() - 90 * DAY) < timedelta(minutes=1)
        assert (successor.name, successor.rate_limit) == ("server", 500)
    with later(12):
        with pytest.raises(InvalidCredential):
            principal_of_key(old)
        principal_of_key(new)
    entry = history_of(key)[0]
    assert (entry.action, entry.data["successor"]) == ("apikey.rotate", str(successor.pk))


def test_rotation_even_with_the_longest_overlap_never_extends_the_expiry() -> None:
    ends = timezone.now() + DAY
    key, _ = server(ends)
    rotate_api_key(key=key, overlap=30 * DAY, actor=key.app.developer)
    key.refresh_from_db()
    assert key.expires_at == ends


def test_second_rotation_during_an_overlap_gives_a_successor_of_the_first_lifetime() -> None:
    (endless, _), (dated, _), (token, _) = server(), server(timezone.now() + 90 * DAY), spender()
    for _ in range(2):
        endless_successor, _ = rotate_api_key(key=endless, overlap=DAY, actor=endless.app.developer)
        dated_successor, _ = rotate_api_key(key=dated, overlap=DAY, actor=dated.app.developer)
        token_successor, _ = rotate_token(token=token, overlap=DAY, actor=token.user, password_confirmed=True)
    assert endless_successor.expires_at is None
    assert dated_successor.expires_at is not None
    assert abs(dated_successor.expires_at - timezone.now() - 90 * DAY) < timedelta(minutes=1)
    assert abs(token_successor.expires - timezone.now() - 30 * DAY) < timedelta(minutes=1)


def test_rotation_without_an_overlap_ends_the_old_key_at_once_so_that_it_cannot_be_rotated_again() -> None:
    key, old = server()
    successor, _ = rotate_api_key(key=key, overlap=timedelta(0), actor=key.app.developer)
    assert successor.expires_at is None
    with pytest.raises(InvalidCredential):
        principal_of_key(old)
    assert history_of(key)[0].reason == "Rotated"
    with pytest.raises(InvalidTransition):
        rotate_api_key(key=key, overlap=DAY, actor=key.app.developer)
    assert ApiKey.objects.count() == 2


def test_refused_rotation_leaves_the_old_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_ACTIVE_KEYS", 1)
    key, old = server()
    with pytest.raises(TooManyKeys):
        rotate_api_key(key=key, overlap=timedelta(0), actor=key.app.developer)
    principal_of_key(old)


def test_personal_token_keeps_scopes_and_limits_and_needs_the_password() -> None:
    token, old = spender()
    with pytest.raises(PasswordRequired):
        rotate_token(token=token, overlap=DAY, actor=token.user)
    successor, new = rotate_token(token=token, overlap=DAY, actor=token.user, password_confirmed=True)
    assert successor.scope == token.scope
    limit = owner_spending_limits(token.user, successor).get()
    assert (limit.currency, limit.per_day_minor, limit.categories) == ("USD", 500, ["fonts"])
    principal_of_bearer(f"Bearer {old}")
    principal_of_bearer(f"Bearer {new}")
    with later(2):
        with pytest.raises(InvalidCredential):
            principal_of_bearer(f"Bearer {old}")
        principal_of_bearer(f"Bearer {new}")
    assert history_of(token)[0].action == "token.rotate"


def test_mcp_token_gets_what_the_app_is_granted_now() -> None:
    app = AppFactory(granted_scopes="catalog:read")
    token, old = issue_mcp_token(app=app, name="desk", expires_at=timezone.now() + DAY, actor=app.developer)
    App.objects.filter(pk=app.pk).update(granted_scopes="catalog:read library:read")
    token.refresh_from_db()
    successor, _ = rotate_token(token=token, overlap=timedelta(0), actor=app.developer)
    assert (successor.kind, successor.scope, successor.application) == ("mcp", "catalog:read library:read", app)
    with pytest.raises(InvalidCredential):
        principal_of_bearer(f"Bearer {old}")


def test_token_by_oauth_is_not_rotated_by_hand() -> None:
    token, _ = token_of("oauth")
    with pytest.raises(InvalidTransition):
        rotate_token(token=token, overlap=DAY, actor=token.user)

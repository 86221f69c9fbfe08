"""Two at once with the same code or refresh token: the loser is a replay, and the family ends."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection, connections

from developers.audiences import Audience
from developers.models import AccessToken, Grant, RefreshToken
from developers.oauth import validator
from developers.secrets import Prefix, new_secret
from developers.services.consents import withdraw_consent
from developers.services.oauth import NewPair, Replayed, exchange_code, rotate
from marketplace.core.errors import NotFound
from marketplace.core.models import AuditEntry
from marketplace.core.scopes import Scope

from .parties import Party, assert_error

races = pytest.mark.skipif(connection.vendor != "postgresql", reason="needs PostgreSQL: SQLite lets one writer in at a time")


def new_pair() -> NewPair:
    secrets = new_secret(Prefix.ACCESS_TOKEN), new_secret(Prefix.REFRESH_TOKEN)
    return NewPair(*secrets, frozenset({Scope.CATALOG_READ}), Audience.API, timedelta(hours=1))


def at_once(*calls: Callable[[], Any]) -> list[int]:
    """Return the statuses of calls that start together."""

    def run(one: Callable[[], Any]) -> int:
        try:
            return int(one().status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return sorted(pool.map(run, calls))


def test_code_that_was_used_since_it_was_read_is_a_replay(party: Party) -> None:
    code = party.code()
    stale = Grant.objects.get()
    party.exchange(code)
    with pytest.raises(Replayed):
        exchange_code(grant=stale, pair=new_pair())


def test_refresh_token_that_was_used_since_it_was_read_is_a_replay_that_ends_the_family(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = party.tokens()
    stale = RefreshToken.objects.get()

    def late(*, refresh_token: RefreshToken, pair: NewPair) -> AccessToken:
        # Someone else is quicker, between the look and the lock.
        rotate(refresh_token=stale, pair=new_pair())
        return rotate(refresh_token=refresh_token, pair=pair)

    monkeypatch.setattr(validator, "rotate", late)
    assert_error(party.refresh(first["refresh_token"]), "invalid_grant")
    assert not RefreshToken.objects.filter(revoked=None).exists()
    assert not AccessToken.objects.filter(revoked_at=None).exists()
    assert AuditEntry.objects.filter(action="token_family.revoke").count() == 1


def test_nothing_is_issued_on_a_consent_that_was_withdrawn_since(party: Party) -> None:
    party.tokens()
    stale = RefreshToken.objects.get()
    withdraw_consent(user=stale.user, app=party.app, actor=stale.user)
    with pytest.raises(NotFound):
        rotate(refresh_token=stale, pair=new_pair())


@races
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_one_of_many_exchanges_of_a_code_stands_and_its_tokens_end(party: Party) -> None:
    code = party.code()
    assert at_once(*[partial(party.exchange, code)] * 6) == [200] + [400] * 5
    assert not AccessToken.objects.filter(revoked_at=None).exists()
    assert not RefreshToken.objects.filter(revoked=None).exists()


@races
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_one_of_many_refreshes_stands_and_the_family_ends(party: Party) -> None:
    secret = party.tokens()["refresh_token"]
    assert at_once(*[partial(party.refresh, secret)] * 6) == [200] + [400] * 5
    assert not AccessToken.objects.filter(revoked_at=None).exists()
    assert not RefreshToken.objects.filter(revoked=None).exists()


@races
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_withdrawal_beside_refreshes_and_exchanges_leaves_nothing_alive(party: Party) -> None:
    for _ in range(5):
        tokens, code = party.tokens(), party.code()
        withdraw = f"/dashboard/connections/{party.app.pk}/withdraw"
        at_once(
            partial(party.browser.post, withdraw),
            partial(party.exchange, code),
            partial(party.refresh, tokens["refresh_token"]),
        )
        assert not AccessToken.objects.filter(revoked_at=None).exists()
        assert not RefreshToken.objects.filter(revoked=None).exists()

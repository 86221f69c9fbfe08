"""Removal of what is over: never of what still recognizes a replay."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections
from django.db.models import F
from django.utils import timezone

from developers.models import AccessToken, FirstPartyToken, Grant, RefreshToken
from developers.services.consents import withdraw_consent
from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from marketplace.operations.management.commands import purge as command
from tests.callers import said
from tests.developers.cases import page_token, token_of

from .parties import Party, assert_error, call

pytestmark = pytest.mark.database

LONG_AGO = timedelta(days=200)


def age() -> None:
    """Make all that there is older."""
    for rows_that_end in (Grant.objects.all(), AccessToken.objects.all()):
        rows_that_end.update(expires=F("expires") - LONG_AGO)
    RefreshToken.objects.update(created=F("created") - LONG_AGO, revoked=F("revoked") - LONG_AGO)


def purge(*options: str) -> str:
    return said("purge", "tokens", *options).strip()


def rows() -> tuple[int, int, int]:
    return Grant.objects.count(), RefreshToken.objects.count(), AccessToken.objects.count()


def test_purge_keeps_recent_credentials_and_personal_tokens(party: Party, user: User) -> None:
    tokens = party.tokens()
    party.refresh(tokens["refresh_token"])
    party.code()
    before = rows()
    assert purge() == "0 codes, 0 refresh tokens, 0 access tokens, 0 first-party tokens deleted."
    assert rows() == before
    personal, _ = token_of("personal")
    AccessToken.objects.filter(pk=personal.pk).update(expires=timezone.now() - LONG_AGO, revoked_at=timezone.now() - LONG_AGO)
    purge()
    assert AccessToken.objects.filter(pk=personal.pk).exists()


def test_purge_keeps_used_refresh_tokens_of_a_live_connection_to_detect_a_replay(party: Party) -> None:
    code = party.code()
    first = party.exchange(code).json()
    second = party.refresh(first["refresh_token"]).json()
    age()
    third = party.refresh(second["refresh_token"])
    assert_error(third, "invalid_grant")
    # It is idle for longer than a refresh token lives; one day less, and it is alive.
    RefreshToken.objects.filter(revoked=None).update(created=timezone.now() - timedelta(days=29))
    assert purge() == "0 codes, 0 refresh tokens, 1 access tokens, 0 first-party tokens deleted."
    third = party.refresh(second["refresh_token"]).json()
    assert call(third["access_token"]).status_code == 200
    assert purge().startswith("0 codes, 0 refresh tokens")
    # After all that time the first code and the first refresh token are still known.
    assert_error(party.refresh(first["refresh_token"]), "invalid_grant")
    assert call(third["access_token"]).status_code == 401
    assert AuditEntry.objects.filter(action="token_family.revoke").count() == 1


def test_purge_keeps_a_used_code_while_its_tokens_are_valid(party: Party) -> None:
    code = party.code()
    tokens = party.exchange(code).json()
    Grant.objects.update(expires=timezone.now() - LONG_AGO)
    purge()
    assert_error(party.exchange(code), "invalid_grant")
    assert call(tokens["access_token"]).status_code == 401


def test_purge_deletes_an_ended_connection_in_batches_and_a_dry_run_counts_the_same(
    party: Party, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "BATCH_ROWS", 2)
    for _ in range(2):
        tokens = party.tokens()
        for _ in range(2):
            tokens = party.refresh(tokens["refresh_token"]).json()
    party.code()
    token_of("mcp")
    withdraw_consent(user=user, app=party.app, actor=user)
    age()
    live = Party(party.app, party.browser).tokens()
    (ended, _), (open_page, _) = page_token(user), page_token(user)
    FirstPartyToken.objects.filter(pk=ended.pk).update(expires_at=timezone.now())
    assert purge("--dry-run") == "2 codes, 6 refresh tokens, 7 access tokens, 1 first-party tokens would be deleted."
    assert purge() == "2 codes, 6 refresh tokens, 7 access tokens, 1 first-party tokens deleted."
    assert (rows(), FirstPartyToken.objects.get()) == ((1, 1, 1), open_page)
    assert call(live["access_token"]).status_code == 200
    assert purge() == "0 codes, 0 refresh tokens, 0 access tokens, 0 first-party tokens deleted."


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_concurrent_purges_during_refreshes_delete_each_row_once(party: Party, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "BATCH_ROWS", 2)
    for _ in range(3):
        tokens = party.tokens()
        for _ in range(3):
            tokens = party.refresh(tokens["refresh_token"]).json()
    withdraw_consent(user=user, app=party.app, actor=user)
    age()
    live = Party(party.app, party.browser)
    tokens = live.tokens()

    def run(number: int) -> str:
        try:
            if number:
                return purge()
            secret = tokens["refresh_token"]
            for _ in range(5):
                secret = live.refresh(secret).json()["refresh_token"]
            return str(secret)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        secret, *said = pool.map(run, range(4))
    removed = [[int(part.split()[0]) for part in words.split(", ")] for words in said]
    assert [sum(column) for column in zip(*removed, strict=True)] == [3, 12, 12, 0]
    assert live.refresh(secret).status_code == 200

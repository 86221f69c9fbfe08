"""Two at once: with the same code the loser is a replay, and the family ends; with the same refresh token both get one pair."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from developers.audiences import Audience
from developers.models import AccessToken, Grant, RefreshToken
from developers.oauth import validator
from developers.secrets import Prefix, new_secret
from developers.services.apps import suspend_app
from developers.services.consents import withdraw_consent
from developers.services.credentials import revoke_token
from developers.services.leaks import report_leaks
from developers.services.oauth import NewPair, Replayed, exchange_code, lock_consents, rotate_refresh_token, void_code
from marketplace.accounts.models import User
from marketplace.accounts.services import deactivate_user, delete_account
from marketplace.core.errors import NotFound
from marketplace.core.models import AuditEntry
from marketplace.core.scopes import Scope
from tests.factories import UserFactory
from tests.races import at_once, until_someone_waits
from tests.waiting import PATIENCE_SECONDS

from .parties import Party, assert_error, call, post_form

pytestmark = pytest.mark.database


def new_pair() -> NewPair:
    secrets = new_secret(Prefix.ACCESS_TOKEN), new_secret(Prefix.REFRESH_TOKEN)
    return NewPair(*secrets, frozenset({Scope.CATALOG_READ}), Audience.API, timedelta(hours=1))


def statuses_at_once(*calls: Callable[[], Any]) -> list[int]:
    """Return the statuses of calls that start together in order, 0 for a call that is no request."""
    return sorted(int(getattr(outcome, "status_code", 0)) for outcome in at_once(*calls))


def assert_nothing_is_valid() -> None:
    assert not AccessToken.objects.filter(revoked_at=None).exists()
    assert not RefreshToken.objects.filter(revoked=None).exists()


def test_code_that_was_used_since_it_was_read_is_a_replay(party: Party) -> None:
    code = party.code()
    stale = Grant.objects.get()
    party.exchange(code)
    with pytest.raises(Replayed):
        exchange_code(authorization_code=stale, pair=new_pair())
    # Nor is it voided by a wrong verifier.
    with pytest.raises(Replayed):
        void_code(authorization_code=stale)


def test_refresh_token_that_was_replaced_since_it_was_read_gets_the_same_pair(party: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    first = party.tokens()
    stale, quicker = RefreshToken.objects.get(), new_pair()

    def late(*, refresh_token: RefreshToken, pair: NewPair) -> NewPair:
        # Someone else is quicker, between the look and the lock.
        rotate_refresh_token(refresh_token=stale, pair=quicker)
        return rotate_refresh_token(refresh_token=refresh_token, pair=pair)

    monkeypatch.setattr(validator, "rotate_refresh_token", late)
    answer = party.refresh(first["refresh_token"]).json()
    assert (answer["access_token"], answer["refresh_token"]) == (quicker.access_secret, quicker.refresh_secret)


def test_refresh_token_whose_pair_was_used_since_it_was_read_is_a_replay_that_ends_the_family(
    party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = party.tokens()
    stale = RefreshToken.objects.get()

    def late(*, refresh_token: RefreshToken, pair: NewPair) -> NewPair:
        rotate_refresh_token(refresh_token=stale, pair=new_pair())
        rotate_refresh_token(refresh_token=RefreshToken.objects.get(revoked=None), pair=new_pair())
        return rotate_refresh_token(refresh_token=refresh_token, pair=pair)

    monkeypatch.setattr(validator, "rotate_refresh_token", late)
    assert_error(party.refresh(first["refresh_token"]), "invalid_grant")
    assert_nothing_is_valid()
    assert AuditEntry.objects.filter(action="token_family.revoke").count() == 1


def test_no_token_is_issued_for_a_consent_withdrawn_meanwhile(party: Party) -> None:
    party.tokens()
    stale = RefreshToken.objects.get()
    withdraw_consent(user=stale.user, app=party.app, actor=stale.user)
    with pytest.raises(NotFound):
        rotate_refresh_token(refresh_token=stale, pair=new_pair())


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_one_of_concurrent_exchanges_of_a_code_succeeds_and_its_tokens_are_revoked(party: Party) -> None:
    code = party.code()
    assert statuses_at_once(*[partial(party.exchange, code)] * 6) == [200] + [400] * 5
    assert_nothing_is_valid()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_concurrent_refreshes_get_one_token_pair(party: Party) -> None:
    secret = party.tokens()["refresh_token"]
    answers = at_once(*[partial(party.refresh, secret)] * 6)
    assert {answer.status_code for answer in answers} == {200}
    assert len({(answer.json()["access_token"], answer.json()["refresh_token"]) for answer in answers}) == 1
    assert RefreshToken.objects.count() == AccessToken.objects.count() == 2
    assert call(answers[0].json()["access_token"]).status_code == 200
    assert party.refresh(answers[0].json()["refresh_token"]).status_code == 200


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_concurrent_wrong_verifiers_leave_no_valid_token(party: Party) -> None:
    for _ in range(5):
        code = party.code()
        wrong = partial(party.exchange, code, code_verifier="w" * 43)
        statuses = statuses_at_once(wrong, partial(party.exchange, code), wrong)
        # The right one was first, and a replay ends it, or it came too late.
        assert statuses in ([200, 400, 400], [400, 400, 400])
        assert_nothing_is_valid()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_disconnection_during_refreshes_and_exchanges_leaves_no_valid_token(party: Party) -> None:
    for _ in range(5):
        tokens, code = party.tokens(), party.code()
        withdraw = f"/dashboard/connections/{party.app.pk}/withdraw"
        statuses_at_once(
            partial(party.browser.post, withdraw),
            partial(party.exchange, code),
            partial(party.refresh, tokens["refresh_token"]),
        )
        assert_nothing_is_valid()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_leak_reports_refreshes_and_revocations_do_not_deadlock(party: Party, user: User) -> None:
    for _ in range(8):
        tokens = party.tokens()
        renewal, access = tokens["refresh_token"], tokens["access_token"]
        leaked = [partial(report_leaks, places={secret: ""}) for secret in (renewal, access)]
        withdraw = partial(withdraw_consent, user=user, app=party.app, actor=user)
        revoke = partial(post_form, "/oauth/revoke", {"client_id": party.app.client_id, "token": access})
        statuses = statuses_at_once(*leaked, partial(party.refresh, renewal), revoke, withdraw)
        # The refresh came first or it came too late, and nothing else can happen.
        assert statuses in ([0, 0, 0, 200, 200], [0, 0, 0, 200, 400])
        assert_nothing_is_valid()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_revocation_locks_the_consent_before_the_token(party: Party, user: User) -> None:
    party.tokens()
    token = AccessToken.objects.get()
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock_consents(user, party.app)
            waiting = pool.submit(at_once, partial(revoke_token, token=token, actor=None, reason="Leaked."))
            until_someone_waits()
            # Whoever has the consent takes the token next, as a disconnection does: with the locks in another order both would wait.
            assert AccessToken.objects.select_for_update(nowait=True).filter(pk=token.pk).first() == token
        assert waiting.result(PATIENCE_SECONDS) == [True]
    token.refresh_from_db()
    assert token.revoked_at is not None


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("whose", ["user", "developer"])
def test_deletion_of_an_account_locks_the_consents_before_the_tokens(party: Party, user: User, whose: str) -> None:
    party.tokens()
    deleted = user if whose == "user" else party.app.developer
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock_consents(user, party.app)
            waiting = pool.submit(at_once, partial(delete_account, user=deleted, reason="Asked for", actor=None))
            until_someone_waits()
            # A refresh that has the consent takes these next.
            assert RefreshToken.objects.select_for_update(nowait=True).first() is not None
            assert AccessToken.objects.select_for_update(nowait=True).first() is not None
        assert waiting.result(PATIENCE_SECONDS) == [deleted]
    assert not AccessToken.objects.exists()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", ["app", "user"])
def test_tokens_issued_during_a_suspension_or_deactivation_are_invalid(party: Party, user: User, end: str) -> None:
    families, codes, admin = [party.tokens() for _ in range(3)], [party.code() for _ in range(3)], UserFactory()
    stop: Callable[[], Any] = partial(suspend_app, app=party.app, reason="Abuse", actor=admin)
    if end == "user":
        stop = partial(deactivate_user, user=user, reason="Abuse", actor=admin)
    issued: list[Any] = []

    def ask(request: Callable[[], Any]) -> Any:
        issued.append(request())
        return issued[-1]

    refreshes = [partial(ask, partial(party.refresh, tokens["refresh_token"])) for tokens in families]
    statuses_at_once(stop, *[partial(ask, partial(party.exchange, code)) for code in codes], *refreshes)
    assert {response.status_code for response in issued} <= {200, 400, 401}
    for tokens in families + [response.json() for response in issued if response.status_code == 200]:
        assert call(tokens["access_token"]).status_code == 401
        assert party.refresh(tokens["refresh_token"]).status_code in {400, 401}

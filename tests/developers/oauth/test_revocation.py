"""Revocation by apps (RFC 7009): of what is theirs, whatever became of them, and of nothing else."""

import pytest

from developers.models import AccessToken
from developers.services.apps import suspend_app
from marketplace.core.models import AuditEntry
from tests.developers.cases import token_of
from tests.factories import AppFactory, UserFactory

from .parties import Party, assert_error, call, post_form

pytestmark = pytest.mark.database_full


@pytest.mark.parametrize(("which", "hint"), [("access_token", "refresh_token"), ("refresh_token", None), ("refresh_token", "nonsense")])
def test_revoking_either_token_ends_both_and_no_others(party: Party, which: str, hint: str | None) -> None:
    earlier, tokens = party.tokens(), party.tokens()
    body = {"client_id": party.app.client_id, "token": tokens[which]} | ({"token_type_hint": hint} if hint else {})
    assert post_form("/oauth/revoke", body).status_code == 200
    assert call(tokens["access_token"]).status_code == 401
    assert_error(party.refresh(tokens["refresh_token"]), "invalid_grant")
    assert call(earlier["access_token"]).status_code == 200
    assert post_form("/oauth/revoke", body).status_code == 200
    assert AuditEntry.objects.filter(action="token_family.revoke").count() == 1


def test_app_revokes_a_token_that_nothing_renews(party: Party) -> None:
    token, secret = token_of("mcp")
    assert token.application is not None
    post_form("/oauth/revoke", {"client_id": party.app.client_id, "token": secret})
    token.refresh_from_db()
    assert token.is_active
    post_form("/oauth/revoke", {"client_id": token.application.client_id, "token": secret})
    token.refresh_from_db()
    assert not token.is_active


def test_app_cannot_revoke_tokens_of_another_app(party: Party) -> None:
    tokens = party.tokens()
    thief = AppFactory()
    for token in (tokens["access_token"], tokens["refresh_token"], "nonsense", "\x00"):
        assert post_form("/oauth/revoke", {"client_id": thief.client_id, "token": token}).status_code == 200
    assert call(tokens["access_token"]).status_code == 200
    assert_error(post_form("/oauth/revoke", {"client_id": "nobody", "token": "x"}), "invalid_client", 401)
    assert_error(post_form("/oauth/revoke", {"client_id": party.app.client_id}), "invalid_request")


def test_suspended_app_can_revoke_its_tokens(party: Party) -> None:
    tokens = party.tokens()
    suspend_app(app=party.app, reason="Abuse", actor=UserFactory())
    body = {"client_id": party.app.client_id, "token": tokens["refresh_token"]}
    assert post_form("/oauth/revoke", body).status_code == 200
    assert AccessToken.objects.get().revoked_at is not None
    assert_error(party.refresh(tokens["refresh_token"]), "invalid_client", 401)

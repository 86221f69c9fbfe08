"""The token endpoint: what an exchange and a refresh bring, and when they bring nothing."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.utils import timezone

from developers.models import AccessToken, App, Grant, RefreshToken
from developers.models.credentials import REFRESH_GRACE
from developers.secrets import Prefix, new_secret, well_formed
from developers.services.apps import reinstate_app, suspend_app
from developers.services.consents import withdraw_consent
from developers.services.credentials import revoke_token
from developers.services.oauth import erase_successor
from developers.services.scopes import narrow_scopes
from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from marketplace.core.scopes import Scope
from marketplace.jobs.models import Job
from tests.eager import drain
from tests.factories import AppFactory, UserFactory

from .parties import API, CALLBACK, LOOPBACK, MCP, Party, assert_error, call, end_grace, post_form

pytestmark = pytest.mark.database


# With what a good exchange is changed, and the refusal; none of them uses the code up.
FAULTS: list[tuple[dict[str, Any], str, int]] = [
    ({"code_verifier": None}, "invalid_request", 400),
    ({"code": None}, "invalid_request", 400),
    ({"code": "nonsense"}, "invalid_grant", 400),
    ({"redirect_uri": "https://evil.example"}, "invalid_grant", 400),
    # A redirect of the app, but not of the code.
    ({"redirect_uri": LOOPBACK}, "invalid_grant", 400),
    ({"client_id": "a\x00b"}, "invalid_client", 401),
    ({"grant_type": "password"}, "unsupported_grant_type", 400),
    ({"grant_type": None}, "invalid_request", 400),
    ({"resource": MCP}, "invalid_target", 400),
    ({"resource": [API, MCP]}, "invalid_target", 400),
]


def test_faulty_code_exchange_is_refused_and_uses_nothing_up(party: Party, subtests: pytest.Subtests) -> None:
    code = party.code()
    for changes, error, status in FAULTS:
        with subtests.test(str(changes)):
            assert_error(party.exchange(code, **changes), error, status)
    thief = AppFactory(redirect_uris=CALLBACK)
    assert_error(party.exchange(code, client_id=thief.client_id), "invalid_grant")
    assert not AccessToken.objects.exists()
    assert party.exchange(code).status_code == 200


@pytest.mark.parametrize(
    ("verifier", "error"),
    [("w" * 43, "invalid_grant"), *((malformed, "invalid_request") for malformed in ("w" * 42, "w" * 129, "w" * 42 + "+"))],
)
def test_code_sent_with_a_wrong_verifier_is_invalidated(party: Party, verifier: str, error: str) -> None:
    code = party.code()
    assert_error(party.exchange(code, code_verifier=verifier), error)
    assert_error(party.exchange(code), "invalid_grant")
    assert not AccessToken.objects.exists()


def test_code_used_twice_revokes_its_tokens(party: Party) -> None:
    code = party.code()
    first = party.exchange(code).json()
    second = party.refresh(first["refresh_token"]).json()
    assert call(second["access_token"]).status_code == 200
    assert_error(party.exchange(code), "invalid_grant")
    for token in (first["access_token"], second["access_token"]):
        assert call(token).status_code == 401
    assert_error(party.refresh(second["refresh_token"]), "invalid_grant")
    entry = AuditEntry.objects.get(action="token_family.revoke")
    assert (entry.reason, entry.data["tokens"]) == ("The authorization code was used twice.", 1)
    issued = AuditEntry.objects.filter(action="token.issue").order_by("pk")
    assert [entry.data["by"] for entry in issued] == ["code", "refresh"]


def test_code_exchange_never_adds_scopes(party: Party) -> None:
    assert party.exchange(party.code(scope="catalog:read"), scope="catalog:read wallet:spend").json()["scope"] == "catalog:read"


def test_expired_authorization_code_is_refused(party: Party) -> None:
    code = party.code()
    assert Grant.objects.get().expires <= timezone.now() + timedelta(minutes=1)
    Grant.objects.update(expires=timezone.now())
    assert_error(party.exchange(code), "invalid_grant")


def test_refresh_token_used_twice_revokes_its_family(party: Party) -> None:
    first = party.tokens()
    second = party.refresh(first["refresh_token"]).json()
    third = party.refresh(second["refresh_token"]).json()
    assert_error(party.refresh(first["refresh_token"]), "invalid_grant")
    assert call(third["access_token"]).status_code == 401
    assert_error(party.refresh(third["refresh_token"]), "invalid_grant")
    assert AuditEntry.objects.filter(action="token_family.revoke").count() == 1


def test_second_refresh_within_the_grace_period_gets_the_same_tokens(party: Party) -> None:
    secret = party.tokens()["refresh_token"]
    first = party.refresh(secret).json()
    second = party.refresh(secret)
    assert second.status_code == 200
    assert second.json() | {"expires_in": 3600} == first
    assert 3590 < second.json()["expires_in"] <= 3600
    assert RefreshToken.objects.count() == 2
    assert call(second.json()["access_token"]).status_code == 200
    assert party.refresh(second.json()["refresh_token"]).status_code == 200


def test_second_refresh_after_the_grace_period_revokes_the_family_and_no_other(party: Party) -> None:
    other, secret = party.tokens(), party.tokens()["refresh_token"]
    first = party.refresh(secret).json()
    end_grace()
    assert_error(party.refresh(secret), "invalid_grant")
    assert call(first["access_token"]).status_code == 401
    assert_error(party.refresh(first["refresh_token"]), "invalid_grant")
    assert call(other["access_token"]).status_code == 200
    assert party.refresh(other["refresh_token"]).status_code == 200


def test_erased_token_pair_is_never_returned(party: Party) -> None:
    secret = party.tokens()["refresh_token"]
    party.refresh(secret)
    old = RefreshToken.objects.get(revoked__isnull=False)
    assert old.encrypted_successor
    assert old.revoked is not None
    job = Job.objects.get(task_path=erase_successor.module_path)
    assert job.run_after == old.revoked + REFRESH_GRACE
    Job.objects.update(run_after=timezone.now())
    later = party.tokens()["refresh_token"]
    party.refresh(later)
    drain()
    old.refresh_from_db()
    assert not old.encrypted_successor
    assert party.refresh(later).status_code == 200
    assert_error(party.refresh(secret), "invalid_grant")


def test_token_pair_encrypted_with_a_lost_key_ends_the_family(party: Party, settings: Any) -> None:
    secret = party.tokens()["refresh_token"]
    first = party.refresh(secret).json()
    settings.SECRET_KEY = "another key of the service, as long as needed"
    assert_error(party.refresh(secret), "invalid_grant")
    assert call(first["access_token"]).status_code == 401


@pytest.mark.parametrize("end", ["revoke", "withdraw"])
def test_grace_period_of_a_refresh_token_ends_with_its_family(party: Party, user: User, end: str) -> None:
    secret = party.tokens()["refresh_token"]
    first = party.refresh(secret).json()
    if end == "revoke":
        post_form("/oauth/revoke", {"client_id": party.app.client_id, "token": first["refresh_token"]})
    else:
        withdraw_consent(user=user, app=party.app, actor=user)
        party.decide()
    assert_error(party.refresh(secret), "invalid_grant")


def test_faulty_refresh_is_refused_and_uses_nothing_up(party: Party) -> None:
    tokens = party.tokens()
    for secret in ("x", new_secret(Prefix.REFRESH_TOKEN), "cam_rt_\x00", tokens["access_token"]):
        assert_error(party.refresh(secret), "invalid_grant")
    faults = {
        "invalid_grant": [{"client_id": AppFactory(redirect_uris=CALLBACK).client_id}],
        "invalid_scope": [{"scope": "wallet:spend"}, {"scope": "catalog:read everything"}],
        "invalid_target": [{"resource": MCP}, {"resource": "https://evil.example"}],
    }
    for error, changes in faults.items():
        for change in changes:
            assert_error(party.refresh(tokens["refresh_token"], **change), error)
    assert call(tokens["access_token"]).status_code == 200
    assert party.refresh(tokens["refresh_token"], resource=API).status_code == 200


def test_refresh_never_adds_scopes_and_may_ask_for_less_and_later_for_all_again(party: Party) -> None:
    less = party.refresh(party.tokens()["refresh_token"], scope="catalog:read wallet:spend").json()
    assert less["scope"] == "catalog:read"
    assert call(less["access_token"]).status_code == 403
    assert set(party.refresh(less["refresh_token"]).json()["scope"].split()) == {"catalog:read", "account:read"}


def test_unused_refresh_token_expires(party: Party) -> None:
    tokens = party.tokens()
    RefreshToken.objects.update(created=timezone.now() - timedelta(days=30))
    assert_error(party.refresh(tokens["refresh_token"]), "invalid_grant")


def test_narrowed_grant_counts_at_exchange_refresh_and_call(party: Party) -> None:
    tokens = party.tokens()
    code = party.code()
    narrow_scopes(app=party.app, scopes={Scope.ACCOUNT_READ}, reason="Misused", actor=UserFactory())
    assert call(tokens["access_token"]).status_code == 403
    assert party.exchange(code).json()["scope"] == "catalog:read"
    # Libraries repeat the scopes of the authorization.
    answer = party.refresh(tokens["refresh_token"], scope="catalog:read account:read")
    assert (answer.status_code, answer.json()["scope"]) == (200, "catalog:read")


@pytest.mark.parametrize("end", ["scopes", "user", "developer"])
def test_code_and_refresh_token_bring_nothing_once_scopes_user_or_developer_are_gone(party: Party, user: User, end: str) -> None:
    tokens, code = party.tokens(), party.code()
    if end == "scopes":
        App.objects.filter(pk=party.app.pk).update(granted_scopes="")
    else:
        User.objects.filter(pk=user.pk if end == "user" else party.app.developer.pk).update(is_active=False)
    refusal = ("invalid_client", 401) if end == "developer" else ("invalid_grant", 400)
    assert_error(party.exchange(code), *refusal)
    assert_error(party.refresh(tokens["refresh_token"]), *refusal)


def test_tokens_and_codes_of_a_suspended_app_are_refused_until_it_is_reinstated(party: Party) -> None:
    tokens, code = party.tokens(), party.code()
    suspend_app(app=party.app, reason="Abuse", actor=UserFactory())
    assert call(tokens["access_token"]).status_code == 401
    assert_error(party.exchange(code), "invalid_client", 401)
    assert_error(party.refresh(tokens["refresh_token"]), "invalid_client", 401)
    party.app.developer.developer_applications.create(what="x", why="y", status="Approved", submitted_at=timezone.now())
    reinstate_app(app=party.app, reason="Explained", actor=UserFactory())
    assert party.refresh(tokens["refresh_token"]).status_code == 200


def test_token_revoked_by_an_admin_is_not_renewed(party: Party) -> None:
    tokens, admin = party.tokens(), UserFactory()
    revoke_token(token=AccessToken.objects.get(), actor=admin, reason="Leaked")
    assert call(tokens["access_token"]).status_code == 401
    assert_error(party.refresh(tokens["refresh_token"]), "invalid_grant")
    entry = AuditEntry.objects.get(action="token_family.revoke")
    assert (entry.actor, entry.reason) == (admin, "Leaked")


def test_token_request_in_the_address_is_refused(party: Party) -> None:
    code = party.code()
    good = {"grant_type": "authorization_code", "client_id": party.app.client_id, "code": code, "code_verifier": party.verifier}
    assert_error(Client().post("/oauth/token", query_params=good), "invalid_request")


def test_mcp_token_is_of_its_own_kind_and_no_good_at_the_api(party: Party) -> None:
    tokens = party.tokens(resource=MCP)
    assert well_formed(tokens["access_token"], Prefix.MCP_TOKEN)
    assert call(tokens["access_token"]).status_code == 401
    refreshed = party.refresh(tokens["refresh_token"], resource=MCP).json()
    assert well_formed(refreshed["access_token"], Prefix.MCP_TOKEN)
    assert set(AccessToken.objects.values_list("kind", flat=True)) == {"mcp"}
    newest = AccessToken.objects.order_by("-id")[0]
    assert (newest.resource, newest.hint) == ([MCP], refreshed["access_token"][-4:])


def test_no_secret_of_oauth_is_in_a_table_or_a_debug_log(caplog: pytest.LogCaptureFixture, party: Party) -> None:
    caplog.set_level(logging.DEBUG)
    code = party.code()
    first = party.exchange(code).json()
    second = party.refresh(first["refresh_token"]).json()
    stored = " ".join(str(value) for model in apps.get_models() for row in model._base_manager.values() for value in row.values())
    for secret in (code, party.verifier, *(tokens[name] for tokens in (first, second) for name in ("access_token", "refresh_token"))):
        assert secret not in stored
        assert secret[-24:] not in stored
        assert secret not in caplog.text

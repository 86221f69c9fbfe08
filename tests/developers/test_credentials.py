"""Keys and tokens: issue, rotate, limit, revoke; only hashes are kept."""

from typing import Any

import pytest

from developers import bounds, selectors
from developers.authentication import principal_of_bearer
from developers.errors import AppNotApproved, ExpiryPassed, ExpiryRequired, PasswordRequired, TooManyKeys, TooManyTokens
from developers.models import AccessToken, ApiKey, App
from developers.secrets import Prefix, digest_of, new_secret, well_formed
from developers.services import credentials as services
from marketplace.accounts.models import User
from marketplace.core.access import CredentialKind
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidInput, InvalidTransition
from marketplace.core.scopes import Scope
from tests.factories import PLENTY, AppFactory, UserFactory

from .cases import in_days, token_of

pytestmark = pytest.mark.django_db

READS = "catalog:read library:read"
SPEND = frozenset({Scope.ACCOUNT_READ, Scope.WALLET_SPEND})


def mcp(app: App, **changes: Any) -> tuple[AccessToken, str]:
    return services.issue_mcp_token(app=app, actor=app.developer, **{"name": "desk", "expires_at": in_days(30), **changes})


def personal(user: User, scopes: frozenset[Scope] = frozenset({Scope.ACCOUNT_READ}), **changes: Any) -> tuple[AccessToken, str]:
    values = {"name": "laptop", "expires_at": in_days(30), "limits": PLENTY, **changes}
    return services.issue_token_without_app(user=user, scopes=scopes, actor=user, **values)


@pytest.mark.parametrize(("status", "granted"), [("Suspended", "catalog:read"), ("Approved", "")])
def test_app_that_is_not_approved_or_has_no_scopes_gets_no_key_and_no_mcp_token(status: str, granted: str) -> None:
    app = AppFactory(status=status, granted_scopes=granted)
    with pytest.raises(AppNotApproved):
        services.issue_api_key(app=app, name="laptop", actor=app.user)
    with pytest.raises(AppNotApproved):
        mcp(app)
    assert not ApiKey.objects.exists()
    assert not AccessToken.objects.exists()


def test_key_that_ends_in_the_past_is_refused() -> None:
    app = AppFactory()
    with pytest.raises(ExpiryPassed):
        services.issue_api_key(app=app, name="laptop", actor=app.user, expires_at=in_days(-0.001))


@pytest.mark.parametrize("name", ["", "n" * 81])
def test_invalid_name_of_a_key_or_token_is_refused(name: str) -> None:
    app = AppFactory()
    with pytest.raises(InvalidInput):
        services.issue_api_key(app=app, name=name, actor=app.user)
    with pytest.raises(InvalidInput):
        personal(app.user, name=name)
    with pytest.raises(InvalidInput):
        mcp(app, name=name, password_confirmed=True)


def test_key_beyond_the_limit_is_refused_until_another_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_ACTIVE_KEYS", 2)
    app = AppFactory()
    first, _ = services.issue_api_key(app=app, name="first", actor=app.user)
    second, _ = services.issue_api_key(app=app, name="second", actor=app.user, expires_at=in_days(1))
    monkeypatch.setattr(bounds, "MAX_ACTIVE_KEYS", 1)
    with pytest.raises(TooManyKeys):
        services.issue_api_key(app=app, name="third", actor=app.user)
    monkeypatch.setattr(bounds, "MAX_ACTIVE_KEYS", 2)
    with pytest.raises(TooManyKeys) as refusal:
        services.issue_api_key(app=app, name="third", actor=app.user)
    assert refusal.value.members == {"maximum": 2}
    services.revoke_api_key(key=first, actor=app.user)
    services.issue_api_key(app=app, name="third", actor=app.user)
    ApiKey.objects.filter(pk=second.pk).update(expires_at=in_days(-1))
    services.issue_api_key(app=app, name="fourth", actor=app.user)
    assert selectors.keys_of(app).count() == 4


def test_revoking_a_key_or_token_twice_keeps_the_first_revocation() -> None:
    app = AppFactory()
    key, _ = services.issue_api_key(app=app, name="laptop", actor=app.user)
    assert services.revoke_api_key(key=key, actor=app.user, reason="Lost")
    first = ApiKey.objects.get(pk=key.pk)
    # `key` is as it was before.
    assert not services.revoke_api_key(key=key, actor=app.user, reason="Twice")
    key.refresh_from_db()
    assert (key.revoked_at, key.is_active) == (first.revoked_at, False)
    assert [(entry.action, entry.reason) for entry in history_of(key)] == [("apikey.revoke", "Lost"), ("apikey.issue", "")]
    token, _ = personal(app.user)
    assert services.revoke_token(token=token, actor=app.user, reason="Lost")
    assert not services.revoke_token(token=token, actor=app.user)
    assert [entry.action for entry in history_of(token)] == ["token.revoke", "token.issue"]


def test_rate_limit_of_a_key_is_set_and_removed_with_a_reason_until_it_is_revoked() -> None:
    app, admin = AppFactory(), UserFactory()
    key, _ = services.issue_api_key(app=app, name="laptop", actor=app.user)
    with pytest.raises(InvalidInput):
        services.limit_api_key(key=key, rate_limit=600, reason="", actor=admin)
    with pytest.raises(InvalidInput):
        services.limit_api_key(key=key, rate_limit=0, reason="Stop", actor=admin)
    assert services.limit_api_key(key=key, rate_limit=600, reason="Partner", actor=admin).rate_limit == 600
    assert services.limit_api_key(key=key, rate_limit=None, reason="Over", actor=admin).rate_limit is None
    assert [entry.data for entry in history_of(key)[:2]] == [{"before": 600, "after": None}, {"before": None, "after": 600}]
    services.revoke_api_key(key=key, actor=app.user)
    with pytest.raises(InvalidTransition):
        services.limit_api_key(key=key, rate_limit=600, reason="More", actor=admin)


@pytest.mark.parametrize("days", [0, 366])
def test_token_without_an_end_within_a_year_is_refused(days: int) -> None:
    app = AppFactory(granted_scopes="catalog:read")
    with pytest.raises(ExpiryRequired):
        personal(app.user, expires_at=in_days(days))
    with pytest.raises(ExpiryRequired):
        mcp(app, expires_at=in_days(days))


def test_mistyped_secret_is_recognised_by_its_checksum() -> None:
    secret = new_secret(Prefix.API_KEY)
    assert well_formed(secret, Prefix.API_KEY)
    for position in range(len(secret)):
        other = "A" if secret[position] != "A" else "B"
        assert not well_formed(secret[:position] + other + secret[position + 1 :], Prefix.API_KEY)
    assert not well_formed(secret, Prefix.PERSONAL_TOKEN)
    assert not well_formed(secret[:-1], Prefix.API_KEY)
    assert not well_formed(secret[:-1] + "é", Prefix.API_KEY)


def test_token_that_spends_needs_the_password_again() -> None:
    app = AppFactory()
    with pytest.raises(PasswordRequired):
        personal(app.user, SPEND)
    with pytest.raises(PasswordRequired):
        mcp(app)
    assert not AccessToken.objects.exists()
    assert personal(app.user, SPEND, password_confirmed=True)[0].scopes == SPEND
    assert mcp(app, password_confirmed=True)[0].scopes == app.scopes


def test_token_beyond_the_limit_is_refused_until_another_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    app = AppFactory(granted_scopes=READS)
    for issue, owner in ((personal, app.user), (mcp, app)):
        token, _ = issue(owner)
        # More than the maximum are there once it is lowered.
        for maximum in (0, 1):
            for bound in ("MAX_TOKENS_WITHOUT_APP", "MAX_ACTIVE_MCP_TOKENS"):
                monkeypatch.setattr(bounds, bound, maximum)
            with pytest.raises(TooManyTokens):
                issue(owner)
        services.revoke_token(token=token, actor=app.user)
        issue(owner)
    # Those of OAuth are not counted.
    by_oauth, _ = token_of("mcp", app.user)
    AccessToken.objects.filter(pk=by_oauth.pk).update(application=app)
    assert selectors.mcp_tokens_of(app).count() == 2


def test_mcp_token_has_the_granted_scopes_and_is_stored_as_a_hash() -> None:
    app = AppFactory(granted_scopes=READS)
    token, secret = mcp(app)
    assert well_formed(secret, Prefix.MCP_TOKEN)
    assert (token.kind, token.user, token.application, token.hint) == ("mcp", app.user, app, secret[-4:])
    assert token.resource == ["http://testserver/mcp"]
    assert AccessToken.objects.get(token_checksum=digest_of(secret)).token == ""
    principal = principal_of_bearer(f"Bearer {secret}")
    assert (principal.kind, principal.app, principal.scopes) == (CredentialKind.MCP, app, app.scopes)
    entry = history_of(token)[0]
    assert (entry.action, entry.data) == ("token.issue", {"kind": "mcp", "scopes": READS, "app": str(app.pk)})

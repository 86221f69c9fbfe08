"""MCP tokens made by hand under an app."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from developers import bounds
from developers.authentication import principal_of_bearer
from developers.errors import AppNotApproved, ExpiryRequired, PasswordRequired, TooManyTokens
from developers.models import AccessToken, App
from developers.secrets import Prefix, digest_of, well_formed
from developers.selectors import active_mcp_tokens_of, mcp_tokens_of
from developers.services.apps import suspend_app
from developers.services.credentials import issue_mcp_token, revoke_token
from developers.services.scopes import narrow_scopes
from marketplace.core.access import CredentialKind
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidCredential, InvalidInput
from marketplace.core.scopes import Scope
from tests.factories import AppFactory, UserFactory

pytestmark = pytest.mark.django_db

READS = "catalog:read library:read"


def issue(app: App, **changes: Any) -> tuple[AccessToken, str]:
    values = {"name": "desk assistant", "expires_at": timezone.now() + timedelta(days=30), **changes}
    return issue_mcp_token(app=app, actor=app.developer, **values)


@pytest.mark.parametrize(("status", "granted"), [("Pending", ""), ("Rejected", ""), ("Suspended", READS), ("Approved", "")])
def test_app_without_granted_scopes_gets_no_mcp_token(status: str, granted: str) -> None:
    with pytest.raises(AppNotApproved):
        issue(AppFactory(status=status, granted_scopes=granted))
    assert not AccessToken.objects.exists()


@pytest.mark.parametrize("days", [-1, 366])
def test_mcp_token_must_expire_within_a_year(days: int) -> None:
    with pytest.raises(ExpiryRequired):
        issue(AppFactory(granted_scopes=READS), expires_at=timezone.now() + timedelta(days=days))


@pytest.mark.parametrize("name", ["", " ", "n" * 81, "two\nlines"])
def test_invalid_name_of_an_mcp_token_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        issue(AppFactory(granted_scopes=READS), name=name)


def test_mcp_token_of_an_app_that_spends_needs_the_password() -> None:
    app = AppFactory()
    with pytest.raises(PasswordRequired):
        issue(app)
    assert issue(app, password_confirmed=True)[0].scopes == app.scopes


def test_number_of_valid_mcp_tokens_of_an_app_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_ACTIVE_KEYS", 1)
    app = AppFactory(granted_scopes=READS)
    token, _ = issue(app)
    with pytest.raises(TooManyTokens):
        issue(app)
    revoke_token(token=token, actor=app.user)
    issue(app)
    assert mcp_tokens_of(app).count() == 2
    assert active_mcp_tokens_of(app).count() == 1


def test_mcp_token_has_the_granted_scopes_and_is_stored_as_a_hash() -> None:
    app = AppFactory(granted_scopes=READS)
    token, secret = issue(app)
    assert well_formed(secret, Prefix.MCP_TOKEN)
    assert (token.kind, token.user, token.application, token.hint) == ("mcp", app.user, app, secret[-4:])
    assert token.resource == ["http://testserver/mcp"]
    assert AccessToken.objects.get(token_checksum=digest_of(secret)).token == ""
    principal = principal_of_bearer(f"Bearer {secret}")
    assert (principal.kind, principal.app, principal.scopes) == (CredentialKind.MCP, app, app.scopes)
    for path in ("/api/v1/library", "/api/v1/categories"):
        response = APIClient().get(path, headers={"authorization": f"Bearer {secret}"})
        assert (response.status_code, response.json()["code"]) == (401, "invalid_credential")
    entry = history_of(token)[0]
    assert (entry.action, entry.data) == ("token.issue", {"kind": "mcp", "scopes": READS, "app": str(app.pk)})


def test_mcp_token_follows_narrowed_scopes_and_suspension_at_once_but_no_widening() -> None:
    app = AppFactory(granted_scopes=READS)
    _, secret = issue(app)
    App.objects.filter(pk=app.pk).update(granted_scopes="catalog:read library:read account:read")
    assert principal_of_bearer(f"Bearer {secret}").scopes == {Scope.CATALOG_READ, Scope.LIBRARY_READ}
    narrow_scopes(app=app, withdrawn={Scope.LIBRARY_READ: "Not needed"}, actor=UserFactory())
    assert principal_of_bearer(f"Bearer {secret}").scopes == {Scope.CATALOG_READ}
    suspend_app(app=app, reason="Abuse", actor=UserFactory())
    with pytest.raises(InvalidCredential):
        principal_of_bearer(f"Bearer {secret}")


def test_oauth_tokens_are_not_listed_as_mcp_tokens() -> None:
    app = AppFactory()
    AccessToken.objects.create(user=app.user, application=app, kind="mcp", token_checksum="x", expires=timezone.now() + timedelta(hours=1))
    assert not mcp_tokens_of(app).exists()

"""MCP tokens made by hand under an app."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from developers import bounds
from developers.authentication import principal_of_bearer
from developers.errors import PasswordRequired, TooManyTokens
from developers.models import AccessToken, App
from developers.secrets import Prefix, digest_of, well_formed
from developers.selectors import active_mcp_tokens_of, mcp_tokens_of
from developers.services.credentials import issue_mcp_token, revoke_token
from marketplace.core.access import CredentialKind
from marketplace.core.audit import history_of
from tests.factories import AppFactory

pytestmark = pytest.mark.django_db

READS = "catalog:read library:read"


def issue(app: App, **changes: Any) -> tuple[AccessToken, str]:
    values = {"name": "desk assistant", "expires_at": timezone.now() + timedelta(days=30), **changes}
    return issue_mcp_token(app=app, actor=app.developer, **values)


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
    entry = history_of(token)[0]
    assert (entry.action, entry.data) == ("token.issue", {"kind": "mcp", "scopes": READS, "app": str(app.pk)})


def test_oauth_tokens_are_not_listed_as_mcp_tokens() -> None:
    app = AppFactory()
    AccessToken.objects.create(user=app.user, application=app, kind="mcp", token_checksum="x", expires=timezone.now() + timedelta(hours=1))
    assert not mcp_tokens_of(app).exists()

"""API keys and bearer tokens: issue and revoke. The secret is returned once and never stored."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.scopes import Scope, format_scopes
from marketplace.core.transitions import lock

from ..errors import AppNotApproved, ExpiryRequired
from ..models import AccessToken, ApiKey, App
from ..models.apps import AppStatus
from ..models.credentials import TokenKind
from ..secrets import Prefix, digest_of, new_secret

PERSONAL_TOKEN_MAX_AGE = timedelta(days=366)


@transaction.atomic
def issue_api_key(*, app: App, name: str, actor: User, expires_at: datetime | None = None) -> tuple[ApiKey, str]:
    """Make a key that carries exactly what the app is granted now.

    Returns:
        The key and its secret.

    Raises:
        AppNotApproved: the app is pending, rejected or suspended, or was granted nothing.
    """
    app = lock(App.objects.all(), pk=app.pk)
    if app.status != AppStatus.APPROVED or not app.granted_scopes:
        raise AppNotApproved
    secret = new_secret(Prefix.API_KEY)
    key = ApiKey.objects.create(
        app=app,
        name=name,
        digest=digest_of(secret),
        last_four=secret[-4:],
        scope=app.granted_scopes,
        expires_at=expires_at,
    )
    audit.record("apikey.issue", key, actor=actor, scopes=app.granted_scopes)
    return key, secret


@transaction.atomic
def revoke_api_key(*, key: ApiKey, actor: User | None, reason: str = "") -> ApiKey:
    """Revoke a key for good; revoking it again changes nothing."""
    key = lock(ApiKey.objects.all(), pk=key.pk)
    if key.revoked_at is None:
        key.revoked_at = timezone.now()
        key.save(update_fields=["revoked_at"])
        audit.record("apikey.revoke", key, actor=actor, reason=reason)
    return key


@transaction.atomic
def issue_personal_token(*, user: User, name: str, scopes: frozenset[Scope], expires_at: datetime, actor: User) -> tuple[AccessToken, str]:
    """Make a token for the user's own account.

    Returns:
        The token and its secret.

    Raises:
        ExpiryRequired: it would end in the past or after more than a year.
    """
    now = timezone.now()
    if not now < expires_at <= now + PERSONAL_TOKEN_MAX_AGE:
        raise ExpiryRequired
    secret = new_secret(Prefix.PERSONAL_TOKEN)
    token = AccessToken(
        user=user,
        kind=TokenKind.PERSONAL,
        name=name,
        hint=secret[-4:],
        token_checksum=digest_of(secret),
        scope=format_scopes(scopes),
        expires=expires_at,
    )
    token.save()
    audit.record("token.issue", token, actor=actor, kind=token.kind, scopes=token.scope)
    return token, secret


@transaction.atomic
def revoke_token(*, token: AccessToken, actor: User | None, reason: str = "") -> AccessToken:
    """Revoke a bearer token for good; revoking it again changes nothing."""
    token = lock(AccessToken.objects.all(), pk=token.pk)
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        audit.record("token.revoke", token, actor=actor, reason=reason)
    return token

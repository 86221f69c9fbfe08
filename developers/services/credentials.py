"""API keys and bearer tokens: issue and revoke. The secret is returned once and never stored.

An app may have several active keys and MCP tokens: a successor is created before the old one ends (`rotation`).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition
from marketplace.core.scopes import Scope, format_scopes
from marketplace.core.transitions import lock, lock_for_decision
from marketplace.ui.mail import mail

from .. import bounds
from ..audiences import Audience
from ..errors import AppNotApproved, ExpiryPassed, ExpiryRequired, PasswordRequired, SpendingLimitRequired, TooManyKeys, TooManyTokens
from ..models import AccessToken, ApiKey, App, RefreshToken
from ..models.apps import AppStatus
from ..models.credentials import TokenKind
from ..secrets import Prefix, digest_of, new_secret
from ..selectors import keys_of, mcp_tokens_of, tokens_without_app_of
from .oauth import lock_consents, revoke_family
from .spending import LimitValues, set_spending_limit
from .states import lock_app

TOKEN_MAX_AGE = timedelta(days=365)
_PREFIXES = {TokenKind.PERSONAL: Prefix.PERSONAL_TOKEN, TokenKind.MCP: Prefix.MCP_TOKEN}


@transaction.atomic
def issue_api_key(*, app: App, name: str, actor: User, expires_at: datetime | None = None) -> tuple[ApiKey, str]:
    """Create a key with exactly the scopes that the app is granted now; return it with its secret.

    Raises:
        AppNotApproved: the app is pending, rejected or suspended, or has no granted scopes.
        ExpiryPassed: the expiry date is in the past.
        TooManyKeys: the app has the maximum number of active keys.
    """
    lifetime = None if expires_at is None else expires_at - timezone.now()
    if lifetime is not None and lifetime <= timedelta(0):
        raise ExpiryPassed
    app = _lock_app(app, "An API key")
    if keys_of(app).active().count() >= bounds.MAX_ACTIVE_KEYS:
        raise TooManyKeys(maximum=bounds.MAX_ACTIVE_KEYS)
    secret = new_secret(Prefix.API_KEY)
    key = ApiKey.objects.create(
        app=app,
        name=texts.clean_line(name, "name", maximum=bounds.CREDENTIAL_NAME_CHARS),
        digest=digest_of(secret),
        last_four=secret[-4:],
        scope=app.granted_scopes,
        expires_at=expires_at,
        lifetime=lifetime,
    )
    audit.record("apikey.issue", key, actor=actor, scopes=app.granted_scopes)
    return key, secret


@transaction.atomic
def limit_api_key(*, key: ApiKey, rate_limit: int | None, reason: str, actor: User) -> ApiKey:
    """Set how many calls a minute a key may make, and tell its owner; None returns it to the default.

    Raises:
        InvalidInput: no reason, or a limit out of range.
        InvalidTransition: the key is revoked.
        SelfReview: the key is the actor's.
    """
    reason = texts.clean_text(reason, "reason")
    if rate_limit is not None and not 1 <= rate_limit <= bounds.MAX_CALLS_PER_MINUTE:
        raise texts.invalid("rateLimit", "out_of_range", f"From 1 to {bounds.MAX_CALLS_PER_MINUTE} calls a minute.")
    key = lock_for_decision(ApiKey.objects.select_related("app__user"), pk=key.pk, owner="app.user_id", actor=actor)
    if key.revoked_at is not None:
        raise InvalidTransition("The key has been revoked.")
    before, key.rate_limit = key.rate_limit, rate_limit
    key.save(update_fields=["rate_limit"])
    audit.record("apikey.limit", key, actor=actor, reason=reason, before=before, after=rate_limit)
    mail(key.app.developer, "developers/key_limited", key=key, app=key.app, reason=reason)
    return key


@transaction.atomic
def revoke_api_key(*, key: ApiKey, actor: User | None, reason: str = "") -> bool:
    """Revoke a key permanently; return False if it was revoked before."""
    key = lock(ApiKey.objects.select_related("app__user"), pk=key.pk)
    revoked = _revoke(key, "apikey.revoke", actor, reason)
    if revoked:
        _notify_of_revocation(key.app.developer, f"API key {key}", actor, reason, key.app)
    return revoked


@transaction.atomic
def issue_token_without_app(
    *,
    user: User,
    name: str,
    scopes: frozenset[Scope],
    expires_at: datetime,
    actor: User,
    audience: Audience = Audience.API,
    password_confirmed: bool = False,
    limits: Sequence[LimitValues] = (),
) -> tuple[AccessToken, str]:
    """Create a token for the user's own account and return it with its secret. It is valid for a year at most. Unlike an app, it can have `vendor:manage`.

    It works at the API or, as an MCP token without an app, at `/mcp`. One with `wallet:spend` needs the password, which the user has just given again, and at least one spending limit.

    Raises:
        ExpiryRequired: the expiry date is in the past or more than a year ahead.
        InvalidInput: the name or a limit is invalid.
        NotFound: the account is not active.
        PasswordRequired: it could spend money, and the password was not given again.
        SpendingLimitRequired: it could spend money, and there is no limit.
        TooManyTokens: the user has the maximum number of active tokens.
    """
    _check_expiry(expires_at)
    spends = Scope.WALLET_SPEND in scopes
    if spends and not password_confirmed:
        raise PasswordRequired
    if spends and not limits:
        raise SpendingLimitRequired
    # The lock keeps simultaneous calls within the maximum.
    user = lock(User.objects.filter(is_active=True), pk=user.pk)
    if tokens_without_app_of(user).active().count() >= bounds.MAX_TOKENS_WITHOUT_APP:
        raise TooManyTokens(maximum=bounds.MAX_TOKENS_WITHOUT_APP)
    kind = TokenKind.MCP if audience == Audience.MCP else TokenKind.PERSONAL
    token, secret = _issue_token(user=user, app=None, kind=kind, name=name, scopes=scopes, expires_at=expires_at, actor=actor)
    for limit_values in limits if spends else ():
        set_spending_limit(owner=user, spender=token, limit_values=limit_values, actor=actor)
    return token, secret


@transaction.atomic
def issue_mcp_token(*, app: App, name: str, expires_at: datetime, actor: User, password_confirmed: bool = False) -> tuple[AccessToken, str]:
    """Create a token for an MCP client: it acts as the app's developer, at `/mcp` only, with the scopes that the app is granted now.

    It is returned with its secret.

    Raises:
        AppNotApproved: the app is pending, rejected or suspended, or has no granted scopes.
        ExpiryRequired: the expiry date is in the past or more than a year ahead.
        PasswordRequired: it could spend money, and the password was not given again.
        TooManyTokens: the app has the maximum number of active MCP tokens.
    """
    _check_expiry(expires_at)
    app = _lock_app(app, "An MCP token")
    if Scope.WALLET_SPEND in app.scopes and not password_confirmed:
        raise PasswordRequired
    if mcp_tokens_of(app).active().count() >= bounds.MAX_ACTIVE_MCP_TOKENS:
        raise TooManyTokens(maximum=bounds.MAX_ACTIVE_MCP_TOKENS)
    return _issue_token(user=app.developer, app=app, kind=TokenKind.MCP, name=name, scopes=app.scopes, expires_at=expires_at, actor=actor)


def _lock_app(app: App, credential: str) -> App:
    """Return the app, locked, if it can have the credential, which acts for its developer with its granted scopes."""
    app = lock_app(app)
    if app.status != AppStatus.APPROVED or not app.granted_scopes:
        raise AppNotApproved(f"{credential} needs an approved app with granted scopes. The page of the app says what it waits for.")
    return app


def _check_expiry(expires_at: datetime) -> None:
    now = timezone.now()
    if not now < expires_at <= now + TOKEN_MAX_AGE:
        raise ExpiryRequired


def _issue_token(
    *, user: User, app: App | None, kind: TokenKind, name: str, scopes: frozenset[Scope], expires_at: datetime, actor: User
) -> tuple[AccessToken, str]:
    secret = new_secret(_PREFIXES[kind])
    token = AccessToken.objects.create(
        user=user,
        application=app,
        kind=kind,
        name=texts.clean_line(name, "name", maximum=bounds.CREDENTIAL_NAME_CHARS),
        hint=secret[-4:],
        token_checksum=digest_of(secret),
        scope=format_scopes(scopes),
        expires=expires_at,
        lifetime=expires_at - timezone.now(),
        resource=[Audience.MCP.uri] if kind == TokenKind.MCP else [],
    )
    about = {} if app is None else {"app": str(app.pk)}
    audit.record("token.issue", token, actor=actor, kind=kind, scopes=token.scope, **about)
    return token, secret


@transaction.atomic
def revoke_token(*, token: AccessToken, actor: User | None, reason: str = "") -> bool:
    """Revoke a bearer token permanently, an OAuth token with its family; return False if nothing was left to revoke.

    Nobody is notified when staff revoke an OAuth token: the app can ask the user again.
    """
    refresh = RefreshToken.objects.select_related("user", "application").filter(access_token=token).first()
    if refresh is None:
        token = lock(AccessToken.objects.select_related("user", "application"), pk=token.pk)
        revoked = _revoke(token, "token.revoke", actor, reason)
        if revoked:
            _notify_of_revocation(token.user, f"token {token}", actor, reason, token.application)
        return revoked
    # Locks are taken in the order consent, then tokens.
    lock_consents(refresh.user, refresh.application)
    revoked = _revoke(lock(AccessToken.objects.all(), pk=token.pk), "token.revoke", actor, reason)
    return revoke_family(family=refresh.token_family, reason=reason, actor=actor) or revoked


def _revoke(credential: ApiKey | AccessToken, action: str, actor: User | None, reason: str) -> bool:
    """Revoke a credential that the caller has locked."""
    if credential.revoked_at is not None:
        return False
    credential.revoked_at = timezone.now()
    credential.save(update_fields=["revoked_at"])
    audit.record(action, credential, actor=actor, reason=reason)
    return True


def _notify_of_revocation(user: User, what: str, actor: User | None, reason: str, app: App | None) -> None:
    """Mail the owner of the credential if staff have revoked it; a leak has a mail of its own."""
    if actor is not None and actor.pk != user.pk:
        mail(user, "developers/credential_revoked", what=what, app=app, reason=reason)

"""Rotation: a key or token gets a successor, and stays valid for an overlap so that programs can switch."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition
from marketplace.core.money import Currency
from marketplace.core.scopes import parse_scopes
from marketplace.core.transitions import lock

from ..audiences import Audience
from ..models import AccessToken, ApiKey
from ..models.credentials import TokenKind
from ..models.spending import AMOUNTS
from ..selectors import owner_spending_limits
from .credentials import TOKEN_MAX_AGE, issue_api_key, issue_mcp_token, issue_token_without_app, revoke_api_key, revoke_token
from .spending import LimitValues

MAX_OVERLAP = timedelta(days=30)
_REASON = "Rotated"


@transaction.atomic
def rotate_api_key(*, key: ApiKey, overlap: timedelta, actor: User) -> tuple[ApiKey, str]:
    """Create a successor with the same name, lifetime and rate limit; the old key ends after the overlap, at once if it is zero.

    The successor has the scopes that the app is granted now. It is returned with its secret.

    Raises:
        AppNotApproved: the app can have no key now.
        InvalidInput: the overlap is negative or too long.
        InvalidTransition: the key has ended.
        TooManyKeys: the app has the maximum number of active keys.
    """
    _check_overlap(overlap)
    # Locked before the key, as by a deletion of the account.
    lock(User.objects.all(), pk=key.app.user_id)
    key = lock(ApiKey.objects.select_related("app"), pk=key.pk)
    if not key.is_active:
        raise InvalidTransition("The key has expired or was revoked; create a new one.")
    now = timezone.now()
    expires_at = None if key.lifetime is None else now + key.lifetime
    successor, secret = issue_api_key(app=key.app, name=key.name, actor=actor, expires_at=expires_at)
    if key.rate_limit is not None:
        # Staff have set it for this client.
        successor.rate_limit = key.rate_limit
        successor.save(update_fields=["rate_limit"])
    if overlap:
        ends = now + overlap
        key.expires_at = min(key.expires_at or ends, ends)
        key.save(update_fields=["expires_at"])
        audit.record("apikey.rotate", key, actor=actor, successor=str(successor.pk), ends=key.expires_at.isoformat())
    else:
        revoke_api_key(key=key, actor=actor, reason=_REASON)
    return successor, secret


@transaction.atomic
def rotate_token(*, token: AccessToken, overlap: timedelta, actor: User, password_confirmed: bool = False) -> tuple[AccessToken, str]:
    """Create a successor of a personal or MCP token with the same name, lifetime and limits; the old one ends after the overlap.

    The successor of a token without an app carries the same scopes, that of an app's token what the app is granted now. What was spent with the
    old token counts against the successor's limits, and what either spends during the overlap against both. The successor is returned with its secret.

    Raises:
        AppNotApproved: the app can have no MCP token now.
        InvalidInput: the overlap is negative or too long.
        InvalidTransition: the token has ended, or is an OAuth token, which is renewed by refreshing.
        PasswordRequired: it can spend money, and the password was not given again.
        TooManyTokens: the user or app has the maximum number of active tokens.
    """
    _check_overlap(overlap)
    # Locked before the token, as by a deletion of the account.
    lock(User.objects.all(), pk=token.user_id)
    token = lock(AccessToken.objects.select_related("application", "user"), pk=token.pk)
    if not token.is_active or token.lifetime is None:
        raise InvalidTransition("The token has expired, was revoked or renews itself; create a new one.")
    expires_at = timezone.now() + min(token.lifetime, TOKEN_MAX_AGE)
    successor, secret = _successor(token, expires_at, actor, password_confirmed=password_confirmed)
    successor.first_token_id = token.spender_id
    successor.save(update_fields=["first_token_id"])
    if overlap:
        token.expires = min(token.expires, timezone.now() + overlap)
        token.save(update_fields=["expires"])
        audit.record("token.rotate", token, actor=actor, successor=str(successor.pk), ends=token.expires.isoformat())
    else:
        revoke_token(token=token, actor=actor, reason=_REASON)
    return successor, secret


def _successor(token: AccessToken, expires_at: datetime, actor: User, *, password_confirmed: bool) -> tuple[AccessToken, str]:
    if token.kind == TokenKind.MCP and token.application is not None:
        return issue_mcp_token(
            app=token.application, name=token.name, expires_at=expires_at, actor=actor, password_confirmed=password_confirmed
        )
    return issue_token_without_app(
        user=token.user,
        name=token.name,
        scopes=parse_scopes(token.scope),
        expires_at=expires_at,
        actor=actor,
        audience=Audience.MCP if token.kind == TokenKind.MCP else Audience.API,
        password_confirmed=password_confirmed,
        limits=[
            LimitValues(Currency(limit.currency), categories=limit.categories, **{amount: getattr(limit, amount) for amount in AMOUNTS})
            for limit in owner_spending_limits(token.user, token)
        ],
    )


def _check_overlap(overlap: timedelta) -> None:
    if not timedelta(0) <= overlap <= MAX_OVERLAP:
        raise texts.invalid("overlap", "out_of_range", f"From 0 to {MAX_OVERLAP.days} days.")

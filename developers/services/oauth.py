"""OAuth tokens: exchange of a code, rotation of a refresh token, revocation of a token family.

Each of these locks the consent of the tokens, then the code or refresh token that is used. A code is valid for
one exchange. Refreshes with the same token within `REFRESH_GRACE`, as from two tabs of a browser, get the same pair.
"""

import json
import uuid
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.encryption import DecryptionFailed, decrypt, encrypt
from marketplace.core.ids import new_id
from marketplace.core.scopes import Scope, format_scopes
from marketplace.core.transitions import lock
from marketplace.jobs.policy import job

from ..audiences import Audience
from ..models import AccessToken, App, Consent, Grant, RefreshToken
from ..models.credentials import REFRESH_GRACE
from ..secrets import digest_of

_SUCCESSOR = "refresh_token.successor"


class Replayed(Exception):
    """A code or refresh token was used twice: someone else may have it too.

    Its `family` is revoked once the failed exchange is rolled back.
    """

    def __init__(self, family: uuid.UUID | None) -> None:
        super().__init__("used before")
        self.family = family


@dataclass(frozen=True)
class NewPair:
    """A pair of fresh secrets and what the access token carries."""

    access_secret: str
    refresh_secret: str
    scopes: frozenset[Scope]
    audience: Audience
    lifetime: timedelta


@transaction.atomic
def exchange_code(*, authorization_code: Grant, pair: NewPair) -> AccessToken:
    """Mark an authorization code as used and save the pair that is issued for it.

    Raises:
        NotFound: the consent was withdrawn meanwhile, and the code with it.
        Replayed: the code was used before.
    """
    _lock_consent(authorization_code.user, authorization_code.application, pair.audience)
    authorization_code = lock(Grant.objects.all(), pk=authorization_code.pk)
    if authorization_code.used_at is not None:
        raise Replayed(authorization_code.token_family)
    authorization_code.used_at, authorization_code.token_family = timezone.now(), new_id()
    authorization_code.save(update_fields=["used_at", "token_family"])
    refresh = RefreshToken(
        user=authorization_code.user,
        application=authorization_code.application,
        token_family=authorization_code.token_family,
        scope=authorization_code.scope,
    )
    return _save_pair(pair, refresh, None)


@transaction.atomic
def void_code(*, authorization_code: Grant) -> None:
    """Mark an authorization code as used, because it was sent with a wrong verifier.

    Raises:
        NotFound: the code no longer exists.
        Replayed: the code was used before.
    """
    authorization_code = lock(Grant.objects.all(), pk=authorization_code.pk)
    if authorization_code.used_at is not None:
        raise Replayed(authorization_code.token_family)
    authorization_code.used_at = timezone.now()
    authorization_code.save(update_fields=["used_at"])


@transaction.atomic
def rotate_refresh_token(*, refresh_token: RefreshToken, pair: NewPair) -> NewPair:
    """Replace a refresh token and its access token by a new pair.

    Returns:
        `pair`, or the pair that an earlier call got for the same token within `REFRESH_GRACE`.

    Raises:
        NotFound: the consent was withdrawn meanwhile.
        Replayed: it was used before.
    """
    _lock_consent(refresh_token.user, refresh_token.application, pair.audience)
    old = lock(RefreshToken.objects.all(), pk=refresh_token.pk)
    if old.revoked is not None:
        return _successor(old, pair)
    old.revoked = timezone.now()
    old.encrypted_successor = encrypt(json.dumps([pair.access_secret, pair.refresh_secret]), purpose=_SUCCESSOR)
    old.save(update_fields=["revoked", "encrypted_successor", "updated"])
    AccessToken.objects.filter(refresh_token=old, revoked_at=None).update(revoked_at=old.revoked)
    refresh = RefreshToken(user=old.user, application=old.application, token_family=old.token_family, scope=old.scope)
    _save_pair(pair, refresh, old)
    erase_successor.using(run_after=old.revoked + REFRESH_GRACE).enqueue(str(old.pk))
    return pair


@job()
def erase_successor(refresh_token_id: str) -> None:
    """Erase the pair that is stored with a replaced refresh token."""
    RefreshToken.objects.filter(pk=refresh_token_id).update(encrypted_successor="")


def _successor(old: RefreshToken, pair: NewPair) -> NewPair:
    """Return the pair that replaced a refresh token, while the grace lasts and that pair is neither replaced nor revoked."""
    rows = RefreshToken.objects.select_related("access_token__application")
    row = rows.filter(access_token__source_refresh_token=old, access_token__revoked_at=None, revoked=None).first()
    if row is None or row.access_token is None or not old.in_grace:
        raise Replayed(old.token_family)
    try:
        access_secret, refresh_secret = json.loads(decrypt(old.encrypted_successor, purpose=_SUCCESSOR))
    except DecryptionFailed as error:
        raise Replayed(old.token_family) from error
    token = row.access_token
    lifetime = token.expires - timezone.now()
    return replace(pair, access_secret=access_secret, refresh_secret=refresh_secret, scopes=token.scopes, lifetime=lifetime)


@transaction.atomic
def revoke_family(*, family: uuid.UUID | None, reason: str, actor: User | None) -> bool:
    """Revoke every token of one authorization; return whether any was active."""
    rows = RefreshToken.objects.filter(token_family=family)
    first = None if family is None else rows.select_related("user", "application").order_by("id").first()
    if first is None:
        return False
    # Waits for a rotation in progress, so that its tokens are revoked too.
    lock_consents(first.user, first.application)
    now = timezone.now()
    ended_refresh_tokens = rows.filter(revoked=None).update(revoked=now, updated=now)
    ended_access_tokens = AccessToken.objects.active().filter(pk__in=rows.values("access_token_id")).update(revoked_at=now, updated=now)
    if not ended_refresh_tokens and not ended_access_tokens:
        return False
    audit.record(
        "token_family.revoke",
        first,
        actor=actor,
        reason=reason,
        family=str(family),
        app=str(first.application_id),
        user=str(first.user_id),
        tokens=ended_access_tokens,
    )
    return True


def lock_consents(user: User, app: App) -> list[Consent]:
    """Return the user's active consents to the app, locked, so that no tokens are issued meanwhile."""
    return list(Consent.objects.select_for_update(of=("self",), no_key=True).filter(user=user, app=app, withdrawn_at=None))


def family_of(*, secret: str, app: App) -> uuid.UUID | None:
    """Return the family that an access or refresh token of the app belongs to, None if the token is not one of the app."""
    digest = digest_of(secret)
    rows = RefreshToken.objects.filter(application=app)
    row = rows.filter(token_checksum=digest).first() or rows.filter(access_token__token_checksum=digest).first()
    return None if row is None else row.token_family


def _lock_consent(user: User, app: App, audience: Audience) -> Consent:
    return lock(Consent.objects.all(), user=user, app=app, audience=audience, withdrawn_at=None)


def _save_pair(pair: NewPair, refresh: RefreshToken, source: RefreshToken | None) -> AccessToken:
    token = AccessToken.objects.create(
        user=refresh.user,
        application=refresh.application,
        kind=pair.audience.kind,
        hint=pair.access_secret[-4:],
        token_checksum=digest_of(pair.access_secret),
        scope=format_scopes(pair.scopes),
        expires=timezone.now() + pair.lifetime,
        resource=[pair.audience.uri],
        source_refresh_token=source,
    )
    refresh.token_checksum = digest_of(pair.refresh_secret)
    refresh.access_token = token
    refresh.resource = token.resource
    refresh.save()
    by = "code" if source is None else "refresh"
    audit.record("token.issue", token, actor=token.user, kind=token.kind, scopes=token.scope, app=str(refresh.application_id), by=by)
    return token

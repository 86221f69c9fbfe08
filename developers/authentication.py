"""Authenticates requests: turns an API key or a bearer token into a `Principal`. Nothing else does."""

from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from marketplace.accounts.models import User
from marketplace.core.access import CredentialKind
from marketplace.core.errors import AmbiguousCredentials, InvalidCredential
from marketplace.http.rate_limits import count_by_address

from .models import AccessToken, ApiKey, FirstPartyToken
from .principals import Principal
from .secrets import BEARER_PREFIXES, Prefix, digest_of, well_formed

LAST_USED_STEP = timedelta(minutes=5)


class CredentialAuthentication(BaseAuthentication):
    """Reads `X-Api-Key` or `Authorization: Bearer`; a bad credential is never treated as anonymous."""

    def authenticate(self, request: Request) -> tuple[User, Principal] | None:
        """Return the user and the principal, None when no credential was sent; raises what `authenticate_request` raises."""
        principal = authenticate_request(request)
        return None if principal is None else (principal.user, principal)

    def authenticate_header(self, request: Request) -> str:
        """Name the scheme; the problem renderer sends the full challenge."""
        return "Bearer"


def authenticate_request(request: HttpRequest | Request) -> Principal | None:
    """Return the principal of the credential that a request carries, None when it carries none.

    Raises:
        AmbiguousCredentials: both headers are sent.
        InvalidCredential: unknown, revoked, expired, of a suspended app or of an inactive user.
        RateLimited: too many bad credentials came from the caller's address.
    """
    key, authorization = request.META.get("HTTP_X_API_KEY"), request.META.get("HTTP_AUTHORIZATION")
    if key is not None and authorization is not None:
        raise AmbiguousCredentials
    try:
        if key is not None:
            return principal_of_key(key)
        return None if authorization is None else principal_of_bearer(authorization)
    except InvalidCredential:
        count_by_address(request, "failed_credentials")
        raise


def principal_of_key(secret: str) -> Principal:
    """Return the principal of an `X-Api-Key` header, in one query."""
    # The developer console sends its own token where an operation takes a key.
    if secret.startswith(Prefix.FIRST_PARTY_TOKEN):
        return _principal_of_first_party_token(secret, CredentialKind.CONSOLE)
    if not well_formed(secret, Prefix.API_KEY):
        raise InvalidCredential
    key = ApiKey.objects.select_related("app__user").filter(digest=digest_of(secret)).first()
    if key is None or not key.is_active or not key.app.is_usable():
        raise InvalidCredential
    _record_use(key)
    return Principal(user=key.app.developer, app=key.app, scopes=key.scopes, kind=CredentialKind.API_KEY, credential=key)


def principal_of_bearer(authorization: str) -> Principal:
    """Return the principal of an `Authorization` header, in one query."""
    scheme, _, secret = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise InvalidCredential
    if secret.startswith(Prefix.FIRST_PARTY_TOKEN):
        return _principal_of_first_party_token(secret, CredentialKind.FIRST_PARTY)
    if not well_formed(secret, *BEARER_PREFIXES):
        raise InvalidCredential
    token = AccessToken.objects.select_related("user", "application__user").filter(token_checksum=digest_of(secret)).first()
    if token is None or not token.is_active or not token.user.is_active:
        raise InvalidCredential
    if token.application is not None and not token.application.is_usable():
        raise InvalidCredential
    _record_use(token)
    return Principal(
        user=token.user,
        app=token.application,
        scopes=token.scopes,
        kind=CredentialKind(token.kind),
        credential=token,
    )


def _principal_of_first_party_token(secret: str, kind: CredentialKind) -> Principal:
    """Return the principal of a first-party token; each kind is accepted in the header of its kind only."""
    if not well_formed(secret, Prefix.FIRST_PARTY_TOKEN):
        raise InvalidCredential
    token = FirstPartyToken.objects.select_related("user", "session", "app__user").filter(digest=digest_of(secret)).first()
    if token is None or token.kind != kind or not token.is_active:
        raise InvalidCredential
    if token.app is not None and not token.app.is_usable():
        raise InvalidCredential
    return Principal(user=token.user, app=token.app, scopes=token.scopes, kind=kind, credential=token)


def _record_use(credential: Any) -> None:
    """Record the use, at most every five minutes, so that most calls write nothing."""
    now = timezone.now()
    if credential.last_used_at is None or credential.last_used_at < now - LAST_USED_STEP:
        stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - LAST_USED_STEP)
        type(credential).objects.filter(stale, pk=credential.pk).update(last_used_at=now)

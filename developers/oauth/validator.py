"""The OAuth request validator: hashed codes, scopes limited to those granted, one audience for each token, replay detection.

The library calls these methods in the order of the protocol; changes of rows are services. The names are the library's, and
so is the untyped `request`, which carries the state of a flow from method to method.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.settings import oauth2_settings
from oauthlib.oauth2.rfc6749.errors import (
    CustomOAuth2Error,
    InvalidClientError,
    InvalidGrantError,
    InvalidRequestError,
    InvalidScopeError,
)
from oauthlib.oauth2.rfc6749.grant_types.authorization_code import code_challenge_method_s256

from marketplace.core.errors import NotFound
from marketplace.core.scopes import APP_SCOPES, Scope, format_scopes, parse_scopes

from ..audiences import Audience, audience_of
from ..models import AccessToken, App, Grant, RefreshToken
from ..redirects import CLIENT_ID
from ..secrets import digest_of
from ..services.consents import give_consent
from ..services.credentials import revoke_token
from ..services.oauth import NewPair, Replayed, exchange_code, family_of, revoke_family, rotate_refresh_token, void_code

# RFC 7636 section 4.1.
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def invalid_target(request: Any = None, **members: Any) -> CustomOAuth2Error:
    """Return the error for a resource that is not ours, or not the one that was consented to (RFC 8707)."""
    return CustomOAuth2Error("invalid_target", description="The resource is unknown or not allowed here.", request=request, **members)


class Validator(OAuth2Validator):
    """Validates clients, codes and tokens for the library."""

    def validate_client_id(self, client_id: str, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Accept the id of a usable app."""
        return _set_client(client_id, request)

    def authenticate_client_id(self, client_id: str | None, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Accept the id of a usable app at the token and revocation endpoints."""
        if not _set_client(client_id, request):
            raise InvalidClientError(description="The client_id is missing or unknown, or its app is not approved.", request=request)
        return True

    def client_authentication_required(self, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Return False: apps are public clients, whose codes PKCE protects."""
        return False

    def validate_scopes(self, client_id: str, scopes: Iterable[str], client: App, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Reduce the requested scopes to those that the app is granted (RFC 6749 section 3.3).

        Clients often request all scopes in the metadata. The consent page and the response say which they get.
        """
        request.scopes = _granted_of(scopes, client.scopes, request)
        return True

    def save_authorization_code(self, client_id: str, code: Mapping[str, str], request: Any, *args: Any, **kwargs: Any) -> None:
        """Save a code with the consent that it is issued for."""
        give_consent(
            user=request.user,
            app=request.client,
            scopes=_scopes(request.scopes),
            audience=request.audience,
            redirect_uri=request.redirect_uri,
            code=code["code"],
            code_challenge=request.code_challenge,
            actor=request.user,
        )

    def validate_code(self, client_id: str, code: str, client: App, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Accept an unused code of this app. A used one revokes the tokens issued for it, and a wrong verifier voids the code."""
        code_row = Grant.objects.select_related("user", "application").filter(code=digest_of(code), application=client).first()
        if code_row is None:
            raise InvalidGrantError(description="The code is unknown.", request=request)
        if code_row.used_at is not None:
            revoke_family(family=code_row.token_family, reason="The authorization code was used twice.", actor=None)
            raise InvalidGrantError(description="The code was used before.", request=request)
        if request.code_verifier:
            _check_verifier(code_row, request)
        audience, scopes = _consented_audience(code_row, request), parse_scopes(code_row.scope) & client.scopes
        if code_row.expires <= timezone.now() or not code_row.user.is_active or not scopes:
            raise InvalidGrantError(description="The code has expired, or the app has lost its scopes.", request=request)
        request.code_row, request.audience = code_row, audience
        request.user, request.scopes = code_row.user, format_scopes(scopes).split()
        return True

    def get_code_challenge(self, code: str, request: Any) -> str:
        """Return the hash that the verifier must have."""
        return str(request.code_row.code_challenge)

    def get_code_challenge_method(self, code: str, request: Any) -> str:
        """Return S256, the only method that is stored."""
        return str(request.code_row.code_challenge_method)

    def get_default_redirect_uri(self, client_id: str, request: Any, *args: Any, **kwargs: Any) -> str:
        """Return the redirect URI of a request without one: the code's at the exchange (OAuth 2.1), the app's only one before."""
        code_row = getattr(request, "code_row", None)
        return str(code_row.redirect_uri if code_row else request.client.default_redirect_uri)

    def confirm_redirect_uri(
        self, client_id: str, code: str, redirect_uri: str, client: App, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Accept the address of the authorization request, while it is still registered."""
        if request.code_row.redirect_uri != redirect_uri or not client.redirect_uri_allowed(redirect_uri):
            raise InvalidGrantError(description="The redirect_uri is not that of the code, or is no longer registered.", request=request)
        return True

    def invalidate_authorization_code(self, client_id: str, code: str, request: Any, *args: Any, **kwargs: Any) -> None:
        """Do nothing: the exchange has marked the code as used, under its lock."""

    def validate_refresh_token(self, refresh_token: str, client: App, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Accept an active refresh token of this app, or one that was just replaced; reuse of an older one revokes its family."""
        rows = RefreshToken.objects.select_related("user", "application", "access_token")
        row = rows.filter(token_checksum=digest_of(refresh_token), application=client).first()
        if row is None:
            raise InvalidGrantError(description="The refresh token is unknown.", request=request)
        if row.revoked is not None and not row.in_grace:
            reason = "A refresh token was used again after it had been replaced or revoked."
            revoke_family(family=row.token_family, reason=reason, actor=None)
            raise InvalidGrantError(description="The refresh token was used before, or was revoked.", request=request)
        audience, scopes = _consented_audience(row, request), parse_scopes(row.scope) & client.scopes
        idle = timedelta(seconds=oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)
        if row.created + idle <= timezone.now() or not row.user.is_active or not scopes:
            raise InvalidGrantError(description="The refresh token has expired, or the app has lost its scopes.", request=request)
        request.refresh_row, request.audience = row, audience
        request.user, request.original_scopes = row.user, format_scopes(scopes).split()
        return True

    def get_original_scopes(self, refresh_token: str, request: Any, *args: Any, **kwargs: Any) -> list[str]:
        """Return the scopes that were consented to and are still granted."""
        return list(request.original_scopes)

    def is_within_original_scope(self, request_scopes: Iterable[str], refresh_token: str, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Leave out scopes that are not granted: client libraries repeat those of the authorization request."""
        request.scopes = _granted_of(request_scopes, _scopes(request.original_scopes), request)
        return True

    def save_bearer_token(self, token: dict[str, Any], request: Any, *args: Any, **kwargs: Any) -> None:
        """Save the new pair, or return the one that another refresh with the same token has just got."""
        pair = NewPair(
            access_secret=token["access_token"],
            refresh_secret=token["refresh_token"],
            scopes=_scopes(request.scopes),
            audience=request.audience,
            lifetime=timedelta(seconds=token["expires_in"]),
        )
        try:
            if request.grant_type == "refresh_token":
                pair = rotate_refresh_token(refresh_token=request.refresh_row, pair=pair)
            else:
                exchange_code(authorization_code=request.code_row, pair=pair)
        except Replayed as replay:
            revoke_family(family=replay.family, reason="A code or refresh token was used twice.", actor=None)
            raise InvalidGrantError(description="The code or refresh token was used before.", request=request) from replay
        except NotFound as gone:
            raise InvalidGrantError(description="The user has disconnected the app.", request=request) from gone
        token["access_token"], token["refresh_token"] = pair.access_secret, pair.refresh_secret
        token["scope"], token["expires_in"] = format_scopes(pair.scopes), int(pair.lifetime.total_seconds())

    def revoke_token(self, token: str, token_type_hint: str | None, request: Any, *args: Any, **kwargs: Any) -> None:
        """Revoke the family of an access or refresh token of this app; tokens of other apps are ignored."""
        family = family_of(secret=token, app=request.client)
        reason = "The app revoked it."
        if family is not None:
            revoke_family(family=family, reason=reason, actor=None)
        elif token_without_family := AccessToken.objects.filter(application=request.client, token_checksum=digest_of(token)).first():
            revoke_token(token=token_without_family, actor=None, reason=reason)


class RevocationValidator(Validator):
    """Lets a suspended app still revoke its tokens."""

    def authenticate_client_id(self, client_id: str | None, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Accept the id of any app, a suspended one too."""
        if not _set_client(client_id, request, must_be_usable=False):
            raise InvalidClientError(description="The client_id is missing or unknown.", request=request)
        return True


def _set_client(client_id: str | None, request: Any, *, must_be_usable: bool = True) -> bool:
    """Set the app with this id on the request; return whether there is one, and whether it is usable if it must be."""
    # An impossible id is not looked up: PostgreSQL refuses NUL.
    possible = CLIENT_ID.fullmatch(client_id or "")
    app = App.objects.select_related("user").filter(client_id=client_id).first() if possible else None
    if app is None or (must_be_usable and not app.is_usable(request)):
        return False
    request.client = app
    return True


def _granted_of(wanted: Iterable[str], granted: frozenset[Scope], request: Any) -> list[str]:
    """Return the granted ones of the requested scopes.

    Raises:
        InvalidScopeError: one is unknown, or none is granted.
    """
    asked = set(wanted)
    if not asked <= APP_SCOPES:
        raise InvalidScopeError(description="The scope parameter names a scope that apps cannot have.", request=request)
    if not asked & granted:
        raise InvalidScopeError(description="None of the requested scopes is granted.", request=request)
    return format_scopes(scope for scope in granted if scope in asked).split()


def _check_verifier(code_row: Grant, request: Any) -> None:
    """Void a code that is sent with a wrong verifier, so that nobody can guess twice."""
    well_formed_verifier = _VERIFIER.fullmatch(request.code_verifier)
    if well_formed_verifier and code_challenge_method_s256(request.code_verifier, code_row.code_challenge):
        return
    try:
        void_code(authorization_code=code_row)
    except Replayed as replay:
        revoke_family(family=replay.family, reason="The authorization code was used twice.", actor=None)
    except NotFound:
        pass
    if not well_formed_verifier:
        raise InvalidRequestError(description="The code_verifier is not 43 to 128 unreserved characters.", request=request)
    raise InvalidGrantError(description="The code_verifier is wrong. The code can no longer be used.", request=request)


def _scopes(names: Iterable[str]) -> frozenset[Scope]:
    return parse_scopes(" ".join(names))


def _consented_audience(row: Grant | RefreshToken, request: Any) -> Audience:
    """Return the audience that was consented to; a request may name no other."""
    consented = audience_of(row.resource)
    named = [value for name, value in request.decoded_body or () if name == "resource"]
    if consented is None or (named and audience_of(named) is not consented):
        raise invalid_target(request)
    return consented

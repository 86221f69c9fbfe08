"""The OAuth request validator: hashed codes, scopes limited to the grant, one audience for each token, replay detection.

The library asks these methods in the order of the protocol; whatever changes rows is a service's. The names and the
untyped `request` (oauthlib's, on which a flow's state is carried from method to method) are the library's.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.settings import oauth2_settings
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error, InvalidGrantError, InvalidRequestError

from marketplace.core.errors import NotFound
from marketplace.core.scopes import APP_SCOPES, Scope, format_scopes, parse_scopes

from ..audiences import Audience, audience_of
from ..models import AccessToken, App, Grant, RefreshToken
from ..secrets import Prefix, digest_of, well_formed
from ..services.consents import Authorization, give_consent
from ..services.credentials import revoke_token
from ..services.oauth import NewPair, Replayed, exchange_code, family_of, revoke_family, rotate

_CLIENT_ID = re.compile(r"[A-Za-z0-9._~-]{1,255}|https://[!-~]{1,247}")
# RFC 7636 section 4.1.
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def invalid_target(request: Any = None, **members: Any) -> CustomOAuth2Error:
    """Return the refusal of a resource that is not ours, or not the one that was consented to (RFC 8707)."""
    return CustomOAuth2Error("invalid_target", description="The resource is unknown or not allowed here.", request=request, **members)


class Validator(OAuth2Validator):
    """Decides what the library asks about clients, codes and tokens."""

    def validate_client_id(self, client_id: str, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Accept the id of a usable app."""
        return _found(client_id, request)

    def authenticate_client_id(self, client_id: str | None, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Accept the id of a usable app at the token and revocation endpoints."""
        return _found(client_id, request)

    def client_authentication_required(self, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Apps keep no secret: PKCE proves them."""
        return False

    def validate_scopes(self, client_id: str, scopes: Iterable[str], client: App, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Refuse unknown scopes, scopes that the app is not granted, and none at all.

        Tool clients do not know their app's grant: they ask for all that the resource's metadata names, and get what there is of
        it, as RFC 6749 section 3.3 allows. The answer names it, and so does the consent page.
        """
        wanted = set(scopes)
        named = [value for name, value in request.uri_query_params if name == "resource"]
        if audience_of(named) is Audience.MCP and wanted <= APP_SCOPES:
            request.scopes = format_scopes(client.scopes & wanted).split()
            return bool(request.scopes)
        return bool(wanted) and wanted <= client.scopes

    def save_authorization_code(self, client_id: str, code: Mapping[str, str], request: Any, *args: Any, **kwargs: Any) -> None:
        """Keep a code with the consent that it was made for."""
        authorization = Authorization(
            app=request.client,
            scopes=_scopes(request.scopes),
            audience=request.audience,
            redirect_uri=request.redirect_uri,
            code_challenge=request.code_challenge,
        )
        give_consent(user=request.user, authorization=authorization, code=code["code"], actor=request.user)

    def validate_code(self, client_id: str, code: str, client: App, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Accept a fresh code of this app; a used one ends what came of it."""
        grant = Grant.objects.select_related("user", "application").filter(code=digest_of(code), application=client).first()
        if grant is None:
            return False
        if grant.used_at is not None:
            revoke_family(family=grant.token_family, reason="The authorization code was used twice.", actor=None)
            return False
        audience, scopes = _granted_audience(grant, request), parse_scopes(grant.scope) & client.scopes
        if grant.expires <= timezone.now() or not grant.user.is_active or not scopes:
            return False
        if request.code_verifier and not _VERIFIER.fullmatch(request.code_verifier):
            raise InvalidRequestError(description="The code_verifier is not 43 to 128 unreserved characters.", request=request)
        request.code_grant, request.audience = grant, audience
        request.user, request.scopes = grant.user, format_scopes(scopes).split()
        return True

    def get_code_challenge(self, code: str, request: Any) -> str:
        """Return what the verifier must hash to."""
        return str(request.code_grant.code_challenge)

    def get_code_challenge_method(self, code: str, request: Any) -> str:
        """Return S256: the table takes no other."""
        return str(request.code_grant.code_challenge_method)

    def get_default_redirect_uri(self, client_id: str, request: Any, *args: Any, **kwargs: Any) -> str:
        """Return the address of a request that names none: the code's own at the exchange (OAuth 2.1), the app's only one before."""
        grant = getattr(request, "code_grant", None)
        return str(grant.redirect_uri if grant else request.client.default_redirect_uri)

    def confirm_redirect_uri(
        self, client_id: str, code: str, redirect_uri: str, client: App, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Accept the address of the authorization request, while it is still registered."""
        if request.code_grant.redirect_uri != redirect_uri or not client.redirect_uri_allowed(redirect_uri):
            raise InvalidGrantError
        return True

    def invalidate_authorization_code(self, client_id: str, code: str, request: Any, *args: Any, **kwargs: Any) -> None:
        """Do nothing: the exchange has marked the code as used, under its lock."""

    def validate_refresh_token(self, refresh_token: str, client: App, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Accept a live refresh token of this app; a used one ends its family."""
        if not well_formed(refresh_token, Prefix.REFRESH_TOKEN):
            return False
        rows = RefreshToken.objects.select_related("user", "application", "access_token")
        row = rows.filter(token_checksum=digest_of(refresh_token), application=client).first()
        if row is None:
            return False
        if row.revoked is not None:
            revoke_family(
                family=row.token_family, reason="A refresh token was used again after it had been replaced or revoked.", actor=None
            )
            return False
        audience, scopes = _granted_audience(row, request), parse_scopes(row.scope) & client.scopes
        idle = timedelta(seconds=oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)
        if row.created + idle <= timezone.now() or not row.user.is_active or not scopes:
            return False
        request.refresh_row, request.audience = row, audience
        request.user, request.original_scopes = row.user, format_scopes(scopes).split()
        return True

    def get_original_scopes(self, refresh_token: str, request: Any, *args: Any, **kwargs: Any) -> list[str]:
        """Return what was consented to and is granted still."""
        return list(request.original_scopes)

    def save_bearer_token(self, token: Mapping[str, Any], request: Any, *args: Any, **kwargs: Any) -> None:
        """Keep the new pair; of two at once with the same code or refresh token, the second is a replay."""
        pair = NewPair(
            access_secret=token["access_token"],
            refresh_secret=token["refresh_token"],
            scopes=_scopes(request.scopes),
            audience=request.audience,
            lifetime=timedelta(seconds=token["expires_in"]),
        )
        try:
            if request.grant_type == "refresh_token":
                rotate(refresh_token=request.refresh_row, pair=pair)
            else:
                exchange_code(grant=request.code_grant, pair=pair)
        except Replayed as replay:
            revoke_family(family=replay.family, reason="A code or refresh token was used twice at once.", actor=None)
            raise InvalidGrantError(request=request) from replay
        except NotFound as gone:
            raise InvalidGrantError(request=request) from gone

    def revoke_token(self, token: str, token_type_hint: str | None, request: Any, *args: Any, **kwargs: Any) -> None:
        """End the family of an access or refresh token of this app; another's is as unknown as none."""
        family, reason = family_of(secret=token, app=request.client), "The app revoked it."
        if family is not None:
            revoke_family(family=family, reason=reason, actor=None)
        elif alone := AccessToken.objects.filter(application=request.client, token_checksum=digest_of(token)).first():
            # One that was not made from a code, and is renewed by nothing.
            revoke_token(token=alone, actor=None, reason=reason)


class RevocationValidator(Validator):
    """Lets an app that may do nothing any more still put its tokens down."""

    def authenticate_client_id(self, client_id: str | None, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Accept the id of any app, a suspended one too."""
        return _found(client_id, request, usable=False)


def _found(client_id: str | None, request: Any, *, usable: bool = True) -> bool:
    """Put the app with this id on the request; tell whether there is one, and whether it is usable where it must be."""
    # What cannot be an id never reaches the database, where a NUL is an error.
    possible = _CLIENT_ID.fullmatch(client_id or "")
    app = App.objects.select_related("user").filter(client_id=client_id).first() if possible else None
    if app is None or (usable and not app.is_usable(request)):
        return False
    request.client = app
    return True


def _scopes(words: Iterable[str]) -> frozenset[Scope]:
    return parse_scopes(" ".join(words))


def _granted_audience(row: Grant | RefreshToken, request: Any) -> Audience:
    """Return what was consented to; a request may name it again, and nothing else."""
    granted = audience_of(row.resource)
    named = [value for name, value in request.decoded_body or () if name == "resource"]
    if granted is None or (named and audience_of(named) is not granted):
        raise invalid_target(request)
    return granted

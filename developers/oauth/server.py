"""Adapts Django requests and responses to oauthlib."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from oauth2_provider.settings import oauth2_settings
from oauthlib.common import add_params_to_uri
from oauthlib.oauth2 import OAuth2Error, RevocationEndpoint
from oauthlib.oauth2.rfc6749.errors import AccessDeniedError, InvalidRequestError, UnsupportedGrantTypeError

from marketplace.accounts.models import User
from marketplace.core.scopes import Scope, parse_scopes

from ..audiences import Audience, audience_of
from ..models import App
from .parameters import Pairs, query_of, values_of
from .validator import RevocationValidator, Validator, invalid_target

GRANT_TYPES = ("authorization_code", "refresh_token")

# For errors that the library raises without a description.
_DESCRIPTIONS = {
    "unauthorized_client": "The app cannot use this response_type.",
    "unsupported_response_type": "Only response_type=code is supported.",
}

# 32 bytes of SHA-256 in base64url (RFC 7636).
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")


class OAuthResponse(NamedTuple):
    """What the library responds."""

    headers: dict[str, str]
    body: str
    status: int


@cache
def _server() -> Any:
    return oauth2_settings.OAUTH2_SERVER_CLASS(Validator(), **oauth2_settings.server_kwargs)


@cache
def _revocation_endpoint() -> Any:
    return RevocationEndpoint(RevocationValidator())


@dataclass(frozen=True)
class AuthorizationRequest:
    """A valid authorization request."""

    app: App
    # The requested ones that the app is granted.
    scopes: frozenset[Scope]
    audience: Audience
    redirect_uri: str
    # Path and query, as the library reads them.
    address: str
    # What the library returned for the request; its next method takes it as `credentials`.
    parameters: dict[str, Any]


def read_authorization(request: HttpRequest) -> AuthorizationRequest:
    """Return the authorization request in the query string; a posted body is not part of it.

    Raises:
        FatalClientError: the app or the redirect URI is unknown, so the user must not be redirected.
        OAuth2Error: anything else; the error is sent to the app.
    """
    pairs = query_of(request)
    address = f"{request.path}?{urlencode(pairs)}"
    scopes, parameters = _server().validate_authorization_request(address, http_method="GET", body="", headers={})
    library_request = parameters["request"]
    if parameters["code_challenge_method"] != "S256":
        raise InvalidRequestError(description="PKCE needs code_challenge_method=S256.", request=library_request)
    if not _CHALLENGE.fullmatch(parameters["code_challenge"]):
        raise InvalidRequestError(description="The code_challenge is not 43 characters of base64url.", request=library_request)
    if values_of(pairs, "response_mode") not in ([], ["query"]):
        library_request.response_mode = None
        raise InvalidRequestError(description="Only response_mode=query is supported.", request=library_request)
    audience = audience_of(values_of(pairs, "resource"))
    if audience is None:
        raise invalid_target(library_request)
    return AuthorizationRequest(
        library_request.client, parse_scopes(" ".join(scopes)), audience, parameters["redirect_uri"], address, parameters
    )


def allow(authorization: AuthorizationRequest, user: User) -> str:
    """Issue a code for what the user has allowed, and return the redirect URI with it.

    Raises:
        FatalClientError: the app was suspended, or the redirect URI removed, meanwhile.
    """
    credentials = authorization.parameters | {"user": user, "audience": authorization.audience, "response_mode": "query"}
    headers, _, _ = _server().create_authorization_response(
        authorization.address, http_method="GET", body="", headers={}, scopes=list(authorization.scopes), credentials=credentials
    )
    return _with_issuer(headers["Location"])


def deny(authorization: AuthorizationRequest) -> str:
    """Return the redirect URI that tells the app that the user declined."""
    error = AccessDeniedError(description="The user declined.", state=authorization.parameters["state"])
    return error_address(error, authorization.redirect_uri)


def error_address(error: OAuth2Error, redirect_uri: str) -> str:
    """Return the redirect URI with an error."""
    error.response_mode = "query"
    error.description = error.description or _DESCRIPTIONS.get(error.error, "")
    return _with_issuer(error.in_uri(redirect_uri))


def token_response(pairs: Pairs) -> OAuthResponse:
    """Return the response of the token endpoint."""
    grant_types = values_of(pairs, "grant_type")
    if not grant_types:
        raise InvalidRequestError(description="Missing grant_type parameter.")
    # The library would treat an unknown grant type as a code.
    if grant_types[0] not in GRANT_TYPES:
        raise UnsupportedGrantTypeError(description="Only authorization_code and refresh_token are supported.")
    return _call(_server().create_token_response, pairs)


def revocation_response(pairs: Pairs) -> OAuthResponse:
    """Return the response of the revocation endpoint."""
    return _call(_revocation_endpoint().create_revocation_response, pairs)


def error_response(error: OAuth2Error) -> OAuthResponse:
    """Return an error response (RFC 6749 section 5.2)."""
    return OAuthResponse(error.headers, error.json, error.status_code)


def _call(operation: Any, pairs: Pairs) -> OAuthResponse:
    return OAuthResponse(*operation("/oauth", "POST", urlencode(pairs), {"Content-Type": "application/x-www-form-urlencoded"}))


def _with_issuer(address: str) -> str:
    """Add the issuer (RFC 9207), so that an app which uses several servers cannot confuse them."""
    return str(add_params_to_uri(address, [("iss", settings.BASE_URL)]))

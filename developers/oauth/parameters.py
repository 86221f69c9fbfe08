"""Parses OAuth requests once and strictly: input that Django tolerates can break the OAuth library or the database.

A parameter without a value counts as left out, and one that comes twice is refused (RFC 6749 section 3); only `resource`
may be repeated (RFC 8707).
"""

from urllib.parse import parse_qsl

from django.http import HttpRequest, UnreadablePostError
from oauthlib.oauth2.rfc6749.errors import InvalidRequestError, InvalidRequestFatalError

from .. import bounds

Pairs = list[tuple[str, str]]

_FORM = "application/x-www-form-urlencoded"


def form_of(request: HttpRequest) -> Pairs:
    """Return the parameters in the body.

    Raises:
        InvalidRequestError: it is not a form in UTF-8, too large, or ambiguous.
    """
    charset = (request.content_params or {}).get("charset", "utf-8").strip('"').lower()
    if request.content_type != _FORM or charset not in {"utf-8", "utf8"}:
        raise InvalidRequestError(description=f"The body must be {_FORM} in UTF-8.")
    try:
        # Refused before it is read.
        if int(request.META.get("CONTENT_LENGTH") or 0) > bounds.OAUTH_BODY_BYTES:
            raise InvalidRequestError(description="The body is too large.")
        return _pairs(request.body.decode())
    except UnreadablePostError as error:
        raise InvalidRequestError(description="The body ended too early.") from error
    except ValueError as error:
        raise InvalidRequestError(description="The body cannot be read, or names a parameter twice.") from error


def query_of(request: HttpRequest) -> Pairs:
    """Return the parameters in the address.

    Raises:
        InvalidRequestFatalError: they are too long or ambiguous, so that no redirect URI can be trusted.
    """
    # WSGI decodes bytes as Latin-1.
    query = request.META.get("QUERY_STRING", "").encode("latin-1", "replace")
    if len(query) > bounds.OAUTH_QUERY_BYTES:
        raise InvalidRequestFatalError(description="The address is too long.")
    try:
        return _pairs(query.decode())
    except ValueError as error:
        raise InvalidRequestFatalError(description="The address cannot be read, or names a parameter twice.") from error


def values_of(pairs: Pairs, name: str) -> list[str]:
    """Return every value of a parameter."""
    return [value for key, value in pairs if key == name]


def _pairs(text: str) -> Pairs:
    pairs = parse_qsl(text, errors="strict", max_num_fields=bounds.MAX_OAUTH_PARAMETERS)
    single = [name for name, _ in pairs if name != "resource"]
    if len(set(single)) < len(single):
        message = "a parameter came twice"
        raise ValueError(message)
    return pairs

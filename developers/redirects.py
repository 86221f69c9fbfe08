"""Validates OAuth redirect URIs: they are compared exactly, never by prefix.

Allowed are https, and http to a loopback address with any port (RFC 8252), because a program on the user's computer takes the
port that the system gives it. `localhost` counts as loopback: MCP names it, and its clients use it.
"""

import re
from urllib.parse import parse_qsl, urlsplit

from marketplace.core import bounds

_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_LOOPBACK = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]|localhost))(?::([0-9]{1,5}))?((?:/[^#]*)?)")
# A client_id: one of ours, or the address of a document.
CLIENT_ID = re.compile(r"[A-Za-z0-9._~-]{1,255}|https://[!-~]{1,247}")
_HTTPS_ORIGIN = re.compile(r"https://(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?")
# Added to the redirect by the server.
_RESERVED = frozenset({"code", "state", "iss", "error", "error_description", "error_uri"})


def uri_error(uri: str) -> str:
    """Return why an address cannot be registered, empty when it can."""
    if len(uri) > bounds.URL_CHARS or not _PRINTABLE.fullmatch(uri) or "\\" in uri:
        return "An absolute address in ASCII is needed."
    try:
        parts = urlsplit(uri)
        # Reading the port validates it.
        parts.port  # noqa: B018
    except ValueError:
        return "It is not a valid address."
    if parts.scheme != "https" and not _LOOPBACK.fullmatch(uri):
        return (
            "It must start with https://, or with http://127.0.0.1, http://[::1] or http://localhost for a program on the user's computer."
        )
    if not parts.hostname or "@" in parts.netloc or "*" in uri:
        return "It needs a host, without user name and without wildcards."
    if "#" in uri:
        return "A fragment (#) is not allowed."
    if any(name in _RESERVED for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        return "Its query may not contain parameters that the response adds, such as code, state, iss or error."
    return ""


def matches(uri: str, registered: str) -> bool:
    """Tell whether a requested address is the registered one; the port of a loopback address may differ."""
    if uri == registered:
        return True
    asked, known = _LOOPBACK.fullmatch(uri), _LOOPBACK.fullmatch(registered)
    if asked is None or known is None or not _PRINTABLE.fullmatch(uri) or int(asked[2] or 80) > 65_535:
        return False
    return (asked[1], asked[3]) == (known[1], known[3])


def is_loopback(uri: str) -> bool:
    """Tell whether an address leads to a program on the user's own computer."""
    return bool(_LOOPBACK.fullmatch(uri))


def origin_of(uri: str) -> str:
    """Return the origin of a registered address as browsers send it, without the port of a loopback address."""
    if loopback := _LOOPBACK.fullmatch(uri):
        return loopback[1]
    parts = urlsplit(uri)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"https://{host}" if parts.port in {None, 443} else f"https://{host}:{parts.port}"


def calling_origin(header: str) -> str | None:
    """Return an `Origin` header in the form of `origin_of`, None when it cannot be the origin of a registered address."""
    if loopback := _LOOPBACK.fullmatch(header):
        return loopback[1]
    return header if _HTTPS_ORIGIN.fullmatch(header) else None


def host_of(uri: str) -> str:
    """Return the host of an address for display, or that it is the user's own computer."""
    if is_loopback(uri):
        return "a program on this computer"
    return urlsplit(uri).netloc

"""HTTP requests to addresses that users supply (webhooks, client documents), protected against server-side request forgery.

They are sent by https only, and to public addresses only. A name is resolved once, all its addresses are checked, and the connection is made
to one of those that were checked, which prevents DNS rebinding. Redirects are not followed,
proxies of the environment are not used, and both the duration and the size of the response are limited, however slowly it
arrives. `settings.OUTBOUND_LOOPBACK` allows loopback addresses, for tests and development.
"""

import re
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPException
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

from django.conf import settings
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, LocationParseError
from urllib3.response import BaseHTTPResponse
from urllib3.util import Url, parse_url

from marketplace.core import bounds

from .client_address import Address, parse_networks

_PORTS = {"https": 443, "http": 80}
_VISIBLE = re.compile(r"[!-~]+")
# Global unicast; outside of it are mapped, translated (NAT64), local and multicast addresses.
_GLOBAL_IPV6 = IPv6Network("2000::/3")
# Special-purpose networks that `is_global` counts as public, at least in older Python versions: protocols, 6to4 relays, documentation.
_SPECIAL = ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20")
_TRIED_ADDRESSES = 4
# The most concurrent lookups: `getaddrinfo` has no timeout.
_LOOKUPS = threading.BoundedSemaphore(16)


class Refused(Exception):
    """The address is not allowed. The message can be shown to the user who entered it."""


class Failed(Exception):
    """The request failed, and may succeed later. The message can be shown to the user who entered the address."""


@dataclass(frozen=True)
class Response:
    """A response."""

    # May be a redirect.
    status: int
    headers: Mapping[str, str]
    # At most `max_bytes` of the body.
    body: bytes


def check_url(url: str) -> None:
    """Validate an address without a lookup, for forms.

    Raises:
        Refused: the address is not allowed.
    """
    _target(url)


def request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    seconds: float = 10.0,
    max_bytes: int = 64 * bounds.KIB,
) -> Response:
    """Send a request to an address that a user supplied.

    `seconds` is the time from the lookup to the last byte; of the response, `max_bytes` are read at most.

    Raises:
        Refused: the address is not allowed.
        Failed: there was no complete response in time.
    """
    target = _target(url)
    deadline = time.monotonic() + seconds
    addresses = _addresses(target, seconds)
    connection = _connect(target, addresses, deadline)
    timed_out = threading.Event()
    # A socket timeout applies to each read separately: only shutting the socket down stops a response that arrives slowly.
    watch = threading.Timer(_remaining(deadline), _shut_down, [connection.sock, timed_out])
    watch.daemon = True
    watch.start()
    try:
        sent_headers = (
            {"User-Agent": "creative-asset-marketplace", "Accept-Encoding": "identity"}
            | dict(headers or {})
            | {"Host": target.netloc or ""}
        )
        connection.timeout = _remaining(deadline)
        connection.request(method, target.request_uri, body=body, headers=sent_headers, preload_content=False, decode_content=False)
        response = _read(connection.getresponse(), max_bytes)
    except (OSError, HTTPError, HTTPException, ValueError) as error:
        too_long = timed_out.is_set() or time.monotonic() >= deadline
        raise Failed("It timed out." if too_long else "The response could not be read.") from error
    finally:
        watch.cancel()
        connection.close()
    if timed_out.is_set():
        raise Failed("It timed out.")
    return response


def _target(url: str) -> Url:
    if len(url) > bounds.URL_CHARS or not _VISIBLE.fullmatch(url) or "\\" in url:
        raise Refused("The address must consist of visible ASCII characters and must not be too long.")
    try:
        target = parse_url(url)
    except LocationParseError as error:
        raise Refused("The address cannot be read.") from error
    if target.scheme != "https" and not (target.scheme == "http" and settings.OUTBOUND_LOOPBACK):
        raise Refused("The address must begin with https://.")
    if not target.host or target.port == 0 or target.auth is not None or target.fragment is not None:
        raise Refused("The address must have a host, and no user name, password or fragment.")
    return target


def _addresses(target: Url, seconds: float) -> list[Address]:
    """Return the addresses of the host name, if all of them are allowed."""
    name = (target.host or "").strip("[]")
    try:
        found = _resolve(name, seconds)
    except TimeoutError as error:
        raise Failed("The host name could not be resolved in time.") from error
    except (OSError, UnicodeError) as error:
        raise Failed("The host name could not be resolved.") from error
    # Without the zone of link-local addresses.
    addresses = list(dict.fromkeys(ip_address(str(sockaddr[0]).partition("%")[0]) for *_, sockaddr in found))
    if not addresses or not all(_allowed(address, str(target.scheme)) for address in addresses):
        raise Refused("The host name resolves to an address that is not public.")
    return addresses


def _resolve(name: str, seconds: float) -> list[Any]:
    """Resolve a name in a daemon thread, which delays neither the caller beyond the time limit nor the end of the process.

    Raises:
        TimeoutError: it takes too long, or too many other lookups hang.
    """
    until = time.monotonic() + seconds
    if not _LOOKUPS.acquire(timeout=seconds):
        raise TimeoutError
    found: Future[list[Any]] = Future()

    def look_up() -> None:
        try:
            found.set_result(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM))
        except Exception as error:  # noqa: BLE001 - raised in the caller's thread
            found.set_exception(error)
        finally:
            _LOOKUPS.release()

    threading.Thread(target=look_up, name="outbound-lookup", daemon=True).start()
    return found.result(timeout=max(0.0, until - time.monotonic()))


def _allowed(address: Address, scheme: str) -> bool:
    if address.is_loopback:
        return bool(settings.OUTBOUND_LOOPBACK)
    if scheme != "https" or (isinstance(address, IPv6Address) and address not in _GLOBAL_IPV6):
        return False
    if any(address in network for network in parse_networks(_SPECIAL + tuple(settings.OUTBOUND_REFUSED_NETWORKS))):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _connect(target: Url, addresses: list[Address], deadline: float) -> HTTPConnection:
    """Return a connection to the first address that accepts one."""
    tried = addresses[:_TRIED_ADDRESSES]
    port = target.port or _PORTS[str(target.scheme)]
    name = (target.host or "").strip("[]")
    failure: Exception | None = None
    for position, address in enumerate(tried):
        # The connection and the TLS handshake have this time limit each.
        share = _remaining(deadline) / (2 * (len(tried) - position))
        if target.scheme == "http":
            connection = HTTPConnection(str(address), port, timeout=share)
        else:
            connection = HTTPSConnection(str(address), port, timeout=share, server_hostname=name, ssl_context=_tls())
        try:
            connection.connect()
        except (OSError, HTTPError) as error:
            connection.close()
            failure = error
        else:
            return connection
    bad_certificate = isinstance(failure, ssl.SSLCertVerificationError)
    raise Failed("The certificate is not valid for the name." if bad_certificate else "No connection could be made.") from failure


def _read(response: BaseHTTPResponse, max_bytes: int) -> Response:
    body = b""
    while len(body) < max_bytes and (part := response.read(max_bytes - len(body), decode_content=False)):
        body += part
    return Response(response.status, response.headers, body)


def _shut_down(sock: socket.socket, timed_out: threading.Event) -> None:
    timed_out.set()
    # It may have been closed meanwhile.
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _remaining(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise Failed("It timed out.")
    return left


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()

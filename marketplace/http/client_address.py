"""The client address of a request. Only the part of X-Forwarded-For written by `settings.TRUSTED_PROXIES` is trusted."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from django.conf import settings
from django.http import HttpRequest

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# A client usually has a whole /64, within which it can change its address.
_IPV6_PREFIX = 64
_UNKNOWN = "unknown"
# Enough for ten hops of the longest addresses.
FORWARDED_CHARS = 500


def client_network(request: HttpRequest) -> str:
    """Return the IPv4 address or the IPv6 /64 network of the client; `unknown` behind a Unix socket.

    The client is the nearest hop that is not a trusted proxy.
    """
    address = _client_address(request.META)
    if isinstance(address, IPv6Address):
        return str(ip_network((address, _IPV6_PREFIX), strict=False))
    return _UNKNOWN if address is None else str(address)


def is_from_proxy(environ: dict[str, Any]) -> bool:
    """Tell whether a request with this WSGI environment comes through a trusted proxy."""
    return "HTTP_X_FORWARDED_FOR" in environ and _is_trusted(_parse(environ.get("REMOTE_ADDR", "")))


def client_country(request: HttpRequest) -> str:
    """Return the country code of the client that a trusted proxy reports; empty if none does."""
    if not settings.CLIENT_COUNTRY_HEADER or not is_from_proxy(request.META):
        return ""
    country = request.headers.get(settings.CLIENT_COUNTRY_HEADER, "").strip().upper()
    return country if len(country) == 2 and country.isascii() and country.isalpha() else ""


def _client_address(environ: dict[str, Any]) -> Address | None:
    address = _parse(environ.get("REMOTE_ADDR", ""))
    # Each proxy appends the address that connected to it; the beginning is untrusted and of any length.
    for hop in reversed(environ.get("HTTP_X_FORWARDED_FOR", "")[-FORWARDED_CHARS:].split(",")):
        before = _parse(hop.strip())
        if before is None or not _is_trusted(address):
            break
        address = before
    return address


def _is_trusted(address: Address | None) -> bool:
    return address is not None and any(address in network for network in parse_networks(tuple(settings.TRUSTED_PROXIES)))


def _parse(text: str) -> Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    # A dual-stack socket reports IPv4 clients as ::ffff:192.0.2.1.
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(maxsize=8)
def parse_networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    """Return the networks, parsed once in a process."""
    return tuple(ip_network(text, strict=False) for text in texts)

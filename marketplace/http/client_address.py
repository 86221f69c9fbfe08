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
    meta, trusted = request.META, tuple(settings.TRUSTED_PROXIES)
    # Trusted proxies append to its end; the beginning is untrusted and of any length.
    forwarded = meta.get("HTTP_X_FORWARDED_FOR", "")[-FORWARDED_CHARS:] if trusted else ""
    return _network(meta.get("REMOTE_ADDR", ""), forwarded, trusted)


def is_from_proxy(environ: dict[str, Any]) -> bool:
    """Tell whether a request with this WSGI environment comes through a trusted proxy."""
    address = _parse(environ.get("REMOTE_ADDR", ""))
    trusted = networks(tuple(settings.TRUSTED_PROXIES))
    return "HTTP_X_FORWARDED_FOR" in environ and address is not None and any(address in network for network in trusted)


def client_country(request: HttpRequest) -> str:
    """Return the country code of the client that a trusted proxy reports; empty if none does."""
    if not settings.CLIENT_COUNTRY_HEADER or not is_from_proxy(request.META):
        return ""
    country = request.headers.get(settings.CLIENT_COUNTRY_HEADER, "").strip().upper()
    return country if len(country) == 2 and country.isascii() and country.isalpha() else ""


@lru_cache(maxsize=4096)
def _network(remote: str, forwarded: str, trusted: tuple[str, ...]) -> str:
    address = _client_address(remote, forwarded, trusted)
    if isinstance(address, IPv6Address):
        return str(ip_network((address, _IPV6_PREFIX), strict=False))
    return _UNKNOWN if address is None else str(address)


def _client_address(remote: str, forwarded: str, trusted: tuple[str, ...]) -> Address | None:
    address = _parse(remote)
    proxies = networks(trusted)
    # Each proxy appends the address that connected to it.
    for hop in reversed(forwarded.split(",")):
        if address is None or not any(address in network for network in proxies):
            break
        before = _parse(hop.strip())
        if before is None:
            break
        address = before
    return address


def _parse(text: str) -> Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    # A dual-stack socket reports IPv4 clients as ::ffff:192.0.2.1.
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(maxsize=8)
def networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    """Return networks, parsed once."""
    return tuple(ip_network(text, strict=False) for text in texts)

"""The client address of a request. X-Forwarded-For is believed only as far as `settings.TRUSTED_PROXIES` wrote it."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from django.conf import settings
from django.http import HttpRequest

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# One household or host gets a whole /64: single IPv6 addresses are free to change within it.
_IPV6_PREFIX = 64
_UNKNOWN = "unknown"
# Ten hops of the longest addresses.
FORWARDED_CHARS = 500


def client_network(request: HttpRequest) -> str:
    """Return what counts as one client: the IPv4 address, or the IPv6 network of 64 bits; `unknown` behind a Unix socket.

    It is that of the nearest hop that is no proxy of ours.
    """
    meta, trusted = request.META, tuple(settings.TRUSTED_PROXIES)
    # Proxies of ours write at its end. What strangers wrote before that may be as long as they like, and is not kept.
    forwarded = meta.get("HTTP_X_FORWARDED_FOR", "")[-FORWARDED_CHARS:] if trusted else ""
    return _network(meta.get("REMOTE_ADDR", ""), forwarded, trusted)


def is_from_proxy(environ: dict[str, Any]) -> bool:
    """Tell whether a request with this WSGI environment comes through a proxy of ours."""
    address = _parse(environ.get("REMOTE_ADDR", ""))
    trusted = _networks(tuple(settings.TRUSTED_PROXIES))
    return "HTTP_X_FORWARDED_FOR" in environ and address is not None and any(address in network for network in trusted)


@lru_cache(maxsize=4096)
def _network(remote: str, forwarded: str, trusted: tuple[str, ...]) -> str:
    address = _nearest_stranger(remote, forwarded, trusted)
    if isinstance(address, IPv6Address):
        return str(ip_network((address, _IPV6_PREFIX), strict=False))
    return _UNKNOWN if address is None else str(address)


def _nearest_stranger(remote: str, forwarded: str, trusted: tuple[str, ...]) -> Address | None:
    address = _parse(remote)
    proxies = _networks(trusted)
    # Each proxy appends the address that it was called from: the last is the most trustworthy.
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
    # A socket for both families shows IPv4 callers as ::ffff:192.0.2.1.
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(maxsize=8)
def _networks(proxies: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ip_network(proxy, strict=False) for proxy in proxies)

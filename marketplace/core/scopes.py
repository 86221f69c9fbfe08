"""What a credential may do: `noun:verb`, one vocabulary for keys, tokens and tools (reference section 5)."""

from collections.abc import Iterable
from enum import StrEnum


class Scope(StrEnum):
    """A permission that an admin grants to an app or a user gives a personal token."""

    CATALOG_READ = "catalog:read"
    LIBRARY_READ = "library:read"
    LIBRARY_DOWNLOAD = "library:download"
    ACCOUNT_READ = "account:read"
    WALLET_SPEND = "wallet:spend"
    VENDOR_MANAGE = "vendor:manage"


SCOPE_LABELS = {
    Scope.CATALOG_READ: "Read the AI manifests of published assets",
    Scope.LIBRARY_READ: "View the assets you own",
    Scope.LIBRARY_DOWNLOAD: "Download the assets you own",
    Scope.ACCOUNT_READ: "View your wallet balance and your orders",
    Scope.WALLET_SPEND: "Buy assets with your credit",
    Scope.VENDOR_MANAGE: "Manage your store: listings, uploads, prices",
}

# `vendor:manage` is a user's own: no app can be granted it.
APP_SCOPES = frozenset(Scope) - {Scope.VENDOR_MANAGE}
# The manifest takes API keys, and its tool takes tool tokens: `catalog:read` is of no use to a personal token.
PERSONAL_SCOPES = frozenset(Scope) - {Scope.CATALOG_READ}


def parse_scopes(text: str) -> frozenset[Scope]:
    """Return the known scopes in a space-separated list; unknown words carry nothing."""
    known = set(Scope)
    return frozenset(Scope(word) for word in text.split() if word in known)


def format_scopes(scopes: Iterable[Scope]) -> str:
    """Return the space-separated list in the vocabulary's own order."""
    wanted = frozenset(scopes)
    return " ".join(scope for scope in Scope if scope in wanted)

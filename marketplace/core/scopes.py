"""Scopes (`noun:verb`), which limit what keys, tokens and tools can do."""

from collections.abc import Iterable
from enum import StrEnum


class Scope(StrEnum):
    """The scopes, which reviewers grant to an app, or a user to a personal token."""

    CATALOG_READ = "catalog:read"
    LIBRARY_READ = "library:read"
    LIBRARY_DOWNLOAD = "library:download"
    ACCOUNT_READ = "account:read"
    WALLET_SPEND = "wallet:spend"
    WALLET_FUND = "wallet:fund"
    VENDOR_MANAGE = "vendor:manage"


SCOPE_LABELS = {
    Scope.CATALOG_READ: "Read the AI manifests of published assets",
    Scope.LIBRARY_READ: "View the assets you own",
    Scope.LIBRARY_DOWNLOAD: "Download the assets you own",
    Scope.ACCOUNT_READ: "View your name, email address, balance, orders, invoices and billing details",
    Scope.WALLET_SPEND: "Buy assets with your credit, ask for refunds, and set your billing details and currency",
    Scope.WALLET_FUND: "Ask you to add credit; you pay on the provider's page",
    Scope.VENDOR_MANAGE: "Manage your store and its listings, see its earnings, and appeal decisions about you",
}

# Listed by kind of credential, so that a new scope is in none of them by default. Apps cannot be granted `vendor:manage`.
APP_SCOPES = frozenset(
    {Scope.CATALOG_READ, Scope.LIBRARY_READ, Scope.LIBRARY_DOWNLOAD, Scope.ACCOUNT_READ, Scope.WALLET_SPEND, Scope.WALLET_FUND}
)
# `catalog:read` is of no use to a personal token: manifests require an API key, the manifest tool an MCP token.
PERSONAL_SCOPES = frozenset(
    {Scope.LIBRARY_READ, Scope.LIBRARY_DOWNLOAD, Scope.ACCOUNT_READ, Scope.WALLET_SPEND, Scope.WALLET_FUND, Scope.VENDOR_MANAGE}
)


def parse_scopes(text: str) -> frozenset[Scope]:
    """Return the scopes in a space-separated list; unknown ones are ignored."""
    known = set(Scope)
    return frozenset(Scope(word) for word in text.split() if word in known)


def format_scopes(scopes: Iterable[Scope]) -> str:
    """Return a space-separated list in the order of `Scope`."""
    wanted = frozenset(scopes)
    return " ".join(scope for scope in Scope if scope in wanted)

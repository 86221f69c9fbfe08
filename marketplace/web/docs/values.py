"""Values of this service for the documentation: addresses, limits, error codes, scopes."""

import re
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path

from django.conf import settings
from django.urls import reverse

from catalog import bounds as catalog_bounds
from catalog.uses import UNITS, Use
from library import bounds as library_bounds
from marketplace.core import bounds
from marketplace.core.errors import all_problems, status_line
from marketplace.core.scopes import APP_SCOPES, PERSONAL_SCOPES, SCOPE_LABELS, Scope
from marketplace.http.request_body import BLOCK_BYTES
from marketplace.mcp.revisions import SUPPORTED
from marketplace.mcp.tools.calling import TOOLS
from vendors import bounds as vendor_bounds
from wallet import bounds as wallet_bounds
from wallet.services.payout_batches import PREPARED_AT_ONCE

EXAMPLES = Path(__file__).parent / "examples"

_NAME = re.compile(r"\{\{(?:(\w+)\.)?(\w+)\}\}")
_MODULES = {
    "core": bounds,
    "catalog": catalog_bounds,
    "library": library_bounds,
    "vendors": vendor_bounds,
    "wallet": wallet_bounds,
    "settings": settings,
}


def filled_in(text: str) -> str:
    """Return the text with every `{{name}}` replaced by the value, and `{{wallet.QUOTE_MINUTES}}` by that number in the bounds of the app, or in the settings.

    Raises:
        KeyError: there is no such value.
        AttributeError: there is no such number.
    """
    return _NAME.sub(lambda match: f"{getattr(_MODULES[match[1]], match[2]):,}" if match[1] else VALUES[match[2]](), text)


def problem_table() -> str:
    """Return every error code by status, as a Markdown table, each with a link to its page."""
    lines = ["| Status | Code | Meaning |", "| --- | --- | --- |"]
    for problem in sorted(all_problems().values(), key=attrgetter("status", "code")):
        link = f"[`{problem.code}`]({reverse('problem', args=[problem.code])})"
        lines.append(f"| {status_line(problem.status)} | {link} | {problem.title} |")
    return "\n".join(lines)


def scope_table() -> str:
    """Return the scopes with the labels of the consent page, as a Markdown table."""
    lines = ["| Scope | Allows to | Works with |", "| --- | --- | --- |"]
    lines += [f"| `{scope}` | {SCOPE_LABELS[scope]} | {_credentials_of(scope)} |" for scope in Scope]
    return "\n".join(lines)


def _credentials_of(scope: Scope) -> str:
    if scope not in APP_SCOPES:
        return "personal tokens"
    if scope == Scope.WALLET_FUND:
        return "OAuth, personal tokens, MCP tokens"
    return "API keys, OAuth, personal tokens, MCP tokens" if scope in PERSONAL_SCOPES else "API keys; MCP tokens and OAuth for `/mcp`"


def limit_table() -> str:
    """Return the rate limits of this service, as a Markdown table."""
    limits = settings.RATE_LIMITS
    rows = (
        ("API key", "per key; staff can set a different limit for a key", limits["api_key"]),
        ("Bearer token", "per user and app; a user's personal tokens count as one app", limits["bearer_app"]),
        ("All bearer tokens of a user", "per user, across all apps", limits["bearer_user"]),
        ("No credential", "per client address", limits["anonymous"]),
    )
    lines = ["| Credential | Counted | Requests per minute |", "| --- | --- | ---: |"]
    return "\n".join([*lines, *(f"| {name} | {how} | {calls:,} |" for name, how, calls in rows)])


def use_table() -> str:
    """Return the uses that licence terms decide on, as a Markdown table."""
    lines = ["| `use` | Meaning | `quantity` |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| `{use}` | {use.label} | {UNITS.get(use, '')} |" for use in Use)])


def tool_table() -> str:
    """Return the tools of the MCP server, as a Markdown table."""
    lines = ["| Tool | Scope | What it does |", "| --- | --- | --- |"]
    lines += [f"| `{tool.name}` | {f'`{tool.scope}`' if tool.scope else 'any token'} | {tool.description} |" for tool in TOOLS.values()]
    return "\n".join(lines)


def mcp_revisions() -> str:
    """Return the supported revisions of MCP, newest first."""
    return ", ".join(f"`{revision}`" for revision in sorted(SUPPORTED, reverse=True))


def client_metadata_sentence() -> str:
    """Return which hosts may serve client metadata documents."""
    hosts = ", ".join(f"`{host}`" for host in settings.CLIENT_METADATA_HOSTS)
    about = "A client can use the https URL of its client ID metadata document as its client ID if it is hosted"
    return f"{about} on one of: {hosts}." if hosts else f"{about} on a host that the operator has allowed; this site allows none."


VALUES: dict[str, Callable[[], str]] = {
    "base_url": lambda: settings.BASE_URL,
    "problem_table": problem_table,
    "scope_table": scope_table,
    "limit_table": limit_table,
    "tool_table": tool_table,
    "mcp_revisions": mcp_revisions,
    "client_metadata_sentence": client_metadata_sentence,
    "insufficient_balance_title": lambda: all_problems()["insufficient_balance"].title,
    "example_buy_a_font": lambda: (EXAMPLES / "buy_a_font.py").read_text("utf-8").rstrip(),
    "example_check_evidence": lambda: (EXAMPLES / "check_evidence.py").read_text("utf-8").rstrip(),
    "example_check_credential": lambda: (EXAMPLES / "check_credential.py").read_text("utf-8").rstrip(),
    "use_table": use_table,
    "payouts_prepared_at_once": lambda: str(PREPARED_AT_ONCE),
    "upload_gib": lambda: f"{catalog_bounds.DELIVERABLE_BYTES // bounds.GIB}",
    "part_mib": lambda: str(vendor_bounds.MAX_PART_BYTES // bounds.MIB),
    "part_minimum_mib": lambda: str(vendor_bounds.MIN_PART_BYTES // bounds.MIB),
    "body_block_kib": lambda: str(BLOCK_BYTES // bounds.KIB),
    "body_kib_a_second": lambda: str(bounds.BODY_BYTES_A_SECOND // bounds.KIB),
    "wrong_codes_a_minute": lambda: str(settings.RATE_LIMITS["discount_codes"]),
    "link_minutes": lambda: str(library_bounds.DOWNLOAD_LINK_SECONDS // 60),
}

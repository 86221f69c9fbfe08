"""The output of the quickstart: a file with the demo's address and credentials for scripts, and commands to paste."""

import json
import os
from pathlib import Path

from django.conf import settings

from catalog.models import Listing
from catalog.models.listings import ListingStatus
from library.selectors import current_licences_of
from marketplace.accounts.models import User

from .entries import CatalogEntry
from .people import Credentials


def credentials_path() -> Path:
    """Return the path of the file with the demo's address and credentials."""
    return Path(settings.DATA_DIR) / "demo.json"


def read_credentials(path: Path) -> Credentials:
    """Return the credentials that an earlier run wrote, without the address; empty if they cannot be read."""
    try:
        credentials = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(credentials, dict):
        return {}
    return {role: known for role, known in credentials.items() if isinstance(known, dict)}


def write_credentials(path: Path, credentials: Credentials) -> None:
    """Write the file atomically, readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_suffix(".new")
    staged.unlink(missing_ok=True)
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(credentials, file, indent=2)
        file.write("\n")
    staged.replace(path)


def suggested_slug(entries: list[CatalogEntry], user: User) -> str:
    """Return the slug of a listing that any account can buy in INR, one that the user does not own if there is one."""
    owned = set(current_licences_of(user).values_list("listing__slug", flat=True))
    for_sale = set(Listing.objects.filter(status=ListingStatus.PUBLISHED, store__is_open=True).values_list("slug", flat=True))
    offered = [entry.slug for entry in entries if entry.tier == "free" and "INR" in entry.prices and entry.slug in for_sale]
    return next((slug for slug in offered if slug not in owned), offered[0] if offered else entries[0].slug)


def curl_lines(credentials: Credentials, slug: str) -> list[tuple[str, str]]:
    """Return what each command does and the command itself, in an order in which they work."""
    api = f"{credentials['baseUrl']}/api/v1"
    key = f"-H 'X-Api-Key: {credentials['developer']['apiKey']}'"
    tools = credentials["developer"]["mcpToken"]
    link = "python3 -c 'import json,sys; print(json.load(sys.stdin)[\"downloadUrl\"])'"
    return [
        ("Browse", f"curl -sS '{api}/assets?limit=3'"),
        ("Search, misspelt", f"curl -sS '{api}/assets/search?q=grotsk'"),
        ("AI manifest", f"curl -sS {key} '{api}/assets/{slug}/manifest'"),
        ("Wallet", f"curl -sS {key} '{api}/wallet'"),
        ("Buy", f"curl -sS {key} -H 'Content-Type: application/json' -d '{{\"assetId\": \"{slug}\"}}' '{api}/wallet/spend'"),
        ("Library", f"curl -sS {key} '{api}/library'"),
        ("Download link", f"curl -sS -X POST {key} '{api}/library/download/{slug}'"),
        (
            "MCP server for AI assistants",
            f"claude mcp add --transport http marketplace {credentials['baseUrl']}/mcp --header 'Authorization: Bearer {tools}'",
        ),
        ("Fetch the package", f'curl -sS -o package.zip "$(curl -sS -X POST {key} {api}/library/download/{slug} | {link})"'),
    ]

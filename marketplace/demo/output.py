"""The output of the quickstart: a file with the demo's address and credentials for scripts, and commands to paste."""

import json
import os
from pathlib import Path

from django.conf import settings

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


def curl_lines(credentials: Credentials, slug: str) -> list[tuple[str, str]]:
    """Return what each command does and the command itself, in an order in which they work."""
    api = f"{credentials['baseUrl']}/api/v1"
    key_header = f"-H 'X-Api-Key: {credentials['developer']['apiKey']}'"
    mcp_token = credentials["developer"]["mcpToken"]
    print_link = "python3 -c 'import json,sys; print(json.load(sys.stdin)[\"downloadUrl\"])'"
    return [
        ("Browse", f"curl -sS '{api}/assets?limit=3'"),
        ("Search, misspelt", f"curl -sS '{api}/assets/search?q=grotsk'"),
        ("AI manifest", f"curl -sS {key_header} '{api}/assets/{slug}/manifest'"),
        ("Wallet", f"curl -sS {key_header} '{api}/wallet'"),
        ("Buy", f"curl -sS {key_header} -H 'Content-Type: application/json' -d '{{\"assetId\": \"{slug}\"}}' '{api}/wallet/spend'"),
        ("Library", f"curl -sS {key_header} '{api}/library'"),
        ("Download link", f"curl -sS -X POST {key_header} '{api}/library/download/{slug}'"),
        (
            "MCP server for AI assistants",
            f"claude mcp add --transport http marketplace {credentials['baseUrl']}/mcp --header 'Authorization: Bearer {mcp_token}'",
        ),
        ("Fetch the package", f'curl -sS -o package.zip "$(curl -sS -X POST {key_header} {api}/library/download/{slug} | {print_link})"'),
    ]

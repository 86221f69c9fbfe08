"""Texts inside archives, by which a skill is compared, and the hosts that they name."""

import re
from typing import Any

EXTENSIONS = {"md", "txt", "json", "yaml", "yml", "toml", "py", "js", "mjs", "ts", "sh", "html", "css", "csv", "xml", "ini", "cfg", "ps1"}
TEXTS = 40
TEXT_BYTES = 2**16
# All texts together, in characters.
BUDGET_CHARS = 256 * 2**10
HOSTS = 200
PLACES = 3
TOOLS = 100
TOOL_CHARS = 100
# The host stands after the last `@` of the authority; it may be an IPv6 address, or have letters of any script.
_HOST = re.compile(r"\b(?:https?|wss?|s?ftp|ssh|git)://(?:[^\s/?#\\\"'<>]*@)?(\[[0-9a-f:.]{2,45}\]|\w(?:[\w.-]{0,251}\w)?)", re.IGNORECASE)
_TOOL = re.compile(r"[^\s,()\[\]\"']+(?:\([^()]{0,80}\))?")


class Texts:
    """Collects the texts of an archive within a budget."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.hosts: dict[str, list[str]] = {}
        self._left = BUDGET_CHARS

    def add(self, path: str, content: bytes) -> None:
        """Add a text file; its hosts are found in all of it, its text is kept up to the budget."""
        text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        for found in _HOST.finditer(text):
            host = found[1].lower()
            if host in self.hosts or len(self.hosts) < HOSTS:
                places = self.hosts.setdefault(host, [])
                if path not in places and len(places) < PLACES:
                    places.append(path)
        kept = text[: min(TEXT_BYTES - 1, self._left)]
        self._left -= len(kept)
        if kept:
            self.texts[path] = kept

    def facts(self) -> dict[str, Any]:
        """Return the texts by path, and by host the first files that name it."""
        return {"texts": self.texts, "hosts": self.hosts} if self.texts else {}


def tools_of(stated: str) -> list[str]:
    """Return the tools that the front matter of a skill allows."""
    return sorted({tool[:TOOL_CHARS] for tool in _TOOL.findall(stated)})[:TOOLS]

"""Texts inside archives, by which versions of a skill are compared, and the hosts and scripts that are found in them."""

import re
from typing import Any

EXTENSIONS = {"md", "txt", "json", "yaml", "yml", "toml", "py", "js", "mjs", "ts", "sh", "html", "css", "csv", "xml", "ini", "cfg", "ps1"}
MAX_TEXTS = 40
TEXT_BYTES = 2**16
# The most characters of all texts together.
BUDGET_CHARS = 256 * 2**10
MAX_HOSTS = 200
MAX_PLACES = 3
MAX_TOOLS = 100
TOOL_CHARS = 100
MAX_LISTED_FILES = 200
# Files that an interpreter runs, by their extension.
SCRIPT_EXTENSIONS = {
    *("bash", "bat", "cjs", "cmd", "command", "fish", "js", "ksh", "lua", "mjs", "php", "pl"),
    *("ps1", "psm1", "py", "pyw", "r", "rb", "sh", "swift", "tcl", "ts", "vbs", "zsh"),
}
EXECUTABLE = 0o111
# The host stands after the last `@` of the authority; it may be an IPv6 address, or have letters of any script.
_HOST = re.compile(r"\b(?:https?|wss?|s?ftp|ssh|git)://(?:[^\s/?#\\\"'<>]*@)?(\[[0-9a-f:.]{2,45}\]|\w(?:[\w.-]{0,251}\w)?)", re.IGNORECASE)
_TOOL = re.compile(r"[^\s,()\[\]\"']+(?:\([^()]{0,80}\))?")


class Texts:
    """Collects the texts of an archive within a budget, and the hosts that they name."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.hosts: dict[str, list[str]] = {}
        # The number of files that were not searched for hosts: too large, or too many.
        self.unsearched = 0
        # Hashes of hosts beyond the number that is kept.
        self.other_hosts: set[int] = set()
        self._left = BUDGET_CHARS

    def add(self, path: str, content: bytes) -> None:
        """Add a text file; its hosts are found in all of it, its text is kept up to the budget."""
        text = decoded(content).replace("\r\n", "\n")
        self.find_hosts(path, text)
        kept = text[: min(TEXT_BYTES - 1, self._left)]
        self._left -= len(kept)
        if kept:
            self.texts[path] = kept

    def find_hosts(self, path: str, text: str) -> None:
        """Note the hosts that a text names."""
        for found in _HOST.finditer(text):
            self.note_host(found[1].lower(), path)

    def note_host(self, host: str, path: str) -> None:
        """Note that a file names a host."""
        if host in self.hosts or len(self.hosts) < MAX_HOSTS:
            places = self.hosts.setdefault(host, [])
            if path not in places and len(places) < MAX_PLACES:
                places.append(path)
        else:
            self.other_hosts.add(hash(host))

    def facts(self) -> dict[str, Any]:
        """Return the texts by path, by host the first files that name it, and how much was left out."""
        found: dict[str, Any] = {"texts": self.texts, "hosts": self.hosts} if self.texts or self.hosts else {}
        left_out = {"otherHosts": len(self.other_hosts), "unsearchedTexts": self.unsearched}
        return found | {name: count for name, count in left_out.items() if count}


def decoded(content: bytes) -> str:
    """Return bytes as text: in UTF-16 if they begin with its mark, else in UTF-8."""
    return content.decode("utf-16" if content[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig", "replace")


def tools_of(stated: Any) -> list[str]:
    """Return the tools that a value of a skill's front matter names: a text, a list, or a mapping by tool."""
    if isinstance(stated, str):
        found = [tool for tool in _TOOL.findall(stated) if tool != "-"]
    else:
        found = [str(tool) for tool in stated] if isinstance(stated, list | dict) else []
    return sorted({tool[:TOOL_CHARS] for tool in found if tool})[:MAX_TOOLS]


def script_signs(path: str, mode: int, head: bytes) -> list[str]:
    """Return what shows that a file is a script or program: its extension, its executable mode, its first line."""
    signs = {
        "extension": path.rpartition(".")[2].lower() in SCRIPT_EXTENSIONS,
        "executable": bool(mode & EXECUTABLE),
        "shebang": head.startswith(b"#!"),
    }
    return [sign for sign, is_there in signs.items() if is_there]

"""What every archive's entries are counted into, and what is noted about them."""

from collections import Counter
from typing import Any

from .verdicts import Rejected

ENTRIES = 200_000
# A thousand terabytes: sizes in an archive are claims, and some formats allow any.
CLAIMED_BYTES = 2**50
EXTENSIONS = 100
EXTENSION_CHARS = 16
EXAMPLES = 5
PATH_CHARS = 200


class Tally:
    """Counts entries without opening them, and notes names and kinds that an extractor should beware of."""

    def __init__(self) -> None:
        self.count = 0
        self.size = 0
        self._extensions: Counter[str] = Counter()
        self._noted: dict[str, list[str]] = {}
        self._times: Counter[str] = Counter()

    def add(self, path: str, size: int, *, folder: bool) -> None:
        """Count an entry; folders are entries, but have no extension."""
        self.count += 1
        if self.count > ENTRIES:
            raise Rejected(f"The archive has more than {ENTRIES} entries.")
        self.size += size
        if self.size > CLAIMED_BYTES:
            raise Rejected("The archive claims to hold more than any disk does.")
        if _unsafe(path):
            self.note("unsafe_path", path)
        if not folder:
            self._extensions[_extension(path)] += 1

    def note(self, code: str, path: str) -> None:
        """Remember a warning with a few of the names that it is about."""
        self._times[code] += 1
        examples = self._noted.setdefault(code, [])
        if len(examples) < EXAMPLES:
            examples.append("".join(char if char.isprintable() else "\ufffd" for char in path[:PATH_CHARS]))

    def technical(self) -> dict[str, Any]:
        """Return the reference's fields, and warnings where there are any."""
        common = self._extensions.most_common(EXTENSIONS)
        found: dict[str, Any] = {
            "entryCount": self.count,
            "uncompressedSize": self.size,
            "contentsByExtension": dict(sorted(common)),
        }
        if self._noted:
            found["warnings"] = [
                {"code": code, "count": self._times[code], "examples": examples} for code, examples in sorted(self._noted.items())
            ]
        return found


def _extension(path: str) -> str:
    stem, dot, extension = path.rsplit("/", 1)[-1].rpartition(".")
    # A name that only begins with a dot, or ends in a sentence, has none.
    if not dot or not stem or not extension.isalnum() or len(extension) > EXTENSION_CHARS:
        return ""
    return extension.lower()


def _unsafe(path: str) -> bool:
    normal = path.replace("\\", "/")
    drive = len(normal) > 1 and normal[1] == ":"
    return normal.startswith("/") or drive or ".." in normal.split("/") or "\x00" in path

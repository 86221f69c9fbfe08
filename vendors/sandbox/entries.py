"""Counts the entries of an archive, and records warnings about suspicious ones."""

from collections import Counter
from hashlib import blake2b
from typing import Any

from .exceptions import Rejected, TooMuch

MAX_ENTRIES = 200_000
# 1 PiB: the sizes that an archive states are unverified, and some formats allow any number.
MAX_CLAIMED_BYTES = 2**50
# An archive that expands beyond this ratio is taken for a bomb; up to FREE_BYTES any ratio is harmless.
MAX_RATIO = 200
FREE_BYTES = 64 * 2**20
MAX_EXTENSIONS = 100
EXTENSION_CHARS = 16
MAX_EXAMPLES = 5
PATH_CHARS = 200
# Extensions of archives, whose contents a reviewer does not see, and of files that run when they are opened.
NESTED = {"zip", "rar", "7z", "tar", "gz", "tgz", "bz2", "xz", "zst", "iso", "dmg", "cab"}
PROGRAMS = {"exe", "com", "scr", "msi", "bat", "cmd", "ps1", "vbs", "lnk", "jar", "apk", "hta", "reg"}
# The most entries of an archive that reviewers are shown, and the most whose digests are recorded to compare versions.
MAX_LISTED = 500
MAX_COMPARED = 5000
DIGEST_BYTES = 16


def too_many_entries() -> TooMuch:
    """Return the refusal of an archive with too many entries."""
    return TooMuch(f"The archive has more than {MAX_ENTRIES:,} entries. Split it into several.")


class EntryCounter:
    """Counts entries without opening them, and records names and types that are dangerous to extract."""

    def __init__(self, packed_bytes: int) -> None:
        self.count = 0
        self.size = 0
        self._allowed = MAX_RATIO * packed_bytes + FREE_BYTES
        self._extensions: Counter[str] = Counter()
        self._warnings: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}
        # Hashes instead of names: the names of 200,000 entries may take a hundred MiB.
        self._seen: set[int] = set()
        self._listed: list[list[str | int]] = []
        self._compared: list[list[str | int]] = []
        self._others = blake2b(digest_size=DIGEST_BYTES)
        self._has_others = False

    def add(self, path: str, size: int, *, folder: bool) -> None:
        """Count an entry; folders are entries, but have no extension."""
        self.count += 1
        if self.count > MAX_ENTRIES:
            raise too_many_entries()
        self.size += size
        if self.size > MAX_CLAIMED_BYTES:
            raise Rejected("The archive claims to hold more than any disk does.")
        if self.size > self._allowed:
            raise Rejected(f"The archive expands to more than {MAX_RATIO} times its size.")
        self._note_name(path, folder=folder)
        if not folder:
            extension = _extension(path)
            self._extensions[extension] += 1
            if len(self._listed) < MAX_LISTED:
                self._listed.append([displayable(path), size])
            if extension in NESTED:
                self.note("nested_archive", path)
            elif extension in PROGRAMS:
                self.note("program", path)

    def _note_name(self, path: str, *, folder: bool) -> None:
        if _unsafe(path):
            self.note("unsafe_path", path)
        if not path.isprintable():
            # Control characters, and those that change the direction of text.
            self.note("unprintable_name", path)
        # On case-insensitive file systems both names are one file, and which of the two is kept depends on the extractor.
        key = hash(path.casefold().rstrip("/"))
        if key in self._seen and not folder:
            self.note("duplicate_name", path)
        self._seen.add(key)

    def note(self, code: str, path: str) -> None:
        """Record a warning with a few of the affected names."""
        self._warnings[code] += 1
        examples = self._examples.setdefault(code, [])
        if len(examples) < MAX_EXAMPLES:
            examples.append(displayable(path))

    def add_digest(self, path: str, size: int, digest: str) -> None:
        """Record the digest of an entry's content, by which versions of the archive are compared."""
        if len(self._compared) < MAX_COMPARED:
            self._compared.append([displayable(path), size, digest])
        else:
            self._has_others = True
            self._others.update(f"{path}\0{size}\0{digest}\0".encode("utf-8", "replace"))

    def facts(self) -> dict[str, Any]:
        """Return the digests: one for each of the first entries, and one for all others together, if there are any."""
        return {"entries": self._compared} | ({"otherEntries": self._others.hexdigest()} if self._has_others else {})

    def details(self) -> dict[str, Any]:
        """Return the archive fields of `technicalJson`, the warnings if there are any, and the first entries."""
        common = self._extensions.most_common(MAX_EXTENSIONS)
        found: dict[str, Any] = {
            "entryCount": self.count,
            "uncompressedSize": self.size,
            "contentsByExtension": dict(sorted(common)),
            "entries": self._listed,
        }
        if self._warnings:
            found["warnings"] = [
                {"code": code, "count": count, "examples": self._examples[code]} for code, count in sorted(self._warnings.items())
            ]
        return found


def displayable(path: str) -> str:
    """Return a name that is safe to display: shortened, with unprintable characters replaced."""
    return "".join(char if char.isprintable() else "\ufffd" for char in path[:PATH_CHARS])


def _extension(path: str) -> str:
    stem, dot, extension = path.rsplit("/", 1)[-1].rpartition(".")
    # Dot files have no extension; long ones and ones with spaces do not count.
    if not dot or not stem or len(extension) > EXTENSION_CHARS or not extension.isalnum():
        return ""
    return extension.lower()


def _unsafe(path: str) -> bool:
    normal = path.replace("\\", "/")
    drive = len(normal) > 1 and normal[1] == ":"
    return normal.startswith("/") or drive or (".." in normal and ".." in normal.split("/")) or "\x00" in path

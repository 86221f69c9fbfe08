"""The public details of a listing's file for its page: the skill, the tracks, and the names and sizes of an archive's entries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from django.utils.safestring import SafeString

from catalog.manifests.sources import headings_of
from catalog.models import Deliverable, Listing
from catalog.selectors.listings import SkillRequests, is_free_for_all, requests_of_skill

from .description import description_html

ENTRIES = 300
# Folders below this depth are shown as part of the names in them.
DEPTH = 5


@dataclass(frozen=True)
class Skill:
    """The public part of a SKILL.md.

    Args:
        text: The text as HTML; empty unless everyone can have the skill for nothing.
        is_cut: Whether the text is only its beginning.
        requests: What it asks for; None where that was not recorded.
    """

    name: str
    description: str
    headings: Sequence[str]
    text: SafeString
    is_cut: bool
    requests: SkillRequests | None


class Row(NamedTuple):
    """A step through a tree of files: a file, or the start or the end of a folder with the number of its files."""

    kind: Literal["file", "start", "end"]
    name: str = ""
    size: int = 0
    files: int = 0


@dataclass(frozen=True)
class Entries:
    """The first files of an archive as a tree, and how many it has."""

    rows: Sequence[Row]
    shown: int
    count: int


@dataclass
class _Folder:
    folders: dict[str, "_Folder"] = field(default_factory=dict)
    files: list[tuple[str, int]] = field(default_factory=list)


def skill_of(listing: Listing, file: Deliverable | None) -> Skill | None:
    """Return the public part of the skill in a file, None if there is none; in one query if there is one."""
    skill = None if file is None else file.technical.get("skill")
    if file is None or skill is None:
        return None
    text = skill.get("text", "")
    return Skill(
        name=skill.get("name", ""),
        description=skill.get("description", ""),
        headings=headings_of(text),
        text=description_html(text, breaks=False) if is_free_for_all(listing) else SafeString(),
        is_cut=skill.get("truncated", False),
        requests=requests_of_skill(file),
    )


def tracks_of(file: Deliverable | None) -> list[tuple[str, float]]:
    """Return the path and the duration in seconds of the sounds in an archive that were inspected."""
    members: list[dict[str, Any]] = [] if file is None else file.technical.get("members", [])
    return sorted((member["path"], member["durationSeconds"]) for member in members if "durationSeconds" in member)


def entries_of(file: Deliverable | None) -> Entries | None:
    """Return the first files of an archive as a tree, None if the file is not an archive."""
    if file is None or not file.entries:
        return None
    root = _Folder()
    for path, size in file.entries[:ENTRIES]:
        *folders, name = [part for part in path.split("/") if part] or [path]
        folder = root
        for part in folders[:DEPTH]:
            folder = folder.folders.setdefault(part, _Folder())
        folder.files.append(("/".join([*folders[DEPTH:], name]), size))
    shown = min(len(file.entries), ENTRIES)
    return Entries(list(_rows(root)), shown, max(shown, sum(file.technical.get("contentsByExtension", {}).values())))


def _rows(folder: _Folder) -> Iterator[Row]:
    for name, inner in sorted(folder.folders.items()):
        rows = list(_rows(inner))
        sizes = [row.size for row in rows if row.kind == "file"]
        yield Row("start", name, sum(sizes), len(sizes))
        yield from rows
        yield Row("end")
    for name, size in sorted(folder.files):
        yield Row("file", name, size)

"""Inspects members of an archive: SKILL.md, and fonts, images and audio up to a budget."""

import io
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from . import injections, skill_files, skill_manifests, texts
from .entries import displayable
from .inspecting import ARCHIVES, MODULES, details
from .sniffing import HEAD_BYTES, sniff

MAX_MEMBERS = 24
MEMBER_BYTES = 16 * 2**20
# A limit on memory: compressed tar archives can be read only once, so the chosen members are kept until they are inspected.
BUDGET_BYTES = 64 * 2**20
EXTENSIONS = {"otf", "ttf", "ttc", "woff", "woff2", "jpg", "jpeg", "png", "webp", "psd", "wav", "mp3", "aac", "m4a", "flac", "ogg"}

Read = Callable[[Any, int], bytes]


class MemberInspections:
    """Collects members while an archive is read, and inspects them afterwards."""

    def __init__(self) -> None:
        self._skill_path: str | None = None
        self._skill_handle: Any = None
        self._chosen: list[tuple[str, Any]] = []
        self._texts: list[tuple[str, Any]] = []
        self._unsearched_texts = 0
        self._bytes_left = BUDGET_BYTES
        # The codes of `injections`, each with the path of a text that contains the pattern.
        self._injections: dict[tuple[str, str], None] = {}
        # What all files show, in case the archive is a skill: hosts, signs of scripts by path, the files that were not searched at all, and
        # the texts that were searched for hosts but are too large to be searched for injections.
        self._searched = texts.Texts()
        self._script_signs: dict[str, list[str]] = {}
        self._unsearched_paths: list[str] = []
        self._large_text_paths: list[str] = []
        self._searches_left, self._search_bytes_left = skill_manifests.MAX_FILES, skill_manifests.TOTAL_BYTES

    @property
    def has_skill(self) -> bool:
        """Whether a SKILL.md was added."""
        return self._skill_path is not None

    @property
    def skill_warnings(self) -> list[tuple[str, str]]:
        """The codes of warnings about a skill, each with a file."""
        unsearched = [("unsearched", path) for path in (*self._unsearched_paths, *self._large_text_paths)]
        return [*self._injections, *unsearched] if self.has_skill else []

    def reserve_search(self, size: int) -> bool:
        """Take a file of this size from the budget of the search; return False where it does not fit."""
        fits = self._searches_left > 0 and size <= self._search_bytes_left
        if fits:
            self._searches_left, self._search_bytes_left = self._searches_left - 1, self._search_bytes_left - size
        return fits

    def search(self, path: str, mode: int, content: bytes | None) -> None:
        """Note the hosts that a file names, its patterns of injection and its signs of a script; `content` is None where it was not read."""
        signs = texts.script_signs(path, mode, content or b"")
        if signs and len(self._script_signs) < texts.MAX_LISTED_FILES:
            self._script_signs[displayable(path)] = signs
        if content is None:
            if len(self._unsearched_paths) < texts.MAX_LISTED_FILES:
                self._unsearched_paths.append(path)
            return
        text = texts.decoded(content)
        self._searched.find_hosts(displayable(path), text)
        # An agent may read any text, also one that `wants` does not accept, such as a second SKILL.md.
        if path.rpartition(".")[2].lower() in texts.EXTENSIONS or "\0" not in text:
            if len(content) <= (skill_files.READ_BYTES if skill_files.is_skill_file(path) else texts.TEXT_BYTES):
                self._note_injections(path, text)
            elif len(self._large_text_paths) < texts.MAX_LISTED_FILES:
                self._large_text_paths.append(path)

    def wants(self, path: str, size: int) -> bool:
        """Tell whether the member should be inspected and fits into the budget.

        A text that does not fit is counted as not searched, so call it once for each member.
        """
        # macOS adds a file of metadata for each file to its archives.
        name = path.rsplit("/", 1)[-1]
        if name.startswith("._") or path.startswith("__MACOSX/"):
            return False
        if skill_files.is_skill_file(path):
            return self._skill_path is None or path.count("/") < self._skill_path.count("/")
        extension = name.rpartition(".")[2].lower()
        if extension in texts.EXTENSIONS:
            fits = size <= texts.TEXT_BYTES and len(self._texts) < texts.MAX_TEXTS
            self._unsearched_texts += size > 0 and not fits
            return size > 0 and fits
        return extension in EXTENSIONS and 0 < size <= min(MEMBER_BYTES, self._bytes_left) and len(self._chosen) < MAX_MEMBERS

    def add(self, path: str, size: int, handle: Any) -> None:
        """Add a member for which `wants` is true; `handle` is what `read` takes later."""
        if skill_files.is_skill_file(path):
            # The SKILL.md nearest to the root describes the skill.
            self._skill_path, self._skill_handle = path, handle
        elif path.rpartition(".")[2].lower() in texts.EXTENSIONS:
            self._texts.append((path, handle))
        else:
            self._bytes_left -= size
            self._chosen.append((path, handle))

    def inspect(self, read: Read) -> dict[str, Any]:
        """Inspect the members; return `skill`, `members`, what a manifest shows of all fonts together, and `facts`, by which versions are compared.

        `glyphCount` is that of the font with the most glyphs.
        """
        kept = texts.Texts()
        kept.unsearched = self._unsearched_texts
        found = self._skill_found(read, kept)
        for path, handle in self._texts:
            with suppress(Exception):
                self._keep(kept, path, read(handle, texts.TEXT_BYTES))
        if self.has_skill:
            self._add_searched(kept)
        members = [member for path, handle in self._chosen if (member := _inspected(path, handle, read))]
        facts: dict[str, Any] = {**found.pop("facts", {}), **kept.facts()} | ({"scripts": self._script_signs} if self.has_skill else {})
        for member in members:
            # `details` knows the file by an empty path.
            for kind, of_files in member.pop("facts").items():
                facts.setdefault(kind, {})[member["path"]] = of_files[""]
        found["facts"] = facts
        if members:
            found["members"] = members
        fonts = [member for member in members if "glyphCount" in member]
        if fonts:
            # The styles of a family hold the same characters, so their sum would say nothing.
            found["glyphCount"] = max(font["glyphCount"] for font in fonts)
            for name in ("variableAxes", "familyNames", "scripts"):
                found[name] = sorted({value for font in fonts for value in font[name]})
        return found

    def _skill_found(self, read: Read, kept: texts.Texts) -> dict[str, Any]:
        if self._skill_path is None:
            return {}
        with suppress(Exception):
            content = read(self._skill_handle, skill_files.READ_BYTES)
            skill = skill_files.parse(content)
            self._keep(kept, self._skill_path, content)
            tools = skill.pop("tools")
            return {"skill": {"path": displayable(self._skill_path), **skill}, "facts": {"tools": tools}}
        return {}

    def _add_searched(self, kept: texts.Texts) -> None:
        """Add what was found in all files of a skill."""
        for host, places in self._searched.hosts.items():
            for path in places:
                kept.note_host(host, path)
        kept.other_hosts |= self._searched.other_hosts
        # All other files of a skill were searched for hosts, whatever their extension.
        kept.unsearched = len(self._unsearched_paths)

    def _keep(self, kept: texts.Texts, path: str, content: bytes) -> None:
        kept.add(displayable(path), content)
        # Some of a skill's texts are kept, but do not fit into the budget of the search.
        if self.has_skill:
            self._note_injections(path, texts.decoded(content))

    def _note_injections(self, path: str, text: str) -> None:
        self._injections |= dict.fromkeys((code, path) for code in injections.codes_in(text))


def _inspected(path: str, handle: Any, read: Read) -> dict[str, Any]:
    """Return the details of a member; none where that fails, since a damaged member does not make the archive invalid."""
    with suppress(Exception):
        content = read(handle, MEMBER_BYTES)
        format_name = sniff(content[:HEAD_BYTES])
        if format_name in MODULES and MODULES[format_name] not in ARCHIVES:
            found = details(io.BytesIO(content), len(content), format_name)
            return {"path": displayable(path)} | {
                key: value for key, value in found.items() if key not in {"entryCount", "contentsByExtension"}
            }
    return {}

"""Compares two files by their recorded facts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

from .facts import Axis, Face, Facts
from .lines import ChangedLines, changed_lines
from .renames import former_paths

NO_FACE = Face(glyphCount=0, complete=True)

TABLES = {
    "GPOS": "kerning and positions",
    "GSUB": "substitutions and OpenType features",
    "cmap": "characters",
    "fvar": "axes and named instances",
    "gvar": "variations of the outlines",
    "avar": "mapping of the axes",
    "glyf": "outlines",
    "CFF ": "outlines",
    "CFF2": "outlines",
    "name": "names",
    "OS/2": "metrics",
    "hhea": "metrics",
    "head": "metrics",
    "hmtx": "widths",
    "post": "names of glyphs",
    "kern": "kerning",
    "COLR": "colours",
    "CPAL": "colours",
    "SVG ": "drawings in colour",
    "fpgm": "hinting",
    "prep": "hinting",
    "cvt ": "hinting",
    "gasp": "hinting",
}
# In the order in which they are shown: changed entries come first, since they are easily overlooked among many of another kind.
ENTRY_KINDS = ("changed", "added", "removed", "moved")
# Tables whose digests are not compared, since they change with every export; the fields of `head` that matter are among the metrics.
IGNORED_TABLES = {"head", "DSIG", "FFTM", "TSI0"}
NAME_LABELS = {
    "0": "copyright",
    "1": "family",
    "2": "style",
    "3": "unique id",
    "4": "full name",
    "5": "version",
    "6": "PostScript name",
    "7": "trademark",
    "8": "manufacturer",
    "9": "designer",
    "10": "description",
    "11": "vendor's address",
    "12": "designer's address",
    "13": "licence",
    "14": "licence's address",
    "16": "typographic family",
    "17": "typographic style",
}


@dataclass(frozen=True)
class Difference:
    """A value that differs; `before` or `after` is None where there was or is no such value."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Glyph:
    """A glyph by its name, with the code points that it is for."""

    name: str
    code_points: Sequence[int]

    @property
    def characters(self) -> str:
        """The characters and their code points, as text."""
        return " ".join(f"{chr(code)} U+{code:04X}" if chr(code).isprintable() else f"U+{code:04X}" for code in _scalars(self.code_points))


@dataclass(frozen=True)
class FontChanges:
    """What differs between two fonts.

    Args:
        path: Of the font in the archive; empty where it is the file itself.
        former_path: Its path before.
        face: Number of the face in a collection.
        tables: Tables with other content, by tag and what they hold.
        other_tables: Whether there are differences among the tables that were not recorded one by one.
        complete: Whether all glyphs were compared.
    """

    path: str
    former_path: str
    face: int
    glyph_count: Difference
    names: Sequence[Difference]
    metrics: Sequence[Difference]
    axes: Sequence[Difference]
    added: Sequence[Glyph]
    removed: Sequence[Glyph]
    redrawn: Sequence[Glyph]
    respaced: Sequence[Difference]
    remapped: Sequence[Difference]
    tables: Sequence[tuple[str, str]]
    other_tables: bool
    complete: bool


@dataclass(frozen=True)
class EntryChange:
    """An entry of an archive that differs.

    Args:
        before: Its size in bytes; None where there was no such entry.
        after: Its size in bytes; None where there is no such entry.
        former_path: Its path before, if that was another one.
        moved: Whether nothing but the path differs.
    """

    path: str
    before: int | None
    after: int | None
    former_path: str = ""
    moved: bool = False

    @property
    def kind(self) -> str:
        """Whether it was added, removed, moved or changed."""
        return "added" if self.before is None else "removed" if self.after is None else "moved" if self.moved else "changed"


@dataclass(frozen=True)
class TextChanges:
    """A text that differs."""

    path: str
    before: str
    after: str

    @cached_property
    def changes(self) -> ChangedLines:
        return changed_lines(self.before, self.after)


@dataclass(frozen=True)
class FileChanges:
    """What differs between two files.

    Args:
        entries: Entries of the archive that were changed, added, removed or moved, in this order.
        other_entries: Whether there are differences among the entries that were not recorded one by one.
        hosts: Hosts that texts name now and did not, or did and do not, with the files that name them.
        other_hosts: How many hosts texts name now beyond those that are compared.
        unsearched_texts: How many texts of the file now were not searched for hosts.
    """

    entries: Sequence[EntryChange] = ()
    other_entries: bool = False
    fonts: Sequence[FontChanges] = ()
    media: Sequence[tuple[str, Sequence[Difference]]] = ()
    texts: Sequence[TextChanges] = ()
    hosts: Sequence[Difference] = ()
    tools: Sequence[Difference] = ()
    other_hosts: int = 0
    unsearched_texts: int = 0

    def of_kind(self, kind: str) -> list[EntryChange]:
        return [entry for entry in self.entries if entry.kind == kind]

    @property
    def entries_by_kind(self) -> list[tuple[str, list[EntryChange]]]:
        """The entries by the kind of their change, without kinds that there are none of."""
        return [(kind, entries) for kind in ENTRY_KINDS if (entries := self.of_kind(kind))]


def compare_files(before: Facts, after: Facts) -> FileChanges:
    """Return what differs between two files. An entry that was moved is compared with the one at its former path."""
    former = former_paths(before, after)
    return FileChanges(
        entries=_entries(before.entries or (), after.entries or (), former),
        other_entries=before.otherEntries != after.otherEntries,
        fonts=[change for path, old, new in _pairs(before.fonts, after.fonts, former) for change in _fonts(path, former, old, new)],
        media=[(path, _differences(old, new)) for path, old, new in _pairs(before.media, after.media, former)],
        texts=[TextChanges(path, old, new) for path, old, new in _pairs(before.texts, after.texts, former)],
        hosts=_differences(before.hosts, after.hosts, only_presence=True),
        tools=_differences(dict.fromkeys(before.tools, True), dict.fromkeys(after.tools, True)),
        other_hosts=after.otherHosts,
        unsearched_texts=after.unsearchedTexts,
    )


def _pairs(before: Mapping[str, Any], after: Mapping[str, Any], former: Mapping[str, str]) -> Iterable[tuple[str, Any, Any]]:
    """Yield the path, the value before and the value now of what is in both and differs."""
    for path, new in after.items():
        old = before.get(former.get(path, path))
        if old is not None and old != new:
            yield path, old, new


def _differences(before: Mapping[str, Any], after: Mapping[str, Any], *, only_presence: bool = False) -> list[Difference]:
    names = [*after, *(name for name in before if name not in after)]
    if only_presence:
        names = [name for name in names if (name in before) != (name in after)]
    return [Difference(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)]


def _entries(before: Iterable[tuple[str, int, str]], after: Iterable[tuple[str, int, str]], former: Mapping[str, str]) -> list[EntryChange]:
    """Return the entries that differ. Archives may hold a path several times, and long paths are cut off, so paths have lists of contents."""
    old, new = _by_path(before), _by_path(after)
    changes = []
    for path, found in new.items():
        former_path = former.get(path, path)
        contents = old.get(former_path)
        if former_path != path or contents != found:
            shown = former_path if former_path != path and contents is not None else ""
            changes.append(EntryChange(path, _size(contents), _size(found), shown, moved=contents == found))
    kept_or_moved = {*former.values(), *new}
    changes += [EntryChange(path, _size(found), None) for path, found in old.items() if path not in kept_or_moved]
    return sorted(changes, key=lambda change: ENTRY_KINDS.index(change.kind))


def _by_path(entries: Iterable[tuple[str, int, str]]) -> dict[str, list[tuple[int, str]]]:
    found: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for path, size, digest in entries:
        found[path].append((size, digest))
    return {path: sorted(contents) for path, contents in found.items()}


def _size(contents: Sequence[tuple[int, str]] | None) -> int | None:
    return None if contents is None else sum(size for size, _ in contents)


def _fonts(path: str, former: Mapping[str, str], before: Sequence[Face], after: Sequence[Face]) -> Iterable[FontChanges]:
    for number, (old, new) in enumerate(zip_longest(before, after, fillvalue=NO_FACE)):
        if old != new:
            yield _compare_faces(path, former.get(path, path), number, old, new)


def _compare_faces(path: str, former_path: str, number: int, old: Face, new: Face) -> FontChanges:
    both = [name for name in new.glyphs if name in old.glyphs]
    complete = old.complete and new.complete
    return FontChanges(
        path=path,
        former_path=former_path,
        face=number,
        glyph_count=Difference("glyphs", old.glyphCount, new.glyphCount),
        names=[
            Difference(NAME_LABELS.get(each.name, f"name {each.name}"), each.before, each.after)
            for each in _differences(old.names, new.names)
        ],
        metrics=_differences(old.metrics, new.metrics),
        axes=_differences({axis.tag: _range(axis) for axis in old.axes}, {axis.tag: _range(axis) for axis in new.axes}),
        added=[_glyph(name, new) for name in new.glyphs if name not in old.glyphs] if old.complete else [],
        removed=[_glyph(name, old) for name in old.glyphs if name not in new.glyphs] if new.complete else [],
        redrawn=[_glyph(name, new) for name in both if old.glyphs[name].outline != new.glyphs[name].outline],
        respaced=[
            Difference(name, old.glyphs[name].width, new.glyphs[name].width)
            for name in both
            if old.glyphs[name].width != new.glyphs[name].width
        ],
        remapped=[
            Difference(name, _glyph(name, old).characters, _glyph(name, new).characters)
            for name in both
            if old.glyphs[name].code_points != new.glyphs[name].code_points
        ],
        tables=[(each.name, TABLES.get(each.name, "")) for each in _differences(old.tables, new.tables) if each.name not in IGNORED_TABLES],
        other_tables=old.otherTables != new.otherTables,
        complete=complete,
    )


def _range(axis: Axis) -> str:
    return f"{axis.min:g} to {axis.max:g}, default {axis.default:g}"


def _glyph(name: str, face: Face) -> Glyph:
    return Glyph(name, face.glyphs[name].code_points)


def _scalars(code_points: Iterable[int]) -> list[int]:
    return [code for code in code_points if 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000]

"""Finds the files of an archive that have another path than before."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from .facts import Facts

# The most fonts, and the most texts, without a counterpart that are compared with each other; and the least share that similar ones have in common.
MAX_COMPARED = 50
LEAST_SHARE = 0.5


def former_paths(before: Facts, after: Facts) -> dict[str, str]:
    """Return the former paths of the files that were moved, by their present paths.

    Files with the same content are paired first, then the most similar fonts and texts, then files with the same name.
    """
    found: dict[str, str] = {}
    gone = {path: content for path, content in _contents(before).items() if path not in _contents(after)}
    new = {path: content for path, content in _contents(after).items() if path not in _contents(before)}
    _pair_equals(gone, new, found)
    for old, now in zip(_features(before), _features(after), strict=True):
        _pair_similar(_unpaired(old, gone, found.values()), _unpaired(now, new, found), found)
    _pair_equals(
        {path: _file_name(path) for path in gone.keys() - found.values()},
        {path: _file_name(path) for path in new.keys() - found.keys()},
        found,
    )
    return found


def _contents(facts: Facts) -> dict[str, Hashable]:
    """Return size and digest by path, where they were recorded, else the path itself."""
    recorded = {path: (size, digest) for path, size, digest in facts.entries or ()}
    return {**{path: path for path in (*facts.fonts, *facts.texts, *facts.media)}, **recorded}


def _pair_equals(gone: Mapping[str, Hashable], new: Mapping[str, Hashable], found: dict[str, str]) -> None:
    paths: defaultdict[Hashable, list[str]] = defaultdict(list)
    for path in sorted(gone, reverse=True):
        paths[gone[path]].append(path)
    for path in sorted(new):
        if left := paths[new[path]]:
            found[path] = left.pop()


def _pair_similar(gone: Mapping[str, set[Any]], new: Mapping[str, set[Any]], found: dict[str, str]) -> None:
    shares = ((_share(before, after), former, path) for former, before in gone.items() for path, after in new.items())
    for share, former, path in sorted(shares, reverse=True):
        if share >= LEAST_SHARE and path not in found and former not in found.values():
            found[path] = former


def _share(one: set[Any], other: set[Any]) -> float:
    return 2 * len(one & other) / ((len(one) + len(other)) or 1)


def _unpaired(features: Mapping[str, set[Any]], paths: Mapping[str, Hashable], paired: Iterable[str]) -> dict[str, set[Any]]:
    left = paths.keys() - set(paired)
    return {path: features[path] for path in sorted(left & features.keys())[:MAX_COMPARED]}


def _features(facts: Facts) -> Iterable[dict[str, set[Any]]]:
    """Yield what is compared to find similar files, by path: first of the fonts their outlines, then of the texts their lines."""
    yield {path: {(name, glyph.outline) for face in faces for name, glyph in face.glyphs.items()} for path, faces in facts.fonts.items()}
    yield {path: {*text.split("\n")} for path, text in facts.texts.items()}


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]

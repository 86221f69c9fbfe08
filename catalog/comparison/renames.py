"""Finds the files of an archive that have another path than before."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from .facts import Facts

# The most fonts and the most texts without a counterpart that are compared with each other, and the least that similar ones have in common.
COMPARED = 50
SIMILAR = 0.5


def former_paths(before: Facts, after: Facts) -> dict[str, str]:
    """Return by its path now what was moved: first what has the same content, then the most similar fonts and texts, then same file names."""
    found: dict[str, str] = {}
    gone = {path: content for path, content in _contents(before).items() if path not in _contents(after)}
    new = {path: content for path, content in _contents(after).items() if path not in _contents(before)}
    _pair_equals(gone, new, found)
    for old, now in zip(_features(before), _features(after), strict=True):
        _pair_similar(_left(old, gone, found.values()), _left(now, new, found), found)
    _pair_equals(
        {path: _file_name(path) for path in gone.keys() - found.values()},
        {path: _file_name(path) for path in new.keys() - found.keys()},
        found,
    )
    return found


def _contents(facts: Facts) -> dict[str, Hashable]:
    """Return what is at each path: the digest where it was recorded."""
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
    shares = ((_share(old, now), was, path) for was, old in gone.items() for path, now in new.items())
    for share, was, path in sorted(shares, reverse=True):
        if share >= SIMILAR and path not in found and was not in found.values():
            found[path] = was


def _share(one: set[Any], other: set[Any]) -> float:
    return 2 * len(one & other) / ((len(one) + len(other)) or 1)


def _left(features: Mapping[str, set[Any]], paths: Mapping[str, Hashable], paired: Iterable[str]) -> dict[str, set[Any]]:
    left = paths.keys() - set(paired)
    return {path: features[path] for path in sorted(left & features.keys())[:COMPARED]}


def _features(facts: Facts) -> Iterable[dict[str, set[Any]]]:
    """Yield what similar files have in common: of fonts their outlines, of texts their lines."""
    yield {path: {(name, glyph[0]) for face in faces for name, glyph in face.glyphs.items()} for path, faces in facts.fonts.items()}
    yield {path: {*text.split("\n")} for path, text in facts.texts.items()}


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]

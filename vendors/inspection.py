"""Inspects uploaded deliverables in a sandboxed child process: detects the format from the content and extracts technical details."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from marketplace.storage.base import ObjectStorage

from .sandbox import replies
from .sandbox.entries import MAX_LISTED, PATH_CHARS
from .sandbox.inspecting import FACTS_BYTES, MODULES
from .sandbox.runner import Limits, reader_of, run_in_sandbox

# Sized for the slowest legitimate file, 5 GiB of deflated text: unpacking takes about 33 s of processor time, and reading 205 s where the file store needs
# 40 ms for each MiB (`SLOW_READ_SECONDS`).
LIMITS = Limits(cpu_seconds=120, wall_seconds=240)
FORMATS = frozenset(MODULES)

FACTS_DEPTH = 12


class Inspection(NamedTuple):
    """The result of an inspection. `technical` becomes the record's `technicalJson`; `format` is also in it.

    `entries` are the path and the size of the first entries of an archive, which reviewers and buyers see; `facts` are what versions of the file are
    compared by (`catalog.comparison.facts`), including what a skill asks for.
    """

    format: str
    technical: dict[str, Any]
    entries: Sequence[Sequence[str | int]] = ()
    facts: Mapping[str, Any] = {}


def inspect_deliverable(*, storage: ObjectStorage, key: str, size: int, sender: str = "") -> Inspection:
    """Inspect a stored file. Only the byte ranges that the format's parser requests are read from the file store.

    `sender` is the uploader; only a few files of one sender are inspected at once. It is empty where a file is inspected again.

    Raises:
        UnsupportedType: the content is of no supported type.
        FileRejected: it is damaged, hostile, or exceeds the limits of time or memory.
        DependencyUnavailable: too many inspections are running, the child cannot be started or was killed, or the file store cannot be read.
    """
    return run_in_sandbox("inspect", read_at=reader_of(storage, key), size=size, limits=LIMITS, interpret=_inspection, sender=sender)


def _inspection(technical: dict[str, Any], blobs: list[bytes]) -> Inspection:
    if technical["format"] not in FORMATS:
        raise ValueError(technical["format"])
    for name in ("entryCount", "uncompressedSize"):
        if type(technical[name]) is not int or technical[name] < 0:
            raise ValueError(name)
    (facts,) = blobs
    if len(facts) > FACTS_BYTES:
        raise ValueError("facts")
    entries = _entries(technical.pop("entries", []))
    return Inspection(technical["format"], technical, entries, replies.to_storable(json.loads(facts), FACTS_DEPTH))


def _entries(listed: Any) -> list[list[str | int]]:
    """Return the archive's listed entries after validating their shape, since a hostile file may control the child."""
    if len(listed) > MAX_LISTED:
        raise ValueError("entries")
    for path, size in listed:
        if type(path) is not str or len(path) > PATH_CHARS or type(size) is not int or size < 0:
            raise ValueError("entries")
    return list(listed)

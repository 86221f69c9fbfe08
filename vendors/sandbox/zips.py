"""Inspects zip archives: bounded, checked for known attacks, nothing extracted to disk."""

import zlib
from contextlib import suppress
from typing import Any, BinaryIO

from . import containers, skill_manifests, texts
from .entries import EntryCounter, displayable
from .exceptions import Rejected
from .members import MemberInspections
from .zip_bodies import DEFLATED, ENCRYPTED, LOCAL, STORED, check_bodies
from .zip_directory import Entry, read_directory

# The best ratio that deflate can reach, by zlib's documentation.
DEFLATE_RATIO = 1032
SYMLINK, TYPE_MASK = 0o120000, 0o170000


def inspect(file: BinaryIO, size: int, format_name: str) -> dict[str, Any]:
    """Return the counts, the warnings, and the technical details of inspected members."""
    directory = read_directory(file, size)
    counter = EntryCounter(size)
    inspections = MemberInspections()
    places: list[tuple[int, int]] = []
    encrypted = False
    names: set[str] = set()
    # As many files as a skill may have, and as many more as the warnings can name as not searched.
    files: list[Entry] = []
    for at, entry in directory.entries():
        counter.add(entry.path, entry.size, folder=entry.is_folder)
        _check_sizes(entry)
        places.append((entry.offset, at))
        if (lower := entry.path.lower()) in containers.CHARACTERISTIC_NAMES:
            names.add(lower)
        if not entry.is_folder and len(files) < skill_manifests.MAX_FILES + texts.MAX_LISTED_FILES:
            files.append(entry)
        if entry.mode & TYPE_MASK == SYMLINK:
            counter.note("symlink", entry.path)
        elif entry.flags & ENCRYPTED:
            encrypted = True
            counter.note("encrypted", entry.path)
        elif entry.method in {STORED, DEFLATED} and not entry.is_folder and inspections.wants(entry.path, entry.size):
            inspections.add(entry.path, entry.size, entry)
    check_bodies(file, directory, places, counter)
    kind = containers.kind_of(names)
    if inspections.has_skill:
        _search(file, files, inspections)
    members = inspections.inspect(lambda entry, limit: read_entry(file, entry, limit))
    for code, path in inspections.skill_warnings:
        counter.note(code, path)
    found = counter.details() | {"encrypted": encrypted} | ({"container": kind} if kind else {}) | members
    found["facts"] |= counter.facts()
    if kind == "skill":
        # A damaged member does not make the archive invalid.
        with suppress(Exception):
            found["facts"]["skill"] = skill_manifests.manifest_of(files, lambda entry, limit: _plain_content(file, entry, limit))
    return found


def _search(file: BinaryIO, files: list[Entry], inspections: MemberInspections) -> None:
    """Search the files of a skill; one that cannot be read is noted as such."""
    for entry in files:
        content = None
        if inspections.reserve_search(entry.size):
            with suppress(Exception):
                content = _plain_content(file, entry, entry.size)
        inspections.search(entry.path, entry.mode, content)


def _plain_content(file: BinaryIO, entry: Entry, limit: int) -> bytes:
    """Return the content of an entry.

    Raises:
        Rejected: it is a link, encrypted, or packed by another method.
    """
    if entry.mode & TYPE_MASK == SYMLINK or entry.flags & ENCRYPTED or entry.method not in {STORED, DEFLATED}:
        raise Rejected("The entry is not a plain file.")
    return read_entry(file, entry, limit)


def _check_sizes(entry: Entry) -> None:
    if entry.method == DEFLATED and entry.size > DEFLATE_RATIO * entry.packed + 64:
        raise Rejected("An entry of the zip archive claims to expand more than deflate can.")
    if entry.method == STORED and entry.size != entry.packed and not entry.flags & ENCRYPTED:
        raise Rejected("An entry of the zip archive is stored, yet claims two sizes.")


def read_member(file: BinaryIO, size: int, path: str, limit: int) -> bytes | None:
    """Return the content of the first file with this displayed path; None if there is none, or it is encrypted or larger than `limit`."""
    for _, entry in read_directory(file, size).entries():
        if displayable(entry.path) == path and not entry.is_folder:
            plain = not entry.flags & ENCRYPTED and entry.method in {STORED, DEFLATED} and entry.size <= limit
            return read_entry(file, entry, limit) if plain else None
    return None


def read_entry(file: BinaryIO, entry: Entry, limit: int) -> bytes:
    """Return up to `limit` bytes of an entry; raises whatever the parsers raise where its header or stream is damaged."""
    limit = min(limit, entry.size)
    file.seek(entry.offset)
    head = file.read(LOCAL.size)
    *_, name_bytes, extra_bytes = LOCAL.unpack(head)
    file.seek(entry.offset + LOCAL.size + name_bytes + extra_bytes)
    # Enough input for `limit` bytes: deflate enlarges incompressible data by less than a thousandth.
    packed = file.read(min(entry.packed, limit + limit // 1000 + 1024))
    if entry.method == STORED or not limit:
        return packed[:limit]
    return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, limit)

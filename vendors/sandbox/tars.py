"""Inspects tar archives with tarfile, plain or compressed: nothing is extracted."""

import io
import re
import tarfile
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, BinaryIO, cast

from . import skill_files
from .entries import DIGEST_BYTES, MAX_ENTRIES, EntryCounter, displayable
from .exceptions import Rejected, Unsupported, rejecting
from .members import MemberInspections
from .streams import CHUNK, Unpacked, UnpackLimitReached

# The largest extended header: a long name, a few numbers, and extended attributes of file systems.
EXTENDED_BYTES = 2**20
EXTENDED_TYPES = {tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK}
ENTRY_BYTES = 2**50
# The most fields of an entry, of which programs write a dozen, and records of all headers: tarfile reads each record in Python, and copies
# the fields of a global header for each entry.
MAX_FIELDS = 100
MAX_RECORDS = 10 * MAX_ENTRIES
# Python before 3.11.10 takes time that grows with the square of the digits in a row (CVE-2024-6232).
MAX_DIGITS = 200


class HeaderFile:
    """The archive for tarfile, which reads only headers from it; refuses headers that take long to parse."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._records = 0
        self.seek = file.seek
        self.tell = file.tell

    def read(self, count: int) -> bytes:
        """Return the next bytes."""
        content = self._file.read(count)
        if count > tarfile.BLOCKSIZE and any(len(digits) > MAX_DIGITS for digits in re.findall(rb"\d+", content)):
            raise Rejected("An extended header of the tar archive is damaged.")
        # Each record ends with a line break.
        self._records += content.count(b"\n")
        if self._records > MAX_RECORDS:
            raise Rejected("The extended headers of the tar archive hold far more than any program writes.")
        return content


class Header(tarfile.TarInfo):
    """A header that was checked before tarfile relies on it."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "Header":
        """Parse a block. A damaged one is always an error; tarfile alone would take it for the end of the archive."""
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if bytes(buf).strip(b"\0"):
                raise tarfile.ReadError(str(error)) from error
            raise
        if not 0 <= header.size < ENTRY_BYTES:
            raise Rejected("An entry of the tar archive claims an impossible size.")
        if header.type in EXTENDED_TYPES and header.size > EXTENDED_BYTES:
            raise Rejected("An extended header of the tar archive is larger than 1 MiB.")
        return header


def inspect(file: BinaryIO, size: int, format_name: str) -> dict[str, Any]:
    """Return the counts, the warnings, and the technical details of inspected members."""
    if format_name != "tar":
        file = io.BufferedReader(Unpacked(file, size, format_name), CHUNK)
    counter = EntryCounter(size)
    inspections = MemberInspections()
    counted_partly: dict[str, Any] = {}
    with rejecting("The tar archive is damaged, or was cut off."):
        try:
            _walk(file, counter, inspections)
        except UnpackLimitReached:
            counted_partly = {"countedPartly": True}
    members = inspections.inspect(lambda content, limit: content[:limit])
    for code, path in inspections.skill_warnings:
        counter.note(code, path)
    found = counter.details() | members | counted_partly
    found["facts"] |= counter.facts()
    return found


def _members(file: BinaryIO) -> Iterator[tarfile.TarInfo]:
    """Yield the checked header of each entry, with the file positioned at the entry's content."""
    try:
        archive: Any = tarfile.TarFile(fileobj=cast("BinaryIO", HeaderFile(file)), tarinfo=Header, errors="replace")
    except tarfile.ReadError as error:
        raise Unsupported("The content is compressed or marked like a tar archive, but is not one.") from error
    while (member := archive.next()) is not None:
        # tarfile would keep all members in memory.
        archive.members = []
        _check_member(member)
        yield member


def _walk(file: BinaryIO, counter: EntryCounter, inspections: MemberInspections) -> None:
    for member in _members(file):
        empty = member.isdir() or member.issym() or member.islnk() or member.isdev()
        counter.add(member.name, 0 if empty else member.size, folder=member.isdir())
        if member.issym() or member.islnk():
            counter.note("symlink" if member.issym() else "hardlink", member.name)
            counter.add_digest(member.name, 0, blake2b(member.linkname.encode("utf-8", "replace"), digest_size=DIGEST_BYTES).hexdigest())
        elif member.isdev():
            counter.note("device", member.name)
        elif not empty:
            _digest_and_keep(file, member, counter, inspections)
    # The end is marked by blocks of zeros; archives without any are common.
    while block := file.read(CHUNK):
        if block.strip(b"\0"):
            raise Rejected("Data follows the end of the tar archive.")


def read_member(file: BinaryIO, size: int, format_name: str, path: str, limit: int) -> bytes | None:
    """Return the content of the first file with this displayed path; None if there is none, or it is larger than `limit`."""
    if format_name != "tar":
        file = io.BufferedReader(Unpacked(file, size, format_name), CHUNK)
    for member in _members(file):
        if member.isreg() and displayable(member.name) == path:
            return file.read(member.size) if member.size <= limit else None
    return None


def _digest_and_keep(file: BinaryIO, member: tarfile.TarInfo, counter: EntryCounter, inspections: MemberInspections) -> None:
    """Digest an entry's content, and keep what is inspected later."""
    digest, kept = blake2b(digest_size=DIGEST_BYTES), b""
    if inspections.wants(member.name, member.size):
        kept = file.read(min(member.size, skill_files.READ_BYTES) if skill_files.is_skill_file(member.name) else member.size)
        inspections.add(member.name, member.size, kept)
        inspections.search(member.name, member.mode, kept if len(kept) == member.size else None)
        digest.update(kept)
    elif inspections.reserve_search(member.size):
        kept = file.read(member.size)
        inspections.search(member.name, member.mode, kept)
        digest.update(kept)
    else:
        inspections.search(member.name, member.mode, None)
    left = member.size - len(kept)
    while left and (block := file.read(min(left, CHUNK))):
        digest.update(block)
        left -= len(block)
    counter.add_digest(member.name, member.size, digest.hexdigest())


def _check_member(member: tarfile.TarInfo) -> None:
    """Refuse sparse entries, invalid sizes and too many fields in extended headers."""
    if len(member.pax_headers) > MAX_FIELDS:
        raise Rejected(f"An entry of the tar archive has more than {MAX_FIELDS} extended fields.")
    if member.issparse() or any(key.startswith("GNU.sparse.") for key in member.pax_headers):
        raise Rejected("The tar archive holds a sparse file, which may unpack to any size; make it without --sparse.")
    if not 0 <= member.size < ENTRY_BYTES or member.pax_headers.get("size", str(member.size)) != str(member.size):
        raise Rejected("An entry of the tar archive claims an impossible size.")

"""Zip archives built record by record, so that records can contradict each other."""

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LOCAL = struct.Struct("<4sHHHHHIIIHH")
LINE = struct.Struct("<4sHHHHHHIIIHHHHHII")
END = struct.Struct("<4sHHHHIIH")
END64 = struct.Struct("<4sQHHIIQQQQ")
LOCATOR64 = struct.Struct("<4sIQI")
STREAMED = 0x8


def deflated(content: bytes) -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    return stream.compress(content) + stream.flush()


def kept(content: bytes) -> bytes:
    """Return raw deflate data that holds the content byte by byte, at most 65,535 of them."""
    return struct.pack("<BHH", 1, len(content), len(content) ^ 0xFFFF) + content


@dataclass
class Part:
    """One entry. `local` and `line` are fields that one of its two headers states differently.

    Args:
        name: The name in both headers.
        content: What it unpacks to.
        method: 0 (stored) or 8 (deflated).
        data: The bytes in the archive, where they are not the content as the method packs it.
        streamed: Whether checksum and sizes come behind the data.
        descriptor: What comes behind the data instead.
        before: Bytes before the local header.
        local: flags, method, crc, packed, size, name, extra of the local header.
        line: The same of the directory, and `comment`.
    """

    name: bytes
    content: bytes = b"x"
    method: int = 8
    data: bytes | None = None
    streamed: bool = False
    descriptor: bytes | None = None
    before: bytes = b""
    local: Mapping[str, Any] = field(default_factory=dict)
    line: Mapping[str, Any] = field(default_factory=dict)

    def facts(self, changes: Mapping[str, Any], *, hidden: bool = False) -> dict[str, Any]:
        """Return the fields of a header; `hidden` are those that a streamed entry does not know in front."""
        data = self.packed()
        said: dict[str, Any] = {"name": self.name, "extra": b"", "comment": b"", "method": self.method}
        said |= {"flags": STREAMED if self.streamed else 0, "crc": zlib.crc32(self.content), "packed": len(data), "size": len(self.content)}
        if hidden:
            said |= {"crc": 0, "packed": 0, "size": 0}
        return said | dict(changes)

    def packed(self) -> bytes:
        if self.data is not None:
            return self.data
        return deflated(self.content) if self.method == 8 else self.content

    def record(self) -> bytes:
        """Return local header, data and descriptor."""
        said = self.facts(self.local, hidden=self.streamed)
        head = LOCAL.pack(
            b"PK\3\4",
            20,
            said["flags"],
            said["method"],
            0,
            0x5A21,
            said["crc"],
            said["packed"],
            said["size"],
            len(said["name"]),
            len(said["extra"]),
        )
        behind = struct.pack("<4sIII", b"PK\7\x08", zlib.crc32(self.content), len(self.packed()), len(self.content))
        tail = (behind if self.streamed else b"") if self.descriptor is None else self.descriptor
        return b"".join((head, said["name"], said["extra"], self.packed(), tail))

    def directory_line(self, offset: int) -> bytes:
        """Return the entry's line of the directory."""
        said = {"offset": offset} | self.facts(self.line)
        head = LINE.pack(
            b"PK\1\2",
            0x314,
            20,
            said["flags"],
            said["method"],
            0,
            0x5A21,
            said["crc"],
            said["packed"],
            said["size"],
            len(said["name"]),
            len(said["extra"]),
            len(said["comment"]),
            0,
            0,
            0o100644 << 16,
            said["offset"],
        )
        return b"".join((head, said["name"], said["extra"], said["comment"]))


def archive(*parts: Part, unnamed: tuple[int, ...] = (), tail: bytes = b"", comment: bytes = b"", **end: int) -> bytes:
    """Return the archive.

    Args:
        parts: The entries in their order.
        unnamed: The positions of those that the directory leaves out.
        tail: Bytes between the last entry and the directory.
        comment: The archive's comment.
        end: `count`, `length` or `offset` of the end record, where it says something else.
    """
    body, lines = bytearray(), bytearray()
    for position, part in enumerate(parts):
        body += part.before
        if position not in unnamed:
            lines += part.directory_line(len(body))
        body += part.record()
    body += tail
    said = {"count": len(parts) - len(unnamed), "length": len(lines), "offset": len(body)} | end
    record = END.pack(b"PK\5\6", 0, 0, said["count"], said["count"], said["length"], said["offset"], len(comment))
    return bytes(body + lines) + record + comment


def with_second_end(content: bytes, **changes: int) -> bytes:
    """Return the archive with a ZIP64 end record beside its end record, and with fields of the former changed."""
    at = content.rindex(b"PK\5\6")
    _, _, _, _, count, length, offset, _ = END.unpack_from(content, at)
    said = {"count": count, "length": length, "offset": offset, "at": at} | changes
    record = END64.pack(b"PK\6\6", 44, 45, 45, 0, 0, said["count"], said["count"], said["length"], said["offset"])
    return content[:at] + record + LOCATOR64.pack(b"PK\6\7", 0, said["at"], 1) + content[at:]


def unicode_path(name: bytes, other: bytes) -> bytes:
    """Return the extra field with which programs say a name in UTF-8."""
    body = struct.pack("<BI", 1, zlib.crc32(name)) + other
    return struct.pack("<HH", 0x7075, len(body)) + body

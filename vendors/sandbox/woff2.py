"""Writes WOFF2 from a plain font, tables as they are: one pass of Brotli, no outline is looked at (W3C WOFF2, section 4)."""

import struct
from collections.abc import Mapping

import brotli

HEADER = struct.Struct(">4s4sIHHIIHHIIIII")
# "No transform": 3 for the outlines and their places, 0 for all others.
UNTOUCHED = 3 << 6
ANY_TAG = 63
# Quick, and a tenth larger than the slowest.
QUALITY = 9


def write(flavor: bytes, tables: Mapping[str, bytes]) -> bytes:
    """Return the tables, by tag, as a WOFF2 font; the same tables always give the same bytes."""
    order = sorted(tables)
    if "glyf" in tables and "loca" in tables:
        # The places follow the outlines at once, as the format demands.
        order.remove("loca")
        order.insert(order.index("glyf") + 1, "loca")
    entries = b"".join(_entry(tag, len(tables[tag])) for tag in order)
    packed: bytes = brotli.compress(b"".join(tables[tag] for tag in order), mode=brotli.MODE_FONT, quality=QUALITY)
    # A directory of 12 bytes and one of 16 for each table, then the tables, each filled up to a multiple of 4.
    plain = 12 + 16 * len(order) + sum(-(-len(content) // 4) * 4 for content in tables.values())
    body = entries + packed
    body += b"\0" * (-(HEADER.size + len(body)) % 4)
    header = HEADER.pack(b"wOF2", flavor, HEADER.size + len(body), len(order), 0, plain, len(packed), 1, 0, 0, 0, 0, 0, 0)
    return header + body


def _entry(tag: str, length: int) -> bytes:
    flags = ANY_TAG | (UNTOUCHED if tag in {"glyf", "loca"} else 0)
    return bytes([flags]) + tag.encode("latin-1") + _base128(length)


def _base128(value: int) -> bytes:
    digits = [value & 127]
    while value := value >> 7:
        digits.append(value & 127 | 128)
    return bytes(reversed(digits))

"""Writes a plain font as WOFF2 with untransformed tables, compressed by one pass of Brotli (W3C WOFF2, section 4)."""

import io
import struct

import brotli
from fontTools.ttLib.sfnt import SFNTReader

HEADER = struct.Struct(">4s4sIHHIIHHIIIII")
# The version that means "not transformed": 3 for glyf and loca, 0 for all other tables.
UNTOUCHED = 3 << 6
ANY_TAG = 63
# Brotli quality: fast, and a tenth larger than at the maximum.
QUALITY = 9


def write(plain: bytes) -> bytes:
    """Return a plain font as WOFF2. The output is deterministic."""
    reader = SFNTReader(io.BytesIO(plain))
    tables = {tag: reader[tag] for tag in reader.tables}
    order = sorted(tables)
    if "glyf" in tables and "loca" in tables:
        # The format requires loca directly after glyf.
        order.remove("loca")
        order.insert(order.index("glyf") + 1, "loca")
    entries = b"".join(_entry(tag, len(tables[tag])) for tag in order)
    packed: bytes = brotli.compress(b"".join(tables[tag] for tag in order), mode=brotli.MODE_FONT, quality=QUALITY)
    # The size unpacked: a header of 12 bytes, 16 for each table's directory entry, and the tables padded to multiples of 4.
    unpacked = 12 + 16 * len(order) + sum(-(-len(content) // 4) * 4 for content in tables.values())
    body = entries + packed
    body += b"\0" * (-(HEADER.size + len(body)) % 4)
    header = HEADER.pack(b"wOF2", plain[:4], HEADER.size + len(body), len(order), 0, unpacked, len(packed), 1, 0, 0, 0, 0, 0, 0)
    return header + body


def _entry(tag: str, length: int) -> bytes:
    flags = ANY_TAG | (UNTOUCHED if tag in {"glyf", "loca"} else 0)
    return bytes([flags]) + tag.encode("latin-1") + _base128(length)


def _base128(value: int) -> bytes:
    digits = [value & 127]
    while value := value >> 7:
        digits.append(value & 127 | 128)
    return bytes(reversed(digits))

"""Fonts: lies about lengths, tables that multiply what they hold, and things that are no font's business."""

import io
import struct

import brotli
from fontTools.ttLib import TTFont

from .. import makers
from .cases import Case, Heavy, Refused, Taken

HTML = b"<!doctype html><script>alert('in a font')</script>"


def with_table(tag: str, content: bytes) -> bytes:
    """Return the tiny font with one table as given."""
    plain = makers.font()
    font = TTFont(io.BytesIO(plain))
    font[tag].compile = lambda _: content
    return makers.saved(font)


def name_bomb() -> bytes:
    """Return a font of 1 MiB whose 65,535 names are 64 KiB each, all of them the same bytes."""
    records = struct.pack(">6H", 3, 1, 0x409, 1, 65_535, 0) * 65_535
    return with_table("name", struct.pack(">3H", 0, 65_535, 6) + records)


def axes(count: int, step: int = 20) -> bytes:
    return with_table_added("fvar", struct.pack(">HHHHHHHH", 1, 0, 16, 2, count, step, 65_535, 4) + b"wght" + b"\0" * 1000)


def with_table_added(tag: str, content: bytes) -> bytes:
    """Return the tiny font with one table more."""
    plain = makers.font()
    (count,) = struct.unpack_from(">H", plain, 4)
    entries = [list(struct.unpack_from(">4sIII", plain, 12 + 16 * index)) for index in range(count)]
    for entry in entries:
        entry[2] += 16
    entries.append([tag.encode(), 0, len(plain) + 16, len(content)])
    directory = b"".join(struct.pack(">4sIII", *entry) for entry in sorted(entries))
    return plain[:4] + struct.pack(">H", count + 1) + plain[6:12] + directory + plain[12 + 16 * count :] + content


def overlapping_tables() -> bytes:
    content = bytearray(makers.font())
    # The second table begins one byte into the first.
    (start,) = struct.unpack_from(">I", content, 12 + 8)
    struct.pack_into(">I", content, 28 + 8, start + 1)
    return bytes(content)


def patched(flavor: str | None, at: int, value: int) -> bytes:
    content = bytearray(makers.font(flavor=flavor))
    struct.pack_into(">I", content, at, value)
    return bytes(content)


def woff2_of_a_large_table() -> bytes:
    """Return a WOFF2 whose directory claims a table of 1 GiB behind an innocent header."""
    entry = bytes([1]) + b"\x84\x80\x80\x80\x00"
    packed: bytes = brotli.compress(b"\0" * 1000)
    body = entry + packed
    return struct.pack(">4s4sIHHIIHHIIIII", b"wOF2", b"\0\1\0\0", 48 + len(body), 1, 0, 2**20, len(packed), 1, 0, 0, 0, 0, 0, 0) + body


def circular_composites() -> bytes:
    """Return a font whose second and third glyph are made of each other."""
    glyphs = [b"\0\0" * 5, *(struct.pack(">hhhhhHHhh", -1, 0, 0, 500, 700, 0x0001, other, 0, 0) for other in (2, 1))]
    font = TTFont(io.BytesIO(with_table("glyf", b"".join(glyphs))))
    font["loca"].compile = lambda _: struct.pack(">4H", 0, 5, 14, 23)
    font["head"].indexToLocFormat = 0
    return makers.saved(font)


def with_html(flavor: str) -> bytes:
    """Return a web font with a page as its private data."""
    font = TTFont(io.BytesIO(makers.font(flavor=flavor)))
    font.flavorData.privData = HTML
    return makers.saved(font)


FONTS: tuple[Case, ...] = (
    Case("font with a table outside of the file", lambda: patched(None, 12 + 8, 2**31), Refused("outside of the file")),
    Case("font with overlapping tables", overlapping_tables, Refused("overlap")),
    Heavy("font with 65,535 names of 64 KiB", name_bomb, Refused("names")),
    Case("font of 65,535 axes", lambda: axes(65_535), Refused("cannot be read")),
    Case("font with axes of no length", lambda: axes(60, step=0), Refused("cannot be read")),
    Case("font with glyphs made of each other", circular_composites, Taken("ttf", {"glyphCount": 3})),
    Case("font cut off", lambda: makers.font()[:60], Refused("cannot be read")),
    Heavy("font collection of a million faces", lambda: b"ttcf\0\1\0\0" + struct.pack(">I", 10**6) + b"\0" * 100, Refused("faces")),
    Case("font that is a page", lambda: b"\0\1\0\0" + HTML * 10, Refused("cannot be read")),
    Case("woff with a page in it", lambda: with_html("woff"), Taken("woff", {"glyphCount": 3})),
    Case("woff2 with a page in it", lambda: with_html("woff2"), Taken("woff2", {"glyphCount": 3})),
    Heavy("woff whose tables claim 1 GiB", lambda: patched("woff", 44 + 12, 2**30), Refused("sanitizer")),
    Heavy("woff2 that declares 1 GiB", lambda: patched("woff2", 16, 2**30), Refused("sanitizer")),
    Heavy("woff2 whose tables claim 1 GiB", woff2_of_a_large_table, Refused("sanitizer")),
    Case("woff2 of another length", lambda: makers.font(flavor="woff2") + b"xxxx", Refused("sanitizer")),
)

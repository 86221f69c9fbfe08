"""Inspects images by their headers (dimensions, depth, colour): no pixel is decoded, and every loop is bounded."""

import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from .verdicts import Rejected

SIDE = 300_000
CHUNK_BYTES = 2**20
# Limits of the number of chunks: encoders write a few dozen, and one for each 8 KiB of image data.
PNG_CHUNKS = 1000
PNG_CHUNK_BYTES = 2**10
PNG_COMPRESSED = {b"zTXt", b"iTXt", b"iCCP"}
PNG_TEXT_BYTES = 4 * 2**20
PNG_MODES = {0: "grayscale", 2: "RGB", 3: "indexed", 4: "grayscale with alpha", 6: "RGB with alpha"}
PNG_DEPTHS = {0: {1, 2, 4, 8, 16}, 2: {8, 16}, 3: {1, 2, 4, 8}, 4: {8, 16}, 6: {8, 16}}
JPEG_SEGMENTS = 1000
JPEG_MODES = {1: "grayscale", 3: "RGB", 4: "CMYK"}
# Frame headers: all but those for tables (C4), extensions (C8) and arithmetic conditions (CC).
JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
JPEG_LONE = frozenset(range(0xD0, 0xD8)) | {0x01}
WEBP_CHUNKS = 10_000
PSD = struct.Struct(">4sH6sHIIHH")
PSD_MODES = {0: "bitmap", 1: "grayscale", 2: "indexed", 3: "RGB", 4: "CMYK", 7: "multichannel", 8: "duotone", 9: "Lab"}
CUT_OFF = "The image was cut off."
DAMAGED = "The image is damaged."


def inspect(file: BinaryIO, size: int, name: str) -> dict[str, Any]:
    """Return width, height, bit depth and colour mode."""
    found = {"png": _png, "jpg": _jpeg, "webp": _webp, "psd": _photoshop}[name](file, size)
    if not 0 < found["width"] <= SIDE or not 0 < found["height"] <= SIDE:
        raise Rejected("The image's dimensions are impossible.")
    return found


def _exactly(file: BinaryIO, count: int) -> bytes:
    content = file.read(count)
    if len(content) < count:
        raise Rejected(CUT_OFF)
    return content


def _png(file: BinaryIO, size: int) -> dict[str, Any]:
    """Read all chunks and verify their checksums."""
    found: dict[str, Any] = {}
    for kind, head, end in _png_chunks(file, size):
        if kind in PNG_COMPRESSED:
            _check_text(kind, head)
        if not found and kind != b"IHDR":
            raise Rejected(DAMAGED)
        match kind:
            case b"IHDR":
                found = _png_header(head)
            case b"acTL" if len(head) == 8:
                found["frameCount"] = int.from_bytes(head[:4], "big")
            case b"tRNS":
                found["transparency"] = True
            case b"IEND":
                return found | ({"trailingBytes": size - end} if end < size else {})
    raise Rejected("The image is made of too many small parts.")


def _png_chunks(file: BinaryIO, size: int) -> Iterator[tuple[bytes, bytes, int]]:
    """Yield kind, first MiB and end offset of each chunk, as many as a PNG of this size may have."""
    end = 8
    file.seek(end)
    for _ in range(PNG_CHUNKS + size // PNG_CHUNK_BYTES):
        length, kind = struct.unpack(">I4s", _exactly(file, 8))
        end += 12 + length
        if end > size:
            raise Rejected(CUT_OFF)
        yield kind, _checked(file, kind, length), end


def _checked(file: BinaryIO, kind: bytes, length: int) -> bytes:
    """Return the first MiB of a chunk after verifying its checksum."""
    checksum, first = zlib.crc32(kind), b""
    while length > 0:
        piece = _exactly(file, min(length, CHUNK_BYTES))
        checksum, first, length = zlib.crc32(piece, checksum), first or piece, length - len(piece)
    if checksum != int.from_bytes(_exactly(file, 4), "big"):
        raise Rejected(DAMAGED)
    return first


def _check_text(kind: bytes, content: bytes) -> None:
    """Refuse text and colour profiles that unpack to more than PNG_TEXT_BYTES."""
    _, _, rest = content.partition(b"\0")
    if kind == b"iTXt":
        if rest[:1] != b"\1":
            return
        rest = rest[1:].split(b"\0", 3)[-1]
    try:
        unpacked = zlib.decompressobj().decompress(rest[1:] if kind != b"iTXt" else rest, PNG_TEXT_BYTES)
    except zlib.error:
        # Decoders skip a text or profile that they cannot unpack.
        return
    if len(unpacked) == PNG_TEXT_BYTES:
        raise Rejected("The image carries a comment or profile that unpacks to more than 4 MiB.")


def _png_header(head: bytes) -> dict[str, Any]:
    if len(head) != 13:
        raise Rejected(DAMAGED)
    width, height, depth, colour = struct.unpack_from(">IIBB", head)
    if depth not in PNG_DEPTHS.get(colour, set()):
        raise Rejected(DAMAGED)
    return {"width": width, "height": height, "bitDepth": depth, "colourMode": PNG_MODES[colour]}


def _jpeg(file: BinaryIO, size: int) -> dict[str, Any]:
    """Read the segments up to the first scan."""
    file.seek(2)
    found: dict[str, Any] = {}
    for _ in range(JPEG_SEGMENTS):
        marker = _jpeg_marker(file)
        if marker in JPEG_LONE:
            continue
        if marker == 0xD9:
            break
        length = int.from_bytes(_exactly(file, 2), "big")
        if length < 2:
            raise Rejected(DAMAGED)
        if marker == 0xDA:
            if not found:
                break
            return found
        if marker in JPEG_FRAMES:
            found = _jpeg_frame(file.read(length - 2))
        else:
            file.seek(length - 2, 1)
    raise Rejected(DAMAGED)


def _jpeg_marker(file: BinaryIO) -> int:
    if _exactly(file, 1) != b"\xff":
        raise Rejected(DAMAGED)
    # The format allows any number of fill bytes before a marker.
    for _ in range(CHUNK_BYTES):
        byte = _exactly(file, 1)[0]
        if byte != 0xFF:
            return byte
    raise Rejected(DAMAGED)


def _jpeg_frame(head: bytes) -> dict[str, Any]:
    if len(head) < 6:
        raise Rejected(CUT_OFF)
    depth, height, width, components = struct.unpack_from(">BHHB", head)
    if components not in JPEG_MODES or depth not in {8, 12, 16} or len(head) != 6 + 3 * components:
        raise Rejected(DAMAGED)
    return {"width": width, "height": height, "bitDepth": depth, "colourMode": JPEG_MODES[components]}


def _webp(file: BinaryIO, size: int) -> dict[str, Any]:
    """Read the chunks. The size is that of the extended header (VP8X), or of the only image where there is none."""
    file.seek(4)
    # A chunk of odd length is padded by a byte, which some encoders omit at the end of the file.
    stated = int.from_bytes(file.read(4), "little") + 8
    if stated > size + 1:
        raise Rejected(CUT_OFF)
    found: dict[str, Any] = {}
    at, frames = 12, 0
    for _ in range(WEBP_CHUNKS):
        if at + 8 > min(stated, size):
            break
        file.seek(at)
        kind, length = struct.unpack("<4sI", _exactly(file, 8))
        if at + 8 + length > size:
            raise Rejected(CUT_OFF)
        found = found or _webp_header(kind, file.read(min(length, 16)))
        frames += kind == b"ANMF"
        at += 8 + length + (length & 1)
    else:
        raise Rejected("The image is made of too many small parts.")
    if not found:
        raise Rejected(DAMAGED)
    extra = ({"frameCount": frames} if frames > 1 else {}) | ({"trailingBytes": size - stated} if stated < size else {})
    return found | {"bitDepth": 8} | extra


def _webp_header(kind: bytes, head: bytes) -> dict[str, Any]:
    if kind == b"VP8X" and len(head) >= 10:
        width, height = int.from_bytes(head[4:7], "little") + 1, int.from_bytes(head[7:10], "little") + 1
        alpha = bool(head[0] & 0x10)
    elif kind == b"VP8 " and len(head) >= 10 and head[3:6] == b"\x9d\x01\x2a":
        width, height, alpha = int.from_bytes(head[6:8], "little") & 0x3FFF, int.from_bytes(head[8:10], "little") & 0x3FFF, False
    elif kind == b"VP8L" and len(head) >= 5 and head[0] == 0x2F:
        bits = int.from_bytes(head[1:5], "little")
        width, height, alpha = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, bool(bits >> 28 & 1)
    else:
        raise Rejected(DAMAGED)
    return {"width": width, "height": height, "colourMode": "RGB with alpha" if alpha else "RGB"}


def _photoshop(file: BinaryIO, size: int) -> dict[str, Any]:
    _, version, reserved, channels, height, width, depth, mode = PSD.unpack(_exactly(file, PSD.size))
    known = version in {1, 2} and not reserved.strip(b"\0") and depth in {1, 8, 16, 32} and mode in PSD_MODES
    if not known or not 0 < channels <= 56:
        raise Rejected("The Photoshop document's header is damaged.")
    # The sections of colours, resources and layers. Each begins with its length, which has 8 bytes for the layers of a PSB file.
    for wide in (4, 4, 8 if version == 2 else 4):
        length = int.from_bytes(_exactly(file, wide), "big")
        if file.tell() + length > size:
            raise Rejected("A section of the Photoshop document lies outside of the file.")
        file.seek(length, 1)
    rows = channels * height
    least = {0: rows * -(-width * depth // 8), 1: rows * (4 if version == 2 else 2)}
    coding = int.from_bytes(_exactly(file, 2), "big")
    if file.tell() + least.get(coding, 0) > size:
        raise Rejected("The Photoshop document claims a larger picture than it holds.")
    return {"width": width, "height": height, "bitDepth": depth, "colourMode": PSD_MODES[mode], "channels": channels}

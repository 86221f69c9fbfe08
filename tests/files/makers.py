"""Files made in code: valid and hostile ones."""

import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import soundfile
from django.core.files.uploadedfile import SimpleUploadedFile
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from PIL import Image, ImageCms


def saved(made: Any, *kind: str, **options: Any) -> bytes:
    """Return the file that a font, its builder or an image of Pillow's writes."""
    target = io.BytesIO()
    made.save(target, *kind, **options)
    return target.getvalue()


def zipped(entries: Mapping[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip archive."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for path, content in entries.items():
            archive.writestr(path, content)
    return target.getvalue()


def archive(**members: bytes | str) -> bytes:
    """Return a zip of `name_extension=content` members."""
    return zipped({name.replace("_", "."): content for name, content in members.items()})


def form(content: bytes, name: str = "file.bin") -> dict[str, SimpleUploadedFile]:
    return {"file": SimpleUploadedFile(name, content)}


def encrypted(entries: Mapping[str, bytes | str]) -> bytes:
    """Return a zip archive whose headers say of the first entry that it is encrypted."""
    content = bytearray(zipped(entries, zipfile.ZIP_STORED))
    content[6] |= 1
    content[content.index(b"PK\1\2") + 8] |= 1
    return bytes(content)


def tarred(entries: Mapping[str, bytes], mode: str = "w", extra: tarfile.TarInfo | None = None) -> bytes:
    """Return a tar archive, with one more member of any kind."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode) as archive:  # type: ignore[call-overload]  # the mode is a parameter of the test
        for path, content in entries.items():
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        if extra is not None:
            archive.addfile(extra)
    return target.getvalue()


def link_member(path: str, target: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.type, member.linkname = tarfile.SYMTYPE, target
    return member


def tar_header(name: str, size_field: bytes, kind: bytes = b"0") -> bytes:
    """Return one header with the size field as given."""
    head = name.encode().ljust(100, b"\0") + b"0000644\0" * 3 + size_field.ljust(12, b"\0") + b"0" * 11 + b"\0"
    rest = kind + b"\0" * 100 + b"ustar\x0000" + b"\0" * 247
    block = (head + b" " * 8 + rest).ljust(512, b"\0")[:512]
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def font(axes: tuple[tuple[str, int, int, int, str], ...] = (), flavor: str | None = None, letters: str = "AB") -> bytes:
    """Return a font that browsers accept: of three glyphs, or of one more than these letters."""
    names = [".notdef", *letters]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(letter): letter for letter in letters})
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    pen.lineTo((500, 0))
    pen.lineTo((250, 700))
    pen.closePath()
    glyph = pen.glyph()
    builder.setupGlyf(dict.fromkeys(names, glyph))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (600, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Tiny Sans", "styleName": "Regular", "psName": "TinySans-Regular", "fullName": "Tiny Sans"})
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200, ulUnicodeRange1=1)
    builder.setupPost()
    if axes:
        builder.setupFvar(axes, [])
        builder.setupGvar({name: [] for name in letters})
    builder.font.flavor = flavor
    return saved(builder)


def _triangle(pen: Any, size: int) -> None:
    pen.moveTo((0, 0))
    pen.lineTo((size, 0))
    pen.lineTo((size, size + 7))
    pen.closePath()


def drawn_font(sizes: dict[str, int], widths: dict[str, int], *, cff: bool, name: str = "One", field: int = 800) -> bytes:
    """Return a font with a triangle of its size for each glyph, and with one that is made of the first."""
    order = [".notdef", *sizes, "pair"]
    builder = FontBuilder(1000, isTTF=not cff)
    builder.setupGlyphOrder(order)
    builder.setupCharacterMap({0x41 + number: glyph for number, glyph in enumerate(sizes)})
    glyphs: dict[str, Any] = {}
    for glyph in order:
        pen: Any = T2CharStringPen(widths.get(glyph, 500), None) if cff else TTGlyphPen(glyphs)
        if glyph == "pair" and not cff:
            # Made of another glyph: it is drawn anew with it.
            pen.addComponent(next(iter(sizes)), (1, 0, 0, 1, 30, 0))
        else:
            _triangle(pen, sizes.get(glyph, 100))
        glyphs[glyph] = pen.getCharString() if cff else pen.glyph()
    if cff:
        builder.setupCFF("One", {}, glyphs, {})
    else:
        builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics({glyph: (widths.get(glyph, 500), 0) for glyph in order})
    builder.setupHorizontalHeader(ascent=field, descent=-200)
    builder.setupNameTable({"familyName": name, "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=field)
    builder.setupPost()
    return saved(builder)


def picture(kind: str = "PNG", size: tuple[int, int] = (32, 16), mode: str = "RGB", colour: str | int = 0, **options: object) -> bytes:
    """Return an image of one colour."""
    return saved(Image.new(mode, size, colour), kind, **options)


def png_chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png_around(width: int, height: int, depth: int, colour: int, body: bytes) -> bytes:
    """Return a PNG of these compressed rows."""
    head = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + png_chunk(b"IDAT", body) + png_chunk(b"IEND", b"")


def png_of(width: int, height: int, depth: int = 8) -> bytes:
    """Return a PNG that claims a size, whatever it holds."""
    return png_around(width, height, depth, 2, zlib.compress(b"\0" * 1000))


def psd(width: int, height: int, *, held: int | None = None) -> bytes:
    """Return a Photoshop document in 16-bit CMYK that holds as many bytes of picture as it should, or others."""
    head = struct.pack(">4sH6sHIIHH", b"8BPS", 1, b"\0" * 6, 4, height, width, 16, 4)
    return head + b"\0" * 14 + b"\0" * (4 * 2 * width * height if held is None else held)


@cache
def compressed_zeros(mib: int) -> bytes:
    """Return so many MiB of zeros as zlib packs them."""
    packer, block = zlib.compressobj(), b"\0" * 2**20
    return b"".join([*(packer.compress(block) for _ in range(mib)), packer.flush()])


def png_with_text_bomb() -> bytes:
    """Return a PNG with a compressed comment of 256 MiB."""
    plain = picture()
    bomb = png_chunk(b"zTXt", b"Comment\0\0" + compressed_zeros(256))
    return plain[:33] + bomb + plain[33:]


def photograph() -> bytes:
    """Return a JPEG as a phone makes it: on its side, with a place, a thumbnail, a profile, XMP and a comment, all named SECRET."""
    image = Image.new("RGB", (60, 40), "blue")
    image.paste((255, 0, 0), (0, 0, 20, 40))
    exif = image.getexif()
    # Turned by a quarter to the left.
    exif[0x0112] = 6
    exif[0x010F], exif[0x0110], exif[0x013B] = "SECRET-MAKER", "SECRET-MODEL", "SECRET-ARTIST"
    place = exif.get_ifd(0x8825)
    place[1], place[2], place[3], place[4], place[29] = "N", (12.0, 58.0, 18.0), "E", (77.0, 35.0, 42.0), "SECRET-DATE"
    exif.get_ifd(0x8769)[0x927C] = b"SECRET-MAKER-NOTE"
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    xmp = b"<x:xmpmeta>SECRET-XMP</x:xmpmeta>"
    content = saved(image, "JPEG", exif=exif, comment=b"SECRET-COMMENT", icc_profile=bytes(profile), xmp=xmp)
    photoshop = b"Photoshop 3.0\08BIM\x04\x04\0\0" + struct.pack(">I", 16) + b"SECRET-CAPTION!!"
    thumbnail = picture("JPEG", (16, 16), comment=b"SECRET-THUMBNAIL")
    segments = [(0xED, photoshop), (0xE3, thumbnail), (0xEF, b"SECRET-APP15")]
    extra = b"".join(bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body for marker, body in segments)
    # Behind the first segment, which says that it is a JFIF file.
    at = 4 + int.from_bytes(content[4:6], "big")
    return content[:at] + extra + content[at:] + b"SECRET-BEHIND"


def tone(seconds: float = 1.0, rate: int = 44_100) -> Any:
    """Return the samples of a tone in stereo."""
    return np.repeat(0.3 * np.sin(np.arange(int(rate * seconds)) * 0.05), 2).reshape(-1, 2)


def sound(kind: str, seconds: float = 1.0, rate: int = 44_100, subtype: str | None = None) -> bytes:
    """Return a tone as libsndfile writes it."""
    target = io.BytesIO()
    soundfile.write(target, tone(seconds, rate), rate, format=kind, subtype=subtype)
    return target.getvalue()


def adts(frames: int = 50) -> bytes:
    """Return a raw AAC stream of empty frames: stereo, 44.1 kHz."""
    length = 32
    head = bytes([0xFF, 0xF1, 0x50, 0x80 | length >> 11, length >> 3 & 0xFF, (length & 7) << 5 | 0x1F, 0xFC])
    return (head + b"\0" * (length - 7)) * frames


def box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content) + 8) + kind + content


def m4a(seconds: int = 3, handler: bytes = b"soun") -> bytes:
    """Return an MP4 file's boxes around nothing."""
    # What decoders need to know: an object of type MPEG-4 audio (0x40), without a decoder's own settings.
    esds = box(b"esds", b"\0" * 4 + b"\x03\x12\0\0\0" + b"\x04\x0d\x40\x15" + b"\0" * 11)
    entry = box(b"mp4a", b"\0" * 16 + struct.pack(">HHHHI", 2, 16, 0, 0, 44_100 << 16) + esds)
    stsd = box(b"stsd", b"\0\0\0\0\0\0\0\1" + entry)
    mdhd = box(b"mdhd", b"\0" * 12 + struct.pack(">IIHH", 1000, seconds * 1000, 0, 0))
    hdlr = box(b"hdlr", b"\0" * 8 + handler + b"\0" * 13)
    mvhd = box(b"mvhd", b"\0" * 12 + struct.pack(">II", 1000, seconds * 1000) + b"\0" * 80)
    moov = box(b"moov", mvhd + box(b"trak", box(b"mdia", mdhd + hdlr + box(b"minf", box(b"stbl", stsd)))))
    return box(b"ftyp", b"M4A \0\0\0\0") + moov + box(b"mdat", b"\0" * 1000)

"""Images and sounds: lying lengths, millions of parts, comments that unpack endlessly."""

import os
import struct

from PIL import Image

from .. import makers
from .cases import Case, Heavy, Refused, Taken, Unsupported

SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


def png_with(kind: bytes, content: bytes, times: int = 1) -> bytes:
    """Return a PNG with one more chunk, or many of them."""
    plain = makers.picture()
    return plain[:33] + makers.png_chunk(kind, content) * times + plain[33:]


def animated(kind: str) -> bytes:
    pictures = [Image.new("RGB", (20, 10), (index * 40, 0, 0)) for index in range(3)]
    return makers.saved(pictures[0], kind, save_all=True, append_images=pictures[1:])


def webp_of_many_frames() -> bytes:
    body = b"WEBPVP8X\x0a\0\0\0\2\0\0\0\x0f\0\0\x0f\0\0" + b"ANMF\0\0\0\0" * 100_000
    return b"RIFF" + struct.pack("<I", len(body)) + body


def jpeg_of(width: int, height: int) -> bytes:
    content = bytearray(makers.picture("JPEG"))
    struct.pack_into(">HH", content, content.index(b"\xff\xc0") + 5, height, width)
    return bytes(content)


def jpeg_of_segments(count: int) -> bytes:
    plain = makers.picture("JPEG")
    return plain[:2] + b"\xff\xfe\0\2" * count + plain[2:]


def riff(*chunks: bytes) -> bytes:
    body = b"WAVE" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


FORMAT = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 2, 44_100, 176_400, 4, 16)
SAMPLES = b"data" + struct.pack("<I", 176_400) + b"\0" * 176_400
JUNK = b"JUNK\0\0\0\0"


def lying_wave() -> bytes:
    content = bytearray(makers.sound("WAV"))
    struct.pack_into("<I", content, content.index(b"data") + 4, 2**32 - 1)
    return bytes(content)


def lying_xing() -> bytes:
    content = bytearray(makers.sound("MP3", 2.0))
    at = next(content.find(tag) for tag in (b"Xing", b"Info") if tag in content)
    struct.pack_into(">II", content, at + 4, 3, 0x7FFFFFFF)
    return bytes(content)


def id3_bomb() -> bytes:
    """Return an MP3 whose tag holds a compressed comment of 256 MiB."""
    packed = struct.pack(">I", 2**28) + makers.compressed_zeros(256)
    frame = b"COMM" + struct.pack(">I", len(packed)) + b"\0\x80" + packed
    size = len(frame)
    return b"ID3\3\0\0" + bytes([size >> 21 & 127, size >> 14 & 127, size >> 7 & 127, size & 127]) + frame + makers.sound("MP3")


def mp3_with_a_picture() -> bytes:
    picture = b"\0image/png\0\3\0" + os.urandom(2**21)
    frame = b"APIC" + struct.pack(">IH", len(picture), 0) + picture
    size = len(frame)
    return b"ID3\3\0\0" + bytes([size >> 21 & 127, size >> 14 & 127, size >> 7 & 127, size & 127]) + frame + makers.sound("MP3")


def lying_flac(samples: int) -> bytes:
    content = bytearray(makers.sound("FLAC"))
    packed = int.from_bytes(content[18:26], "big") >> 36 << 36
    content[18:26] = (packed | samples).to_bytes(8, "big")
    return bytes(content)


MEDIA: tuple[Case, ...] = (
    Case("png cut off", lambda: makers.picture(size=(300, 300))[:60], Refused("cut off")),
    Case("png with a wrong checksum", lambda: makers.picture()[:40] + b"\1" + makers.picture()[41:], Refused("damaged")),
    Heavy("png with a text bomb", makers.png_with_text_bomb, Refused("damaged")),
    Heavy("png with a colour profile bomb", lambda: png_with(b"iCCP", b"p\0\0" + makers.compressed_zeros(128)), Refused("damaged")),
    Heavy("png of 500,000 chunks", lambda: png_with(b"tEXt", b"", 500_000), Refused("too many small parts")),
    Case("png of impossible size", lambda: makers.png_of(2**31 - 1, 2**31 - 1), Refused("impossible")),
    Case("png that moves", lambda: animated("PNG"), Taken("png", {"frameCount": 3})),
    Case(
        "png that is a zip too",
        lambda: makers.picture() + makers.zipped({"a": b"a"}),
        Taken("png", {"trailingBytes": len(makers.zipped({"a": b"a"}))}),
    ),
    Case("jpeg of 65,000 by 65,000", lambda: jpeg_of(65_000, 65_000), Taken("jpg", {"width": 65_000, "height": 65_000})),
    Case("jpeg of no height", lambda: jpeg_of(100, 0), Refused("damaged")),
    Heavy("jpeg of 100,000 segments", lambda: jpeg_of_segments(100_000), Refused("too many small parts")),
    Heavy("jpeg of fill bytes", lambda: b"\xff\xd8" + b"\xff" * 5_000_000, Refused("too many small parts")),
    Case("webp that moves", lambda: animated("WEBP"), Taken("webp", {"frameCount": 3})),
    Heavy("webp of 100,000 frames", webp_of_many_frames, Refused("damaged")),
    Case("webp cut off", lambda: makers.picture("WEBP", (300, 300))[:40], Refused("cut off")),
    Case("psd with a damaged header", lambda: b"8BPS" + b"\xff" * 100, Refused("header is damaged")),
    Case("psd that claims a larger picture", lambda: makers.psd(30_000, 30_000, held=100), Refused("larger picture")),
    Case("psd with a section of 4 GiB", lambda: makers.psd(8, 8)[:26] + b"\xff" * 40, Refused("outside of the file")),
    Heavy("wav of two million chunks", lambda: riff(JUNK * 2_000_000), Refused("decoded")),
    Heavy("wav with two million chunks behind it", lambda: riff(FORMAT, SAMPLES, JUNK * 2_000_000), Taken("wav", {"durationSeconds": 1.0})),
    Case("wav that claims 4 GiB", lying_wave, Taken("wav", {"durationSeconds": 1.0})),
    Case("wav without samples", riff, Refused("decoded")),
    Case("wav of no rate", lambda: riff(FORMAT.replace(struct.pack("<I", 44_100), b"\0" * 4), SAMPLES), Refused("decoded")),
    Case("mp3 whose header claims a year", lying_xing, Taken("mp3", {"sampleRate": 44_100})),
    Heavy("mp3 with a compressed comment of 256 MiB", id3_bomb, Taken("mp3", {"sampleRate": 44_100})),
    Case("mp3 with a tag longer than the file", lambda: b"ID3\4\0\0\x7f\x7f\x7f\x7f" + makers.sound("MP3"), Refused("decoded")),
    Case("mp3 with a picture larger than its sound", mp3_with_a_picture, Taken("mp3", {"durationSeconds": 1.0})),
    Case("mp3 mostly of something else", lambda: makers.sound("MP3", 0.3) + os.urandom(300_000), Refused("not made of audio")),
    Heavy("mp3 of sync bytes", lambda: b"\xff" * 5_000_000, Unsupported()),
    Case("flac that claims ten hours", lambda: lying_flac(36_000 * 44_100), Refused("decoded")),
    Case("flac that claims a minute", lambda: lying_flac(60 * 44_100), Refused("decoded")),
    Case("flac that claims three weeks", lambda: lying_flac(2**36 - 1), Refused("decoded")),
    Case("flac cut off", lambda: makers.sound("FLAC")[:30], Refused("decoded")),
    Case("flac of half its samples", lambda: makers.sound("FLAC", 3.0)[:20_000], Refused("decoded")),
    Case("ogg cut off", lambda: makers.sound("OGG", 3.0)[:20_000], Taken("ogg", {"sampleRate": 44_100})),
    Case("aac of two frames", lambda: makers.adts(2), Refused("not made of audio")),
    Case("m4a that claims a month", lambda: makers.m4a(seconds=2_500_000), Refused("longer than its bytes")),
    Heavy(
        "m4a of a million boxes", lambda: makers.box(b"ftyp", b"M4A \0\0\0\0") + makers.box(b"free", b"") * 10**6, Refused("too many boxes")
    ),
    Case("m4a cut off", lambda: makers.m4a()[:-500], Refused("do not fit")),
    Heavy("m4a with a description of 17 MiB", lambda: makers.m4a() + makers.box(b"moov", b"\0" * (17 * 2**20)), Refused("16 MiB")),
    Case("m4a that is a video", lambda: makers.m4a(handler=b"vide"), Unsupported("video")),
    Case("SVG", lambda: SVG, Unsupported("HTML or SVG")),
    Case("HTML with spaces before it", lambda: b"\n  <!doctype html>", Unsupported("HTML or SVG")),
    Case("one byte", lambda: b"x", Unsupported("of a type that is not accepted")),
    Case("zeros", lambda: b"\0" * 100_000, Unsupported("empty")),
)

"""Files that are made to do harm, and a child process that they have taken over."""

import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from marketplace.core.errors import UnsupportedType
from marketplace.core.objects.base import ObjectStore
from vendors.sandbox.runner import Limits, look, reader_of_bytes
from vendors.uploads import FileRejected

from . import makers
from .helpers import inspect

ROOT = Path(__file__).resolve().parents[2]
MIB = 2**20


def zip_of_a_million() -> bytes:
    body = b"PK\x03\x04" + b"\0" * 60_000_000
    record = struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, 10**6, 10**6, 50_000_000, 30)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, len(body), 1)
    return body + record + locator + struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)


def zip_claiming_an_exabyte() -> bytes:
    content = bytearray(makers.zipped({"a.txt": b"a" * 500}))
    at = content.index(b"PK\x01\x02")
    struct.pack_into("<H", content, at + 10, 12)
    struct.pack_into("<I", content, at + 24, 0xFFFFFFFF)
    wide = struct.pack("<HHQ", 1, 8, 2**62)
    struct.pack_into("<H", content, at + 30, len(wide))
    end = content.rindex(b"PK\x05\x06")
    (length,) = struct.unpack_from("<I", content, end + 12)
    struct.pack_into("<I", content, end + 12, length + len(wide))
    content[end:end] = wide
    return bytes(content)


def zip_with(**changes: int) -> bytes:
    """Return a zip of two entries with fields of its first directory line overwritten."""
    places = {"method": (10, "<H"), "packed": (20, "<I"), "size": (24, "<I"), "offset": (42, "<I")}
    content = bytearray(makers.zipped({"a.txt": b"a" * 500, "b.txt": b"b" * 500}))
    at = content.index(b"PK\x01\x02")
    for name, value in changes.items():
        place, form = places[name]
        struct.pack_into(form, content, at + place, value)
    return bytes(content)


def overlapping_zip() -> bytes:
    content = bytearray(makers.zipped({"a.txt": b"a" * 500, "b.txt": b"b" * 500}))
    second = content.rindex(b"PK\x01\x02")
    struct.pack_into("<I", content, second + 42, 0)
    return bytes(content)


def zip_with_large_directory() -> bytes:
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 10, 10, 65 * MIB, 4, 0)
    return b"PK\x03\x04" + b"\0" * 100 + end


def woff_bomb() -> bytes:
    content = bytearray(makers.font(flavor="woff"))
    struct.pack_into(">I", content, 44 + 12, 2**30)
    return bytes(content)


def woff2_declaring_a_gigabyte() -> bytes:
    content = bytearray(makers.font(flavor="woff2"))
    struct.pack_into(">I", content, 16, 2**30)
    return bytes(content)


def font_with_table_outside() -> bytes:
    content = bytearray(makers.font())
    struct.pack_into(">I", content, 12 + 8, 2**31)
    return bytes(content)


def id3_longer_than_the_file() -> bytes:
    return b"ID3\x04\0\0\x7f\x7f\x7f\x7f" + makers.sound("MP3")


def wave_of_many_chunks() -> bytes:
    body = b"WAVE" + (b"JUNK" + b"\0\0\0\0") * 100_000
    return b"RIFF" + struct.pack("<I", len(body)) + body


def nested_tar_bomb() -> bytes:
    return makers.tarred({"zeros": b"\0" * (80 * MIB)}, "w:bz2")


HOSTILE: dict[str, Any] = {
    "zip of a million entries": zip_of_a_million,
    "zip that claims an exabyte": zip_claiming_an_exabyte,
    "zip with a directory of 65 MiB": zip_with_large_directory,
    "zip with overlapping entries": overlapping_zip,
    "zip with an entry in its directory": lambda: zip_with(method=0, packed=10**6, size=10**6),
    "zip that expands more than deflate can": lambda: zip_with(size=10**9),
    "zip stored with two sizes": lambda: zip_with(method=0, size=400),
    "zip cut off": lambda: makers.zipped({"a.txt": os.urandom(1000)})[:-30],
    "zip with a damaged directory": lambda: makers.zipped({"a.txt": b"a"}).replace(b"PK\x01\x02", b"PK\x01\x09"),
    "tar with a pax header of 1.5 GiB": lambda: makers.tar_header("x", b"%011o" % (3 * 2**29), b"x") + b"\0" * 1024,
    "tar with a negative size": lambda: makers.tar_header("x", b"\xff" * 12) + b"\0" * 1024,
    "tar with a size beyond all disks": lambda: makers.tar_header("x", b"\x80" + b"\x7f" * 11) + b"\0" * 1024,
    "tar cut off": lambda: makers.tarred({"a": os.urandom(5000)})[:3000],
    "tar.gz cut off": lambda: makers.tarred({"a": os.urandom(50_000)}, "w:gz")[:20_000],
    "tar.bz2 that expands endlessly": nested_tar_bomb,
    "font with a table outside of the file": font_with_table_outside,
    "font cut off": lambda: makers.font()[:60],
    "woff bomb": woff_bomb,
    "woff2 declaring 1 GiB": woff2_declaring_a_gigabyte,
    "font collection of a million faces": lambda: b"ttcf\0\1\0\0" + struct.pack(">I", 10**6) + b"\0" * 100,
    "png cut off": lambda: makers.picture(size=(300, 300))[:60],
    "png with a text bomb": makers.png_with_text_bomb,
    "png of impossible size": lambda: makers.png_of(2**31 - 1, 2**31 - 1),
    "psd with a damaged header": lambda: b"8BPS" + b"\xff" * 100,
    "wav of 100,000 chunks": wave_of_many_chunks,
    "wav without samples": lambda: b"RIFF\x04\0\0\0WAVE",
    "mp3 with a tag longer than the file": id3_longer_than_the_file,
    "mp3 mostly of something else": lambda: makers.sound("MP3", 0.3) + os.urandom(300_000),
    "flac cut off": lambda: makers.sound("FLAC")[:30],
    "aac of two frames": lambda: makers.adts(2),
    "m4a that claims a month": lambda: makers.m4a(seconds=2_500_000),
}


def as_said(facts: dict[str, Any], blobs: list[bytes]) -> dict[str, Any]:
    return facts


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_refused_quickly(local_store: ObjectStore, name: str) -> None:
    content = HOSTILE[name]()
    began = time.monotonic()
    with pytest.raises(FileRejected) as refusal:
        inspect(local_store, content)
    assert refusal.value.members["reason"] == "damaged_or_unsafe", refusal.value.message
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<!doctype html><script>alert(1)</script>",
        b"MZ" + b"\0" * 200,
        b"7z\xbc\xaf\x27\x1c" + b"\0" * 100,
        b"%PDF-1.7\n",
        b"RIFF\x04\0\0\0AVI ",
        "text in UTF-16".encode("utf-16"),
        makers.m4a(handler=b"vide"),
        makers.m4a(codec=b"alac"),
        makers.box(b"ftyp", b"heic\0\0\0\0") + makers.box(b"mdat", b"\0" * 100),
    ],
)
def test_content_of_another_type_is_refused(local_store: ObjectStore, content: bytes) -> None:
    with pytest.raises(UnsupportedType):
        inspect(local_store, content)


def test_compressed_file_that_is_no_tar_is_refused(local_store: ObjectStore) -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz"):
        pass
    assert inspect(local_store, target.getvalue()).technical["entryCount"] == 0
    gz = subprocess.run(["gzip", "-c"], input=b"x" * 2000, capture_output=True, check=True).stdout  # noqa: S607 - any gzip will do
    with pytest.raises(UnsupportedType):
        inspect(local_store, gz)


def test_child_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.monotonic()

    def slow(offset: int, length: int) -> bytes:
        time.sleep(1.5)
        return b"PK\x03\x04".ljust(length, b"\0")

    with pytest.raises(FileRejected) as refusal:
        look("inspect", read_at=slow, size=1000, limits=Limits(cpu_seconds=5, wall_seconds=1), interpret=as_said)
    assert refusal.value.members["reason"] == "limits_exceeded"
    assert time.monotonic() - began < 5


def test_child_that_dies_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(FileRejected) as refusal:
        look("inspect", read_at=reader_of_bytes(b"x"), size=1, limits=Limits(5, 5), interpret=as_said)
    assert refusal.value.members["reason"] == "limits_exceeded"


@pytest.mark.parametrize("verdict", [b"no json", b"[]", b'{"outcome": "accepted", "blobs": [-1]}', b'{"outcome": "accepted", "facts": 1}'])
def test_child_that_was_taken_over_cannot_break_us(verdict: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = tmp_path / "said"
    said.write_bytes(struct.pack("<cQI", b"D", 0, len(verdict)) + verdict)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ncat {said}\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(FileRejected):
        look("inspect", read_at=reader_of_bytes(b"x"), size=1, limits=Limits(5, 5), interpret=as_said)


def test_child_that_asks_beyond_the_file_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = tmp_path / "said"
    said.write_bytes(struct.pack("<cQI", b"R", 0, 100))
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ncat {said}\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(FileRejected):
        look("inspect", read_at=reader_of_bytes(b"x"), size=1, limits=Limits(5, 5), interpret=as_said)


def test_names_that_no_database_takes_are_mended(local_store: ObjectStore) -> None:
    name = zipfile.ZipInfo("a.txt")
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(name, b"x")
        archive.writestr("SKILL.md", b"---\nname: a\x00b\xed\xa0\x80\n---\n")
    content = target.getvalue().replace(b"a.txt", b"/\x00.t\xff")
    technical = inspect(local_store, content).technical
    text = json.dumps(technical, ensure_ascii=False)
    assert "\\u0000" not in text
    assert "\x00" not in text
    text.encode()


def test_child_has_no_django_and_no_secrets() -> None:
    code = (
        "import sys, vendors.sandbox.worker, vendors.sandbox.inspecting, vendors.sandbox.zips, vendors.sandbox.tars,"
        " vendors.sandbox.fonts, vendors.sandbox.sounds, vendors.sandbox.preview_images, vendors.sandbox.preview_fonts;"
        " sys.exit('django' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)

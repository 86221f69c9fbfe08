"""Archives: bombs, tricks with names and places, lies in headers."""

import bz2
import gzip
import io
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import makers
from ..zip_crafting import END, LINE, LOCAL, Part, archive
from .cases import Case, Heavy, Refused, Taken, Unsupported

MIB = 2**20


def zip_of(count: int) -> bytes:
    """Return a zip of so many empty files, written byte by byte: zipfile takes seconds, and a list of the entries much memory."""
    body, directory = bytearray(), bytearray()
    for index in range(count):
        directory += LINE.pack(b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, len(body)) + b"%05x.txt" % index
        body += LOCAL.pack(b"PK\3\4", 20, 0, 0, 0, 0, 0, 0, 0, 9, 0) + b"%05x.txt" % index
    at = len(body) + len(directory)
    record = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(directory), len(body))
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, at, 1)
    return bytes(body + directory) + record + locator + END.pack(b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0)


def zip_of_a_million() -> bytes:
    body = b"PK\3\4" + b"\0" * 100
    record = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 10**6, 10**6, 50_000_000, 30)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, len(body), 1)
    return body + record + locator + END.pack(b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0)


def zip_with(**line: Any) -> bytes:
    """Return a zip of two entries, with fields of its first directory line that say something else."""
    return archive(Part(b"a.txt", b"a" * 500, line=line), Part(b"b.txt", b"b" * 500))


def zip_named(*names: str) -> bytes:
    """Return a zip with names about which zipfile would warn."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for index, name in enumerate(names):
            member = zipfile.ZipInfo(f"placeholder-{index}")
            member.filename = name
            archive.writestr(member, b"x")
    return target.getvalue()


def zip_of_two_names() -> bytes:
    return makers.zipped({"harmless.txt": b"x"}).replace(b"harmless.txt", b"harmful.exe!", 1)


def large_tar(count: int) -> bytes:
    """Return a tar.gz of so many empty files."""
    head = bytearray(makers.tar_header("000000", b"0" * 11))
    base = sum(head) - sum(head[148:156]) + 8 * 32 - 6 * 48
    target = io.BytesIO()
    with gzip.GzipFile(fileobj=target, mode="wb", compresslevel=1) as packed:
        for index in range(count):
            digits = b"%06d" % index
            head[:6] = digits
            head[148:156] = b"%06o\0 " % (base + sum(digits))
            packed.write(head)
        packed.write(b"\0" * 1024)
    return target.getvalue()


def pax_record(key: bytes, value: bytes) -> bytes:
    body = b" " + key + b"=" + value + b"\n"
    length = len(body) + len(str(len(body)))
    length += len(str(length)) - len(str(len(body)))
    return str(length).encode() + body


def pax_tar(content: bytes) -> bytes:
    """Return a tar whose one file has an extended header with this content."""
    head = makers.tar_header("pax", b"%011o" % len(content), b"x")
    return head + content + b"\0" * (-len(content) % 512) + makers.tar_header("a", b"0" * 11) + b"\0" * 1024


def xz_with_a_gigabyte_dictionary() -> bytes:
    content = bytearray(lzma.compress(makers.tarred({"a": b"a"}), filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 4096}]))
    size = (content[12] + 1) * 4
    place = content.index(b"\x21\x01", 12) + 2
    content[place] = 36
    content[12 + size - 4 : 12 + size] = struct.pack("<I", zlib.crc32(bytes(content[12 : 12 + size - 4])))
    return bytes(content)


def tar_of_headers() -> bytes:
    """Return a tar.gz of an extended header that describes the next, and so on."""
    target, head = io.BytesIO(), makers.tar_header("x", b"0" * 11, b"x")
    with gzip.GzipFile(fileobj=target, mode="wb", compresslevel=1) as packed:
        for _ in range(200_001):
            packed.write(head)
    return target.getvalue()


def tar_of_devices() -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for kind in (tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.LNKTYPE):
            member = tarfile.TarInfo(f"member-{kind.decode()}")
            member.type, member.linkname = kind, "/etc/shadow"
            archive.addfile(member)
    return target.getvalue()


def tar_of_fields(kind: bytes, fields: int, count: int) -> bytes:
    """Return a tar.xz of so many entries: a global header (`g`) with fields for all of them, or one for each (`x`) of one repeated field."""
    content = b"".join(pax_record(b"%x" % number, b"") for number in range(fields)) if kind == b"g" else b"5 a=\n" * fields
    head = makers.tar_header("pax", b"%011o" % len(content), kind) + content + b"\0" * (-len(content) % 512)
    entry = makers.tar_header("a", b"0" * 11)
    if kind == b"g":
        return lzma.compress(head + entry * count, preset=1)
    packer = lzma.LZMACompressor(preset=1)
    return b"".join([*(packer.compress(head + entry) for _ in range(count)), packer.flush()])


def zeros_tar(mode: str, **options: int) -> bytes:
    target, member = io.BytesIO(), tarfile.TarInfo("zeros")
    member.size = 80 * MIB
    with tarfile.open(fileobj=target, mode=mode, **options) as archive, Path("/dev/zero").open("rb") as zeros:  # type: ignore[call-overload]  # the mode is a parameter of the test
        archive.addfile(member, zeros)
    return target.getvalue()


def zeros_zip() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("zeros", "w") as member:
        for _ in range(100):
            member.write(b"\0" * MIB)
    return target.getvalue()


def skill(text: bytes) -> bytes:
    return makers.zipped({"SKILL.md": text})


def tar_with_a_damaged_header() -> bytes:
    content = bytearray(makers.tarred({"a": b"a", "b": b"b"}))
    content[1024] ^= 1
    return bytes(content)


def compressed_tars(name: str, pack: Callable[[bytes], bytes]) -> tuple[Case, ...]:
    """Return cases of what precedes or follows a compressed tar, inside of its compression and outside."""
    tar = makers.tarred({"a": b"a"})
    follows, broken = Refused("follows the end"), Refused("compression is damaged")
    return (
        Case(f"tar.{name} behind zeros", lambda: pack(b"\0" * 1024 + tar), follows),
        Case(f"tar.{name} behind a tar", lambda: pack(tar + tar), follows),
        Case(f"tar.{name} followed by something", lambda: pack(tar) + b"x" * 600, broken),
        Case(f"tar.{name} followed by something behind zeros", lambda: pack(tar) + b"\0" * MIB + b"x", broken),
        Case(f"tar.{name} padded with zeros", lambda: pack(tar) + b"\0" * MIB, Taken(f"tar.{name}", {"entryCount": 1})),
    )


YAML_BOMB = (
    b"---\nname: &a [lol,lol]\n" + b"".join(b"k%d: &k%d [*k%d,*k%d]\n" % (i, i, i - 1, i - 1) for i in range(1, 40)) + b"---\nText\n"
)
NESTED = makers.zipped({"1.zip": makers.zipped({"2.zip": makers.zipped({"3.txt": b"x"})})})
LIES = "not where its end record says"

ARCHIVES: tuple[Case, ...] = (
    Heavy(
        "zip of 100,000 entries", lambda: zip_of(100_000), Taken("zip", {"entryCount": 100_000, "contentsByExtension": {"txt": 100_000}})
    ),
    Case("zip that claims a million entries", zip_of_a_million, Refused("more than 200,000 entries", "limits_exceeded")),
    Case(
        "zip that claims an exabyte",
        lambda: zip_with(method=12, size=2**32 - 1, extra=struct.pack("<HHQ", 1, 8, 2**62)),
        Refused("more than any disk"),
    ),
    Case(
        "zip with a directory of 65 MiB",
        lambda: b"PK\3\4" + b"\0" * 100 + END.pack(b"PK\5\6", 0, 0, 10, 10, 65 * MIB, 4, 0),
        Refused("larger than 64 MiB"),
    ),
    Case("zip with overlapping entries", lambda: archive(Part(b"a.txt"), Part(b"a.txt", line={"offset": 0})), Refused("overlap")),
    Case("zip with an entry as long as a disk", lambda: zip_with(packed=10**6), Refused("described differently")),
    Case("zip that expands more than deflate can", lambda: zip_with(size=10**7), Refused("more than deflate can")),
    Heavy("zip of 100 MiB of zeros", zeros_zip, Refused("more than 200 times")),
    Case("zip stored with two sizes", lambda: zip_with(method=0, size=400), Refused("two sizes")),
    Case("zip whose entry points nowhere", lambda: zip_with(offset=9), Refused("does not name")),
    Case("zip whose entry has two names", zip_of_two_names, Refused("two names")),
    Case("zip cut off", lambda: makers.zipped({"a.txt": os.urandom(1000)})[:-30], Refused("cut off")),
    Case("zip followed by something", lambda: makers.zipped({"a": b"a"}) + b"x", Refused("does not end")),
    Case("zip behind another zip", lambda: makers.zipped({"a": b"a"}) + makers.zipped({"b": b"b"}), Refused(LIES)),
    Case("zip of several volumes", lambda: makers.zipped({"a": b"a"})[:-18] + b"\1\0" * 2 + b"\1\0" * 2 + b"\0" * 10, Refused("volumes")),
    Case("zip with a damaged directory", lambda: makers.zipped({"a": b"a"}).replace(b"PK\1\2", b"PK\1\t"), Refused("damaged")),
    Case("zip with an encrypted entry", lambda: makers.encrypted({"a.txt": b"a"}), Taken("zip", {"encrypted": True}, ("encrypted",))),
    Case(
        "zip with a name read from right to left", lambda: zip_named("inv\u202egnp.exe"), Taken("zip", {}, ("program", "unprintable_name"))
    ),
    Case(
        "zip with a NUL in a name",
        lambda: zip_named("abc.txt").replace(b"abc", b"a\0c"),
        Taken("zip", {}, ("unprintable_name", "unsafe_path")),
    ),
    Case(
        "zip with a name in no encoding",
        lambda: zip_named("abc.txt").replace(b"abc", b"\xff\xfe\x80"),
        Taken("zip", {}, ("unprintable_name",)),
    ),
    Case("zip with one name twice", lambda: zip_named("Read.txt", "read.TXT"), Taken("zip", {}, ("duplicate_name",))),
    Case("zip in zip in zip", lambda: NESTED, Taken("zip", {"contentsByExtension": {"zip": 1}}, ("nested_archive",))),
    Case("zip that is empty", lambda: END.pack(b"PK\5\6", 0, 0, 0, 0, 0, 0, 0), Unsupported("empty zip")),
    Case("PDF that is a zip too", lambda: b"%PDF-1.7\n" + makers.zipped({"a": b"a"}), Unsupported("a PDF")),
    Case("program that unpacks itself", lambda: b"MZ" + b"\0" * 100 + makers.zipped({"a": b"a"}), Unsupported("Windows program")),
    Heavy("skill of 20 MB", lambda: skill(b"word " * 4_000_000 + os.urandom(300_000)), Taken("zip", {"entryCount": 1}, ("unsearched",))),
    Case("skill of nothing but bytes", lambda: skill(bytes(range(256)) * 400), Taken("zip", {"container": "skill"})),
    Heavy("skill with a YAML bomb", lambda: skill(YAML_BOMB), Taken("zip", {"container": "skill"})),
    Heavy("skill of 20,000 keys", lambda: skill(b"---\n" + b"".join(b"k%d: v\n" % i for i in range(20_000)) + b"---\n"), Taken("zip")),
    Case(
        "motion template",
        lambda: makers.zipped({"definition.json": b"{}", "project.aegraphic": b"x"}),
        Taken("zip", {"container": "mogrt"}),
    ),
    Case(
        "Java archive with a skill",
        lambda: makers.zipped({"SKILL.md": b"x", "META-INF/MANIFEST.MF": b"x"}),
        Taken("zip", {"container": "jar"}),
    ),
    Heavy("tar of 200,001 entries", lambda: large_tar(200_001), Refused("more than 200,000 entries", "limits_exceeded")),
    Case("tar with a pax header of 1.5 GiB", lambda: makers.tar_header("x", b"%011o" % (3 * 2**29), b"x") + b"\0" * 1024, Refused("1 MiB")),
    Heavy("tar whose entries all get 90,000 fields", lambda: tar_of_fields(b"g", 90_000, 20_000), Refused("extended fields")),
    Heavy("tar of entries with 200,000 pax records", lambda: tar_of_fields(b"x", 200_000, 150), Refused("far more")),
    Heavy("tar with a pax header of a million digits", lambda: pax_tar(b"1" * 10**6), Refused("extended header")),
    Heavy("tar of nothing but pax headers", tar_of_headers, Refused("damaged")),
    Case("tar with a negative size", lambda: makers.tar_header("x", b"\xff" * 12) + b"\0" * 1024, Refused("impossible size")),
    Case(
        "tar with a size beyond all disks",
        lambda: makers.tar_header("x", b"\x80" + b"\x7f" * 11) + b"\0" * 1024,
        Refused("impossible size"),
    ),
    Case("tar with a pax size that is no number", lambda: pax_tar(pax_record(b"size", b"-7")), Refused("impossible size")),
    Case("tar with a sparse file", lambda: makers.tar_header("x", b"0" * 11, b"S") + b"\0" * 1024, Refused("sparse")),
    Case("tar with a sparse file by pax", lambda: pax_tar(pax_record(b"GNU.sparse.realsize", b"9" * 18)), Refused("sparse")),
    Case("tar of devices and hard links", tar_of_devices, Taken("tar", {"entryCount": 3}, ("device", "hardlink"))),
    Case("tar that climbs out", lambda: makers.tarred({"../../x": b"x"}), Taken("tar", {}, ("unsafe_path",))),
    Case("tar that climbs out by pax", lambda: pax_tar(pax_record(b"path", b"/etc/passwd")), Taken("tar", {}, ("unsafe_path",))),
    Case("tar with a pax size in letters", lambda: pax_tar(pax_record(b"size", b"many")), Refused("impossible size")),
    Case("tar cut off", lambda: makers.tarred({"a": os.urandom(5000)})[:3000], Refused("cut off")),
    Case("tar with a damaged header in its middle", tar_with_a_damaged_header, Refused("damaged")),
    Case("tar behind zeros", lambda: b"\0" * 1024 + makers.tarred({"a": b"a"}), Unsupported("empty")),
    *compressed_tars("gz", gzip.compress),
    *compressed_tars("bz2", bz2.compress),
    *compressed_tars("xz", lzma.compress),
    Case("tar.gz cut off", lambda: makers.tarred({"a": os.urandom(50_000)}, "w:gz")[:20_000], Refused("compression is damaged")),
    Heavy("tar.gz of zeros", lambda: zeros_tar("w:gz"), Refused("more than 200 times")),
    Heavy("tar.xz of zeros", lambda: zeros_tar("w:xz", preset=1), Refused("more than 200 times")),
    Heavy("tar.xz with a dictionary of 1 GiB", xz_with_a_gigabyte_dictionary, Refused("more memory")),
    Heavy("tar.gz of 50,000 empty streams", lambda: gzip.compress(b"") * 50_000, Refused("empty streams")),
    Case("gzip of something else", lambda: gzip.compress(b"x" * 2000), Unsupported("is not one")),
    Case("tar.gz of no files", lambda: makers.tarred({}, "w:gz"), Taken("tar.gz", {"entryCount": 0})),
    Case("Zstandard", lambda: b"\x28\xb5\x2f\xfd" + b"\0" * 100, Unsupported("Zstandard")),
    Case("7z", lambda: b"7z\xbc\xaf\x27\x1c" + b"\0" * 100, Unsupported("7z")),
)

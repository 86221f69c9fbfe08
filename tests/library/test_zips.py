"""The packages' archives: what every reader accepts, with our bytes untouched inside."""

import io
import shutil
import struct
import subprocess
import zipfile
import zlib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from library.services import zips
from library.services.zips import ZipEntry, zip_parts
from tests.waiting import PATIENCE_SECONDS


def entry(name: str, content: bytes) -> ZipEntry:
    return ZipEntry(name, len(content), zlib.crc32(content), content)


def joined(entries: list[ZipEntry]) -> bytes:
    return b"".join(part for part in zip_parts(entries) if isinstance(part, bytes))


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_characters="\0/\\", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20),
        st.binary(max_size=2000),
        max_size=5,
    )
)
def test_archive_of_any_files_reads_back(files: dict[str, bytes]) -> None:
    data = joined([entry(name, content) for name, content in files.items()])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert {info.filename: archive.read(info) for info in archive.infolist()} == files
        # Of a file that is marked as text, readers may change the line ends.
        assert not any(info.internal_attr for info in archive.infolist())
        # Made by Unix, whose permissions are read and write for the owner, read for others.
        assert {(info.create_system, info.external_attr >> 16) for info in archive.infolist()} <= {(3, 0o100644)}


@pytest.mark.parametrize("limit", [3, 40, 120], ids=["both headers", "end record", "offset only"])
def test_archive_beyond_the_32_bit_limit_reads_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: int) -> None:
    # The same records as beyond 4 GiB, with the threshold lowered; the fields hold the marker either way.
    monkeypatch.setattr(zips, "_ZIP64_FROM", limit)
    files = {"a.bin": b"a" * 50, "b.bin": b"b" * 2, "c.bin": b"c" * 90}
    data = joined([entry(name, content) for name, content in files.items()])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert {info.filename: archive.read(info) for info in archive.infolist()} == files
    path = tmp_path / "package.zip"
    path.write_bytes(data)
    if unzip := shutil.which("unzip"):
        subprocess.run([unzip, "-tqq", path], check=True, timeout=PATIENCE_SECONDS)


@pytest.mark.parametrize("size", [0xFFFFFFFF, 5 * 2**30])
def test_file_of_the_size_that_marks_a_larger_one_or_larger_has_its_size_in_both_headers(size: int) -> None:
    header, _, directory = zip_parts([ZipEntry("big.zip", size, 7, b"")])
    record = struct.pack("<HHQQ", 1, 16, size, size)
    assert isinstance(header, bytes)
    assert isinstance(directory, bytes)
    assert record in header
    assert record in directory


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (datetime(2026, 11, 22, 23, 59, 59, 999, tzinfo=timezone(timedelta(hours=-5))), (2026, 11, 23, 4, 59, 58)),
        (datetime(2107, 12, 31, 0, 0, 1, tzinfo=UTC), (2107, 12, 31, 0, 0, 0)),
        (datetime(1979, 12, 31, tzinfo=UTC), (1980, 1, 1, 0, 0, 0)),
        (datetime(2108, 1, 1, tzinfo=UTC), (1980, 1, 1, 0, 0, 0)),
    ],
)
def test_entries_have_the_time_in_utc_as_far_as_archives_can_express_it(at: datetime, shown: tuple[int, ...]) -> None:
    parts = zip_parts([entry("a.otf", b"1"), entry("README.txt", b"2")], at=at)
    with zipfile.ZipFile(io.BytesIO(b"".join(part for part in parts if isinstance(part, bytes)))) as archive:
        assert {info.date_time for info in archive.infolist()} == {shown}

"""Programs that read a zip from front to back, and programs that read its directory, find the same files in what we accept."""

import io
import os
import random
import shutil
import subprocess
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.machine import SEVEN_ZIP
from vendors.sandbox import worker

from .hostile import HIDING, Case
from .hostile.zips import HIDDEN, described
from .makers import zipped
from .zip_crafting import Part, archive, deflated, kept, with_second_end

FILES = {"a.txt": b"hello " * 99, "empty.bin": b"", "sub/b.bin": random.Random(1).randbytes(5000), "sub/größe-日本.txt": b"x"}
ODD_ARCHIVES = 200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files."""
    for name, content in FILES.items():
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "files"


@pytest.fixture(autouse=True)
def bsdtar() -> None:
    """Skip where the program that reads from front to back is not here."""
    if shutil.which("bsdtar") is None:
        pytest.skip("needs the Debian package libarchive-tools")


def verdict(content: bytes) -> dict[str, Any]:
    said, _ = worker.run("inspect", io.BufferedReader(io.BytesIO(content)), len(content))
    return said


def output_of(command: list[str], given: bytes = b"") -> bytes:
    return subprocess.run(command, input=given, capture_output=True, env=os.environ | {"LC_ALL": "C.UTF-8"}, check=False).stdout


def by_stream(content: bytes) -> tuple[list[str], bytes]:
    """Return names and contents as read from front to back."""
    names = output_of(["bsdtar", "-tf", "-"], content).decode().splitlines()
    return [name for name in names if not name.endswith("/")], output_of(["bsdtar", "-xOf", "-"], content)


def by_directory(content: bytes) -> tuple[list[str], bytes]:
    """Return names and contents in the order in which they lie in the archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as found:
        members = [member for member in sorted(found.infolist(), key=lambda each: each.header_offset) if not member.is_dir()]
        # Some programs write UTF-8 without saying so.
        names = [each.filename if each.flag_bits & 0x800 else each.filename.encode("cp437").decode("utf-8", "replace") for each in members]
        return names, b"".join(found.read(member) for member in members)


def assert_agreement(content: bytes, place: Path) -> None:
    said = verdict(content)
    assert said["outcome"] == "accepted", said
    names, contents = by_stream(content)
    assert (names, contents) == by_directory(content)
    assert sorted(names) == sorted(name for name, _ in said["result"]["entries"])
    if shutil.which("unzip"):
        place.write_bytes(content)
        assert output_of(["unzip", "-p", str(place)]) == contents


class Pipe(io.RawIOBase):
    """What cannot be sought in, so that Python writes its archives as a stream."""

    def __init__(self) -> None:
        self.target = io.BytesIO()

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        return self.target.write(content)


def by_python(method: int, *, piped: bool = False, wide: bool = False) -> bytes:
    pipe = Pipe()
    target: Any = pipe if piped else pipe.target
    with zipfile.ZipFile(target, "w", method) as made:
        made.writestr("sub/", b"")
        for name, content in FILES.items():
            with made.open(name, "w", force_zip64=wide) as member:
                member.write(content)
    return pipe.target.getvalue()


def like_archive_utility() -> bytes:
    """Return an archive with the records that macOS writes: streamed files, plain folders, attributes beside each file."""
    local, line = {"extra": b"UX\x0c\0" + b"\0" * 12}, {"extra": b"UX\x08\0" + b"\0" * 8}
    files = [Part(name, b"hello " * 99, streamed=True, local=local, line=line) for name in (b"art/one.txt", b"__MACOSX/art/._one.txt")]
    return archive(Part(b"art/", b"", method=0, local=local, line=line), *files)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: by_python(zipfile.ZIP_DEFLATED), id="deflated"),
        pytest.param(lambda: by_python(zipfile.ZIP_STORED), id="stored"),
        pytest.param(lambda: by_python(zipfile.ZIP_DEFLATED, piped=True), id="deflated stream"),
        pytest.param(lambda: by_python(zipfile.ZIP_STORED, piped=True), id="stored stream"),
        pytest.param(lambda: by_python(zipfile.ZIP_DEFLATED, piped=True, wide=True), id="deflated stream of unknown width"),
        pytest.param(lambda: by_python(zipfile.ZIP_STORED, piped=True, wide=True), id="stored stream of unknown width"),
        pytest.param(lambda: by_python(zipfile.ZIP_DEFLATED, wide=True), id="zip64 entries"),
        pytest.param(lambda: with_second_end(by_python(zipfile.ZIP_DEFLATED)), id="two end records that agree"),
        pytest.param(like_archive_utility, id="macOS"),
        pytest.param(lambda: zipped({"one.zip": zipped(FILES), "two.zip": by_python(0, piped=True)}), id="zips in a zip"),
        pytest.param(lambda: zipped({"one.zip": zipped(FILES)}, zipfile.ZIP_STORED), id="zip stored in a zip"),
        pytest.param(lambda: archive(Part(b"a.zip", zipped(FILES), data=kept(zipped(FILES)), streamed=True)), id="zip kept in a stream"),
    ],
)
def test_valid_archive_is_accepted_and_read_alike_by_all_programs(make: Callable[[], bytes], tmp_path: Path) -> None:
    assert_agreement(make(), tmp_path / "made.zip")


COMMANDS = {
    "zip": "zip -qr {target} .",
    "zip, streamed": "zip -qr - . | cat > {target}",
    "zip, streamed and stored": "zip -q0r - . | cat > {target}",
    "zip of standard input": "cat a.txt | zip -q {target} -",
    "zip of standard input, streamed": "cat a.txt | zip -q - - | cat > {target}",
    "zip, wide": "zip -qr -fz {target} .",
    "zip, updated": "zip -qr {target} . && zip -qd {target} a.txt && zip -q {target} a.txt",
    "7-Zip": "{seven} a -bso0 -bsp0 {target} .",
    "7-Zip, streamed": "{seven} a -bso0 -bsp0 -tzip -so made . > {target}",
    "bsdtar": "bsdtar --format zip -cf {target} a.txt empty.bin sub",
    "bsdtar, stored": "bsdtar --format zip --options zip:compression=store -cf {target} a.txt empty.bin sub",
    "bsdtar, wide": "bsdtar --format zip --options zip:zip64 -cf {target} a.txt empty.bin sub",
    "jar": "jar cf {target} .",
    "jar, stored": "jar cf0 {target} .",
    "jar, updated": "jar cf {target} . && jar uf {target} a.txt",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_archive_of_a_common_program_is_accepted_and_read_alike_by_all_programs(command: str, folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "made.zip"
    command = command.format(target=target, seven=next(filter(shutil.which, SEVEN_ZIP), SEVEN_ZIP[0]))
    if shutil.which(name := command.removeprefix("cat a.txt | ").split()[0]) is None:
        pytest.skip(f"needs {name}")
    subprocess.run(["/bin/sh", "-c", f"set -e; {command}"], cwd=folder, check=True, env=os.environ | {"LC_ALL": "C.UTF-8"})
    assert_agreement(target.read_bytes(), tmp_path / "again.zip")


@pytest.mark.parametrize("case", HIDING, ids=str)
def test_zip_entry_that_is_missing_in_the_directory_is_refused(case: Case) -> None:
    content = case.build()
    names, contents = by_stream(content)
    # The threat is there: what nobody is shown comes out.
    assert "hidden.exe" in names or b"hidden" in contents
    assert verdict(content)["outcome"] == "rejected"


def odd_part(chance: random.Random, number: int) -> Part:
    """Return an entry that is often a little wrong, in both headers or in one."""
    content = chance.choice((b"", b"text " * 9, HIDDEN.record(), zipped(FILES)))
    part = Part(b"%d.txt" % number, content, method=chance.choice((0, 8)), streamed=chance.random() < 0.5)
    match chance.randrange(12):
        case 0:
            part.data = kept(content)
        case 1:
            part.data = deflated(content) + HIDDEN.record()
        case 2:
            part.data = part.packed()[:-1]
        case 3:
            part.descriptor = chance.choice((b"", described(content, 1), described(content, len(part.packed()))[4:]))
        case 4:
            part.before = chance.choice((b"\0", HIDDEN.record(), b"PK\3\4" + b"\0" * 30))
        case 5:
            part.local = {"extra": chance.choice((b"\0", b"\1\0\4\0" + b"\0" * 4, b"xx\4\0PK\3\4"))}
        case 6 | 7:
            change = {chance.choice(("flags", "method", "crc", "packed", "size")): chance.choice((0, 1, 8, 9, 2**16 - 1))}
            part.local, part.line = chance.choice(((change, {}), ({}, change), (change, change)))
    return part


def odd_archive(seed: int) -> bytes:
    """Return an archive of odd entries, some of which the directory may leave out."""
    chance = random.Random(seed)
    parts = [odd_part(chance, number) for number in range(chance.choice((1, 2, 3)))]
    unnamed = tuple(number for number in range(len(parts)) if chance.random() < 0.05)
    made = archive(*parts, unnamed=unnamed, tail=chance.choice((b"", b"", b"", b"", b"PK", HIDDEN.record())))
    return with_second_end(made) if chance.random() < 0.2 else made


@pytest.mark.slow
def test_accepted_malformed_archives_are_read_alike_by_all_programs() -> None:
    accepted = 0
    for seed in range(ODD_ARCHIVES):
        content = odd_archive(seed)
        if verdict(content)["outcome"] != "accepted":
            continue
        try:
            expected = by_directory(content)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, ValueError):
            # Damaged, or encrypted: it says so to whoever opens it.
            continue
        accepted += 1
        assert by_stream(content) == expected, seed
    assert accepted > ODD_ARCHIVES // 10

"""Packages as buyers open them: `python -m tests.files.packages [--size 4608] [--store local|s3]`, for files beyond 4 GiB.

A deliverable is uploaded, approved, bought and downloaded through the real server; then every program that opens zips
says whether the package is whole, and takes the deliverable out of it.
"""

import contextlib
import hashlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from zipfile import ZipFile

import requests

from benchmarks.upload.__main__ import make_archive
from benchmarks.upload.measures import checksum_of, send
from tests import command_line

from ..faults.service import serving
from ..machine import SEVEN_ZIP

MIB = 2**20
BLOCK = 2**20
NAME = "work.tar"


# By the names of the program: how it tests a package, and how it prints a file of it.
TOOLS: dict[tuple[str, ...], tuple[list[str], list[str]]] = {
    ("unzip",): (["-tqq"], ["-p"]),
    SEVEN_ZIP: (["t"], ["x", "-so"]),
    ("bsdtar",): (["-tf"], ["-xOf"]),
}


def by_tool(tool: str, package: Path, test: list[str], take_out: list[str]) -> str:
    """Return the checksum of the deliverable that a program takes out of a package which it finds whole."""
    subprocess.run([tool, *test, package], check=True, stdout=subprocess.DEVNULL)
    digest = hashlib.sha256()
    with subprocess.Popen([tool, *take_out, package, NAME], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while block := process.stdout.read(BLOCK):
            digest.update(block)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, tool)
    return digest.hexdigest()


def by_python(package: Path) -> str:
    """Return the checksum of the deliverable; Python compares the CRC-32 of each entry."""
    digest = hashlib.sha256()
    with ZipFile(package) as archive:
        if names := sorted(set(archive.namelist()) ^ {NAME, "README.txt", "LICENSE.txt"}):
            raise ValueError(f"other entries: {names}")
        for name in archive.namelist():
            with archive.open(name) as entry:
                while block := entry.read(BLOCK):
                    if name == NAME:
                        digest.update(block)
    return digest.hexdigest()


def openers() -> Iterator[tuple[str, Callable[[Path], str] | None]]:
    """Yield the name of each program with its way to open a package, None where the program is not here."""
    yield "python", by_python
    for names, (test, take_out) in TOOLS.items():
        tool = next(filter(shutil.which, names), None)
        yield names[0], partial(by_tool, tool, test=test, take_out=take_out) if tool else None


@contextlib.contextmanager
def bought_package(folder: Path, length: int, *, store: str = "local") -> Iterator[tuple[Path, str]]:
    """Yield the package of a deliverable of this length as its buyer downloads it, and the deliverable's checksum."""
    with serving(folder, store) as (running, facts):
        listing, original = min(facts["listings"]), folder / NAME
        make_archive(original, length)
        _, record = send(running.port, f"/api/v1/vendor/assets/{listing}/file", facts["vendor"], original)
        checksum = checksum_of(original)
        assert record["checksum"] == checksum, record
        original.unlink()
        running.ask("approve", listing)
        headers = {"Authorization": f"Bearer {facts['buyer']}"}
        link = requests.post(f"{running.base_url}/api/v1/library/download/{listing}", headers=headers, timeout=600).json()
        package, whole = folder / link["fileName"], hashlib.sha256()
        with requests.get(link["downloadUrl"], stream=True, timeout=600) as answer, package.open("wb") as file:
            assert answer.status_code == requests.codes.ok
            for block in answer.iter_content(BLOCK):
                whole.update(block)
                file.write(block)
        assert (package.stat().st_size, whole.hexdigest()) == (link["size"], link["checksum"])
        yield package, checksum


def main() -> int:
    """Run what was asked for; return 0 when every program agreed."""
    parser = command_line("tests.files.packages", __doc__)
    parser.add_argument("--size", type=int, default=4608, help="MiB of the deliverable (4608)")
    parser.add_argument("--store", choices=("local", "s3"), default="local", help="where it is kept (local)")
    options = parser.parse_args()
    failed = False
    with (
        tempfile.TemporaryDirectory(prefix="marketplace-packages-") as folder,
        bought_package(Path(folder), options.size * MIB, store=options.store) as (package, checksum),
    ):
        sys.stdout.write(f"{options.store}: {package.name}, {package.stat().st_size} bytes\n")
        for name, take_out in openers():
            if take_out is None:
                sys.stdout.write(f"  {name}: not here\n")
                continue
            began = time.monotonic()
            same = take_out(package) == checksum
            sys.stdout.write(f"  {name}: {'the deliverable is identical' if same else 'ANOTHER FILE'} ({time.monotonic() - began:.0f} s)\n")
            failed = failed or not same
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

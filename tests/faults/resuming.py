"""The long run: `python -m tests.faults.resuming --mib 1024 --cuts 5 [--seed 1]`.

A client of another project (tuspy) uploads a file in parts while its connection is cut at random moments, the last time by a kill of
the server; the file must arrive whole, and what was sent must be at most 1.1 times its size.
"""

import contextlib
import hashlib
import os
import random
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

import requests
from tusclient.client import TusClient
from tusclient.exceptions import TusCommunicationError, TusUploadFailed
from tusclient.uploader.uploader import Uploader

from tests import command_line
from vendors.bounds import MAX_PART_BYTES

from ..servers import Unavailable
from ..servers.gate import Gate, gate
from .service import Service, serving

MIB = 2**20
MOST_SENT = 1.1
FINISH_SECONDS = 600


class Resumed(NamedTuple):
    """What it took to upload a file: how much the client sent, and whether the record has the file's checksum."""

    size: int
    sent: int
    cuts: int
    arrived: bool
    seconds: float


def run(folder: Path, *, store: str, mib: int, cuts: int, seed: int, part_bytes: int = MAX_PART_BYTES) -> Resumed:
    """Upload a file of so many MiB in an empty folder."""
    archive = _archive(folder / "work.zip", mib)
    with serving(folder, store) as (running, facts), gate(running.port) as proxy, archive.open("rb") as file:
        headers = {"Authorization": f"Bearer {facts['vendor']}"}
        client = TusClient(f"http://127.0.0.1:{proxy.port}/api/v1/vendor/assets/{min(facts['listings'])}/tus", headers=headers)
        uploader = client.uploader(file_stream=file, chunk_size=part_bytes, metadata={"filename": "work.zip"}, upload_checksum=True)
        done = _upload(uploader, running, proxy, cuts=cuts, random_=random.Random(seed))
        began = time.monotonic()
        address = str(uploader.url).replace("/tus/", "/uploads/")
        answer = requests.post(f"{address}/finish", headers=headers, timeout=FINISH_SECONDS)
        seconds = time.monotonic() - began
        assert answer.status_code == requests.codes.ok, answer.text
        file.seek(0)
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
        return Resumed(archive.stat().st_size, proxy.received, done, answer.json()["checksum"] == checksum, seconds)


def _archive(path: Path, mib: int) -> Path:
    with zipfile.ZipFile(path, "w", allowZip64=True) as archive, archive.open("noise.bin", "w", force_zip64=True) as entry:
        for _ in range(mib):
            entry.write(os.urandom(MIB))
    return path


def _upload(uploader: Uploader, running: Service, proxy: Gate, *, cuts: int, random_: random.Random) -> int:
    """Send all parts; return how often the connection was cut."""
    size, part = uploader.get_file_size(), uploader.chunk_size
    moments = sorted(random_.randrange(size) for _ in range(cuts))
    uploader.upload_chunk()
    done = 0
    while uploader.offset < size:
        due = done < cuts and moments[done] < uploader.offset + part
        if not due:
            uploader.upload_chunk()
            continue
        proxy.cut_after = random_.randrange(min(part, size - uploader.offset))
        with contextlib.suppress(TusUploadFailed, TusCommunicationError):
            uploader.upload_chunk()
        proxy.cut_after, done = None, done + 1
        if done == cuts:
            running.kill()
            running.start()
        uploader.offset = uploader.get_offset()
    return done


def main() -> int:
    """Run what was asked for; return 0 when the file arrived and little was sent twice."""
    parser = command_line("tests.faults.resuming", __doc__)
    parser.add_argument("--mib", type=int, default=1024, help="size of the file (1024)")
    parser.add_argument("--cuts", type=int, default=5, help="how often the connection is cut (5)")
    parser.add_argument("--seed", type=int, default=1, help="another series of moments (1)")
    options = parser.parse_args()
    failed = False
    for store in ("local", "s3"):
        with tempfile.TemporaryDirectory(prefix="marketplace-resuming-") as folder:
            try:
                found = run(Path(folder), store=store, mib=options.mib, cuts=options.cuts, seed=options.seed)
            except Unavailable as reason:
                sys.stdout.write(f"{store}: not tried, {reason}\n")
                continue
        share = found.sent / found.size
        words = f"{found.size:,} bytes, cut {found.cuts} times, {share:.3f} of its size sent, finished in {found.seconds:.0f} s"
        failed = failed or not found.arrived or share > MOST_SENT
        sys.stdout.write(f"{store}: {words}{'' if found.arrived else ', ARRIVED DAMAGED'}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

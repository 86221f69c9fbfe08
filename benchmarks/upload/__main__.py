"""Uploads through the real server, compared with `sha256sum` and `openssl dgst -sha256` of the same file.

    uv run --group dev python -m benchmarks.upload [--size 1GiB 5GiB] [--store local s3] [--repeat 3] [--write]

Needs Linux (its /proc counts memory and bytes), the two programs, and room for the file twice (on S3 as well).
"""

import argparse
import os
import shutil
import statistics
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import MISSED
from tests.faults.service import Service, serving

from .measures import Cost, Measured, Meter, checksum_of, cost_of, send, urgent

GIB, MIB = 2**30, 2**20
MAXIMUM = 5 * GIB
RESULTS = Path(__file__).parent / "results.md"
YARDSTICKS = {"sha256sum": ["sha256sum"], "openssl": ["openssl", "dgst", "-sha256"]}
# The goals: MiB of resident memory by store, and the time divided by that of each yardstick.
GOALS = {"local": 150, "s3": 300}
RATIO_GOALS = {"sha256sum": 1.0, "openssl": 2.5}
HEAD = ["store", "file", "time s", "CPU s", *(word for name in YARDSTICKS for word in (f"{name} s", "time ratio", "CPU ratio"))]
HEAD += ["peak MiB", "of it for the upload", "written", "read", "uploads"]


def main() -> int:
    """Measure, print the table, and save it with `--write`; return 0 if every goal was met, else `MISSED`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.upload", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", type=size, nargs="+", default=[GIB], help="sizes such as 64MiB 1GiB 5GiB (1GiB)")
    parser.add_argument("--store", choices=sorted(GOALS), nargs="+", default=sorted(GOALS), help="stores (both)")
    parser.add_argument("--repeat", type=int, default=3, help="uploads of each file; medians are shown (3)")
    parser.add_argument("--folder", type=Path, help="folder for the files (the system's folder for temporary files)")
    parser.add_argument("--urgent", action="store_true", help="give the benchmark precedence over other programs of the machine (as root)")
    parser.add_argument("--write", action="store_true", help=f"keep the table in {RESULTS.name}")
    options = parser.parse_args()
    rows, missed = [HEAD], []
    with tempfile.TemporaryDirectory(prefix="benchmark-upload-", dir=options.folder) as name:
        for store in options.store:
            for measured in series(Path(name) / store, store, options):
                rows.append(row(measured))
                missed += [f"{store} {measured.size / GIB:g} GiB: {goal}" for goal in missed_by(measured)]
                print(f"{store} {measured.size / GIB:g} GiB done", file=sys.stderr, flush=True)
    report = "\n".join(["# Uploads", "", *notes(" ".join(sys.argv[1:])), "", *table(rows), "", *(missed or ["Every goal was met."]), ""])
    print(report)
    if options.write:
        RESULTS.write_text(report, encoding="utf-8")
    return MISSED if missed else 0


def series(folder: Path, store: str, options: argparse.Namespace) -> Iterator[Measured]:
    """Yield the figures of each size on one store."""
    with serving(folder, store) as (running, facts):
        path = folder / "work.tar"
        for length in options.size:
            make_archive(path, length)
            with urgent([os.getpid(), *running.pids()] if options.urgent else []):
                measured = measure(running, facts, store, path, options.repeat)
            path.unlink()
            yield measured


def measure(running: Service, facts: dict[str, Any], store: str, path: Path, repeat: int) -> Measured:
    """Upload a file and hash it with the yardsticks, in turn, so that other load of the machine affects all of them alike."""
    address = f"/api/v1/vendor/assets/{min(facts['listings'])}/file"
    costs: dict[str, list[Cost]] = {name: [] for name in ("upload", *YARDSTICKS)}
    meter = Meter(running.pids())
    checksum = checksum_of(path)
    for _ in range(repeat):
        for name, command in YARDSTICKS.items():
            costs[name].append(cost_of([*command, str(path)]))
        meter.begin()
        wall, record = send(running.port, address, facts["vendor"], path)
        meter.end()
        costs["upload"].append(Cost(wall, meter.cpu_seconds))
        if record.get("checksum") != checksum:
            sys.exit(f"the upload failed: {record}")
    ratios = {
        name: statistics.median(one.wall / other.wall for one, other in zip(costs["upload"], costs[name], strict=True))
        for name in YARDSTICKS
    }
    median = {name: Cost(*(statistics.median(part) for part in zip(*found, strict=True))) for name, found in costs.items()}
    length = path.stat().st_size
    return Measured(
        store, length, repeat, median, ratios, meter.peak_bytes, meter.growth_bytes, meter.written / length, meter.read / length
    )


def missed_by(measured: Measured) -> Iterator[str]:
    """Yield each goal that was missed."""
    if measured.peak_bytes > GOALS[measured.store] * MIB:
        yield f"more than {GOALS[measured.store]} MiB of memory"
    # An object store takes time of its own.
    for name, goal in RATIO_GOALS.items() if measured.store == "local" else ():
        if measured.ratios[name] > goal:
            yield f"{measured.ratios[name]:.2f} times {name}, goal {goal}"


def row(measured: Measured) -> list[str]:
    """Return a line of the table."""
    cost = measured.cost
    yardsticks = [
        text
        for name in YARDSTICKS
        for text in (f"{cost[name].wall:.2f}", f"{measured.ratios[name]:.2f}", f"{cost['upload'].cpu / cost[name].cpu:.2f}")
    ]
    return [
        measured.store,
        f"{measured.size / GIB:g} GiB",
        f"{cost['upload'].wall:.2f}",
        f"{cost['upload'].cpu:.2f}",
        *yardsticks,
        f"{measured.peak_bytes / MIB:.0f}",
        f"{measured.growth_bytes / MIB:.0f}",
        f"{measured.written:.3f}",
        f"{measured.read:.3f}",
        str(measured.repeats),
    ]


def notes(words: str) -> list[str]:
    """Return where the figures were measured, and what they mean."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    return [
        "Settings: SQLite, cache in memory.",
        "",
        f"{datetime.now(tz=UTC):%Y-%m-%d}, {os.cpu_count()} cores, {memory:.0f} GiB of memory. `python -m benchmarks.upload {words}`.",
        f"Load average of the last 15 minutes when it ended: {os.getloadavg()[2]:.0f}; above the number of cores, other programs slowed it down.",
        "",
        "The server is granian with one worker and SQLite, client, server and store on the same machine; S3 is OpenStack Swift's s3api, which",
        "itself takes most of the time and writes to the same disk. Uploads and yardsticks take turns; times are medians, ratios of times medians of",
        "pairs. CPU is that of all server processes, including the child that inspects the file.",
        "Peak memory is that of the process that serves requests (granian's parent process takes another 28 MiB); most of it is in use",
        "before the first request. Written and read are the bytes of all write and read calls on files, divided by the file's size",
        f"(sockets do not count). Goals: at most {GOALS['local']} MiB (S3: {GOALS['s3']}), on a local disk 1.0 times `sha256sum` and 2.5 times",
        "`openssl dgst -sha256`.",
    ]


def table(rows: list[list[str]]) -> list[str]:
    """Return the rows as Markdown."""
    lines = ["| " + " | ".join(cells) + " |" for cells in rows]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]


def make_archive(path: Path, length: int) -> None:
    """Write a tar archive of exactly this length, which contains random bytes."""
    noise = os.urandom(16 * MIB)
    member = tarfile.TarInfo("noise.bin")
    # A block before it for the header, and two empty ones at the end.
    member.size = length - 3 * tarfile.BLOCKSIZE
    with path.open("wb") as file:
        file.write(member.tobuf(tarfile.GNU_FORMAT))
        left = member.size
        while left:
            left -= file.write(noise[:left])
        file.write(bytes(2 * tarfile.BLOCKSIZE))


def size(text: str) -> int:
    """Return the number of bytes that an option names, such as `64MiB`."""
    units = {"GiB": GIB, "MiB": MIB}
    number, unit = text[:-3], text[-3:]
    if unit not in units or not number.isdecimal() or not MIB <= int(number) * units[unit] <= MAXIMUM:
        raise argparse.ArgumentTypeError(f"{text} is no size from 1MiB to 5GiB.")
    return int(number) * units[unit]


if __name__ == "__main__":
    if lacking := [command[0] for command in YARDSTICKS.values() if shutil.which(command[0]) is None]:
        sys.exit(f"{' and '.join(lacking)} must be installed.")
    sys.exit(main())

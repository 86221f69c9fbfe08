"""Mutated files for the parsers of the sandbox: none may crash it, hang, or lead to a result that cannot be stored.

    uv run --group dev python -m tests.files.fuzz --count 10000

A number and a seed always make the same file. Many are looked into by one process, under a child's limits: starting one for
each would take most of the time. What goes wrong is kept in `--keep`, one file for each finding, and named at the end.
"""

import argparse
import io
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests import ROOT, command_line, say
from vendors.sandbox import replies, worker

from . import makers
from .hostile import DELIVERABLES, PREVIEWS
from .hostile.cases import Taken
from .hostile.media import animated

BATCH = 500
# Of the processor, of which others on the machine make each second worth less.
SECONDS_AT_MOST = 10.0
# Of one file, machines being busy; and what a batch may take of the processor.
SILENCE_SECONDS = 300
BATCH_SECONDS = 600
SEED_BYTES = 2**17
NUMBERS = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
JOBS = {"": "inspect", "gallery-image": "image", "font-specimen": "font", "audio-preview": "audio"}


@cache
def seeds() -> tuple[tuple[str, bytes], ...]:
    """Return honest files and the small ones of the table, each with the job that looks into it."""
    axes = (("wght", 100, 400, 900, "Weight"),)
    deliverables = [
        *(makers.font(axes=axes, flavor=flavor) for flavor in (None, "woff", "woff2")),
        *(makers.sound(kind, 0.3) for kind in ("WAV", "MP3", "FLAC", "OGG")),
        *(makers.picture(kind, (40, 30)) for kind in ("PNG", "JPEG", "WEBP")),
        *(animated(kind) for kind in ("PNG", "WEBP")),
        *(makers.tarred({"a/b.txt": b"x" * 900, "SKILL.md": b"---\nname: x\n---\n"}, mode) for mode in ("w", "w:gz", "w:bz2", "w:xz")),
        makers.zipped({"a.ttf": makers.font(axes=axes), "b.png": makers.picture(), "SKILL.md": b"---\nname: x\n---\n# Use\n"}),
        makers.adts(20),
        makers.m4a(),
        makers.psd(20, 10),
    ]
    found = [("inspect", content) for content in deliverables]
    found += [("image", makers.picture(kind, (400, 300))) for kind in ("PNG", "JPEG", "WEBP")]
    found += [("image", makers.photograph()), ("image", animated("WEBP"))]
    found += [("font", makers.font(axes=axes, flavor=flavor)) for flavor in ("woff", "woff2")]
    found += [("audio", makers.sound(kind, 0.3)) for kind in ("WAV", "MP3")]
    for case in (*DELIVERABLES, *PREVIEWS):
        # Those that are made to take time take it to build, too.
        if isinstance(case.verdict, Taken) and not case.heavy and len(content := case.build()) <= SEED_BYTES:
            found.append((JOBS[case.kind], content))
    return tuple(found)


def mutated(seed: int, number: int) -> tuple[str, bytes]:
    """Return a job and a file for it: one of the seeds, changed in up to eight places."""
    chance = random.Random(f"{seed} {number}")
    job, content = chance.choice(seeds())
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        chance.choice(MUTATIONS)(chance, changed)
    return job, bytes(changed)


def _flip(chance: random.Random, content: bytearray) -> None:
    content[_place(chance, content)] ^= 1 << chance.randrange(8)


def _number(chance: random.Random, content: bytearray) -> None:
    width = chance.choice((1, 2, 4, 8))
    at = _place(chance, content)
    content[at : at + width] = (chance.choice(NUMBERS) % 256**width).to_bytes(width, chance.choice(("big", "little")))


def _cut(chance: random.Random, content: bytearray) -> None:
    at = _place(chance, content)
    del content[at : at + chance.choice((1, 4, 100, len(content)))]


def _repeat(chance: random.Random, content: bytearray) -> None:
    at = _place(chance, content)
    piece = bytes(content[at : at + chance.choice((1, 8, 64, 512))])
    content[at:at] = piece * chance.choice((1, 2, 100))


def _splice(chance: random.Random, content: bytearray) -> None:
    _, other = chance.choice(seeds())
    at, begin = _place(chance, content), chance.randrange(len(other))
    content[at : at + 200] = other[begin : begin + 200]


def _noise(chance: random.Random, content: bytearray) -> None:
    at = _place(chance, content)
    content[at : at + 16] = chance.randbytes(16)


MUTATIONS: tuple[Callable[[random.Random, bytearray], None], ...] = (_flip, _number, _number, _cut, _repeat, _splice, _noise)


def _place(chance: random.Random, content: bytearray) -> int:
    if not content:
        content.append(0)
    # Half of the places in the first part, where headers are.
    return chance.randrange(min(len(content), chance.choice((64, 512, len(content), len(content)))))


@dataclass
class Report:
    """What came of a run: how the looks ended, the slowest, and what must not be."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    findings: list[tuple[int, str]] = field(default_factory=list)


def run(count: int, *, seed: int, jobs: int, first: int = 0) -> Report:
    """Look into `count` files with `jobs` processes at once."""
    report, lock = Report(), threading.Lock()

    def one_batch(start: int) -> None:
        for number, outcome, seconds in _batch(seed, start, min(start + BATCH, first + count)):
            with lock:
                report.outcomes[outcome.partition(":")[0]] += 1
                report.slowest = max(report.slowest, seconds)
                if seconds > SECONDS_AT_MOST:
                    report.findings.append((number, f"took {seconds:.1f} s"))
                if outcome.startswith(("crashed", "died", "unkeepable")):
                    report.findings.append((number, outcome))

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one_batch, range(first, first + count, BATCH)))
    return report


def _batch(seed: int, start: int, stop: int) -> Iterator[tuple[int, str, float]]:
    """Yield number, outcome and seconds of each file; a process that ends is a finding, and another goes on behind it."""
    while start < stop:
        command = [sys.executable, "-m", "tests.files.fuzz", "--batch", str(start), str(stop), "--seed", str(seed)]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        for line in done.stdout.splitlines():
            yield start, *json.loads(line)
            start += 1
        if start < stop:
            yield start, f"died: {done.returncode}", 0.0
            start += 1


def _look(job: str, content: bytes) -> str:
    outcome, blobs = worker.run(job, io.BufferedReader(io.BytesIO(content), 2**20), len(content))
    try:
        verdict = replies.parse(json.dumps(outcome).encode())
    except replies.ChildFailed as error:
        return f"unkeepable: {error}"
    if verdict.blob_sizes != [len(blob) for blob in blobs]:
        return "unkeepable: blobs"
    return f"crashed: {verdict.reason}" if verdict.outcome == "crashed" else verdict.outcome


def _run_batch(seed: int, start: int, stop: int) -> None:
    seeds()
    worker.limit_self(BATCH_SECONDS)
    for number in range(start, stop):
        job, content = mutated(seed, number)
        # It ends the process, wherever that hangs.
        signal.alarm(SILENCE_SECONDS)
        before = sum(os.times()[:4])
        outcome = _look(job, content)
        sys.stdout.write(json.dumps([outcome, sum(os.times()[:4]) - before]) + "\n")
        sys.stdout.flush()


def main() -> int:
    """Run, print how it went, keep the findings; return 1 where there are any."""
    parser = command_line("tests.files.fuzz", __doc__)
    parser.add_argument("--count", type=int, default=10_000, help="how many files (default 10,000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed makes other files")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="where files that found something are kept")
    parser.add_argument("--batch", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.batch:
        _run_batch(options.seed, *options.batch)
        return 0
    began = time.monotonic()
    report = run(options.count, seed=options.seed, jobs=options.jobs)
    for number, what in report.findings:
        options.keep.mkdir(exist_ok=True)
        (options.keep / f"{options.seed}-{number}").write_bytes(mutated(options.seed, number)[1])
        say(f"{options.seed}-{number}: {what}")
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in report.outcomes.most_common())
    say(f"{options.count} files in {time.monotonic() - began:.0f} s: {outcomes}; the slowest took {report.slowest:.2f} s.")
    say(f"{len(report.findings)} findings.")
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())

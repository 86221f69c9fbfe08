"""`python -m benchmarks.load`: mixed traffic over two nodes, then 1.5 times what they can serve, then the first load again.

    uv run --group dev --group load python -m benchmarks.load --minutes 2

Starts PostgreSQL, Redis, an S3 server, a worker and two nodes with the production settings, all on loopback. Locust
measures what they can serve, sends a share of that for as long as you say, then 1.5 times as much as they can serve, then the share again.
Errors and the memory of each node are recorded; afterwards `reconcile` must find no difference. If the machine is running other programs,
put `chrt --rr 1` before the command, as root: then they wait.
"""

import argparse
import os
import platform
import signal
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import MISSED
from tests.nodes.deployment import deployed

from .phases import Measured, Phase, run_phase
from .scene import make_scene
from .verdict import Line, judged

RESULT = Path(__file__).resolve().parent.parent / "load.md"
# The limit of a caller is not measured here.
GIVEN = {f"RATE_LIMIT_{name}": "1000000" for name in ("API_KEY", "BEARER_APP", "BEARER_USER", "ANONYMOUS", "FAILED_CREDENTIALS")}
# More requests than the nodes process at once, and fewer than they let wait.
BUSY_CALLERS = 16
OVERLOAD = 1.5


def main() -> int:
    """Run the phases, print the report and save it."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.load", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=2, help="duration of the steady traffic (2; use 30 for figures to be published)")
    parser.add_argument("--share", type=float, default=0.4, help="the steady traffic as a share of what the nodes can serve (0.4)")
    parser.add_argument("--seconds", type=float, default=30, help="duration of each other phase (30)")
    parser.add_argument("--listings", type=int, default=2000, help="size of the catalog (2000)")
    parser.add_argument("--no-file", action="store_true", help=f"print only, leave {RESULT.name} as it is")
    options = parser.parse_args()
    # An interrupt stops the servers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    phases = _measured(options)
    lines = judged(*phases)
    text = _report(options, lines, phases)
    print(text)
    if not options.no_file:
        RESULT.write_text(text, encoding="utf-8")
    return 0 if all(line.met for line in lines) else MISSED


def _measured(options: argparse.Namespace) -> tuple[Measured, Measured, Measured, Measured]:
    """Run the phases: full speed, steady, overload, calm."""
    with tempfile.TemporaryDirectory(prefix="marketplace-load-") as name, deployed(Path(name), given=GIVEN) as deployment:
        _say(f"filling the shop with {options.listings:,} listings")
        facts = make_scene(deployment, listings=options.listings)

        def run(name: str, callers: float, pace: float, seconds: float) -> Measured:
            _say(f"{name}: {seconds:.0f} s")
            measured = run_phase(deployment, facts, Phase(name, max(2, round(callers)), pace, seconds))
            _say(f"{name}: {measured.calls_a_second:.0f} calls/s, {measured.refusals} refused, {measured.failures or 'none failed'}")
            return measured

        # A first run fills caches; the second one is measured.
        run("warm-up", BUSY_CALLERS, 0, options.seconds)
        full = run("full speed", BUSY_CALLERS, 0, options.seconds)
        able = full.done_a_second
        steady = run("steady", options.share * able, 1, options.minutes * 60)
        # Slow responses do not reduce the rate of calls.
        over = run("overload", OVERLOAD * able * 2, 2, options.seconds)
        calm = run("calm again", options.share * able, 1, options.seconds)
        deployment.manage("reconcile")
    return full, steady, over, calm


def _report(options: argparse.Namespace, lines: list[Line], phases: tuple[Measured, ...]) -> str:
    cores, load = os.cpu_count(), os.getloadavg()[0]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    head = [
        "# Load",
        "",
        "Settings: PostgreSQL, Redis, S3.",
        "",
        f"`python -m benchmarks.load --minutes {options.minutes:g}`, {datetime.now(tz=UTC):%Y-%m-%d}, Python {platform.python_version()}, {options.listings:,} listings.",
        "Two nodes of one worker process with 64 threads, of which 4 work at once; PostgreSQL, Redis, S3, a worker, locust: all of it on",
        f"one machine of {cores} cores and {memory:.0f} GiB, whose load was {load:.1f} at the end.",
        "",
        "| | measured | goal | |",
        "|---|---|---|---|",
    ]
    rows = [f"| {line.what} | {line.measured} | {line.goal or '-'} | {line.verdict} |" for line in lines]
    failed = [f"- {phase.phase.name}: {count} times {what}" for phase in phases for what, count in phase.failures]
    _, steady, over, _ = phases
    tables = ["", "Steady, call by call (milliseconds):", "", steady.table, "", "Overload, call by call:", "", over.table, ""]
    return "\n".join([*head, *rows, *(["", "What failed:", "", *failed] if failed else []), *tables])


def _say(line: str) -> None:
    """Report progress on standard error; only the result goes to standard output."""
    sys.stderr.write(f"{datetime.now(tz=UTC):%H:%M:%S} {line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())

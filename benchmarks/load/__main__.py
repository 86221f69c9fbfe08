"""`python -m benchmarks.load`: mixed traffic over two nodes, then 1.5 times what they can serve, then the calm again.

    uv run --group dev --group load python -m benchmarks.load --minutes 2

Starts PostgreSQL with a replica, Redis, an S3 server, a worker and two nodes with the production settings, all on loopback, and
runs locust against them at a bounded rate. Watched are errors, and the memory of each node; afterwards `reconcile` must agree.
"""

import argparse
import os
import platform
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from tests.nodes.deployment import deployed

from .phases import Phase, run_phase
from .scene import make_scene
from .verdict import Line, judged

RESULT = Path(__file__).resolve().parent.parent / "load.md"
# Callers are many; each one's limit is not what is measured here.
GIVEN = {f"RATE_LIMIT_{name}": "1000000" for name in ("API_KEY", "BEARER_APP", "BEARER_USER", "ANONYMOUS", "FAILED_CREDENTIALS")}
FULL_SPEED_SECONDS, OVERLOAD_SECONDS, CALM_SECONDS = 30, 30, 30


def main() -> int:
    """Run the phases, print, keep the result."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.load", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=2, help="of the steady traffic (2; the long form is 30)")
    parser.add_argument("--rate", type=int, default=40, help="calls a second of the steady traffic (40)")
    parser.add_argument("--listings", type=int, default=2000, help="in the catalog (2,000)")
    parser.add_argument("--no-file", action="store_true", help=f"print only, leave {RESULT.name} as it is")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="marketplace-load-") as name, deployed(Path(name), given=GIVEN) as deployment:
        facts = make_scene(deployment, listings=options.listings)
        steady = run_phase(deployment, facts, Phase("steady", options.rate, options.minutes * 60))
        full = run_phase(deployment, facts, Phase("full speed", 400, FULL_SPEED_SECONDS))
        over = run_phase(deployment, facts, Phase("overload", max(options.rate, round(1.5 * full.calls_a_second)), OVERLOAD_SECONDS))
        calm = run_phase(deployment, facts, Phase("calm again", options.rate, CALM_SECONDS))
        deployment.manage("reconcile")
    lines: list[Line] = judged(steady, full, over, calm)
    text = _report(options.minutes, options.listings, lines, steady.table)
    print(text)
    if not options.no_file:
        RESULT.write_text(text, encoding="utf-8")
    return 0 if all(line.met for line in lines) else 1


def _report(minutes: float, listings: int, lines: list[Line], table: str) -> str:
    machine = f"{datetime.now(tz=UTC):%Y-%m-%d}, {os.cpu_count()} cores for everything, load {os.getloadavg()[0]:.1f} at the end"
    head = [
        "# Load",
        "",
        f"`python -m benchmarks.load --minutes {minutes:g}`, {machine}, Python {platform.python_version()}, {listings:,} listings, two nodes of one",
        "worker process with four threads, PostgreSQL with a replica, Redis, S3, a worker.",
        "",
        "| | measured | goal | |",
        "|---|---|---|---|",
    ]
    rows = [f"| {line.what} | {line.measured} | {line.goal} | {'met' if line.met else '**not met**'} |" for line in lines]
    return "\n".join([*head, *rows, "", "The steady traffic, call by call (milliseconds):", "", table, ""])


if __name__ == "__main__":
    sys.exit(main())

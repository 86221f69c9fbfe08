"""The test command: the checks, and the tests on SQLite and on PostgreSQL.

    uv run --group dev python -m tests [--full] [--only checks|sqlite|postgres] [--coverage] [pytest's own arguments]

Without `--full` it leaves out what is marked `full` (browsers, servers, outages, generated requests, upgrades, longer commands) or
`slow`; and what the database decides is tried on PostgreSQL alone, where there is one. Servers are private and temporary; files written
into the tree are ignored by git. On Debian, as root, missing programs are installed; elsewhere the tests that need them are skipped and
listed at the end.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree as ET

from tests import ROOT, command_line, say

from .checks import Outcome, clean_environment, compile_confined, run_check, static_checks
from .machine import may_install, missing_packages, prepare
from .servers import Unavailable
from .servers.postgres import postgres
from .servers.redis import redis

PARTS = ("sqlite", "postgres")
# Tests within one process that need nothing but a database.
PLAIN = "not (full or browser or s3)"
QUICK = f"{PLAIN} and not slow"
# pytest's exit status when the given arguments select no test.
NOTHING_SELECTED = 5


def main() -> int:
    """Run what was asked for; return 0 when all of it passed."""
    options, arguments = _arguments()
    began = time.monotonic()
    if missing_packages() and may_install():
        say(f"Installing {', '.join(missing_packages())}")
        prepare()
    compile_confined()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="marketplace-tests-") as folder, contextlib.ExitStack() as servers:
        scratch = Path(folder)
        env = clean_environment(scratch)
        checks = static_checks(scratch) if options.only in {None, "checks"} else []
        # One at a time beside the tests.
        with ThreadPoolExecutor(max_workers=os.cpu_count() if options.only == "checks" else 1) as pool:
            checked = [pool.submit(run_check, check, env) for check in checks]
            outcomes = []
            if options.only != "checks":
                env |= _server(servers, redis(), "TEST_REDIS_URL")
            database = {} if options.only in {"checks", "sqlite"} else _server(servers, postgres(), "TEST_DATABASE_URL")
            if options.only in {None, "sqlite"}:
                selected = _selected("sqlite", full=options.full, alone=not database)
                outcomes.append(_run_tests("sqlite", selected, options, arguments, env, scratch, counts))
            if database:
                selected = _selected("postgres", full=options.full)
                outcomes.append(_run_tests("postgres", selected, options, arguments, env | database, scratch, counts))
            outcomes = [future.result() for future in checked] + outcomes
    for outcome in outcomes:
        if not outcome.passed and outcome.output:
            say(outcome.output.rstrip())
    for outcome in outcomes:
        say(f"{'ok    ' if outcome.passed else 'FAILED'} {outcome.name} ({outcome.seconds:.1f} s)")
    say(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped in {time.monotonic() - began:.1f}s")
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _arguments() -> tuple[argparse.Namespace, list[str]]:
    parser = command_line("tests", __doc__)
    parser.add_argument("--full", action="store_true", help="run everything (four times as long)")
    parser.add_argument("--only", choices=["checks", *PARTS], help="run only this part")
    parser.add_argument("--coverage", action="store_true", help="measure coverage on SQLite and fail below the threshold; much slower")
    options, rest = parser.parse_known_args()
    return options, [argument for argument in rest if argument != "--"]


def _server(servers: contextlib.ExitStack, server: contextlib.AbstractContextManager[str], variable: str) -> dict[str, str]:
    """Start a server until the end of the command; return its address as the variable that the tests read."""
    try:
        return {variable: servers.enter_context(server)}
    except Unavailable as error:
        say(f"{error}: tests that need it are skipped.")
        return {}


def _selected(part: str, *, full: bool, alone: bool = False) -> str:
    """Return what a part runs, as pytest's -m; SQLite alone also runs what the database decides."""
    if part == "sqlite":
        return "not postgres" if full else f"{QUICK} and not postgres" + ("" if alone else " and not database")
    return f"({PLAIN} and database_full) or postgres or database" if full else f"{QUICK} and (postgres or database)"


def _run_tests(
    part: str, selected: str, options: argparse.Namespace, arguments: list[str], env: dict[str, str], scratch: Path, counts: Counter[str]
) -> Outcome:
    """Run pytest, which says itself what failed, what was skipped and what took longest; add up its counts."""
    report = scratch / f"{part}.xml"
    # Many tests of the full run wait for a server or a browser.
    workers = (os.cpu_count() or 1) + options.full
    command = [sys.executable, "-m", "pytest", "--quiet", f"--numprocesses={workers}", "--dist=worksteal", "--durations=10"]
    command += ["-m", selected, f"--junitxml={report}"]
    if options.coverage and part == "sqlite":
        command += ["--cov", "--cov-report=term:skip-covered"]
    say(f"pytest on {part}")
    began = time.monotonic()
    env = env | {"COVERAGE_FILE": str(scratch / "coverage")}
    status = subprocess.run([*command, *arguments], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, check=False).returncode
    if report.exists():
        # Our own pytest wrote it a moment ago.
        totals = {name: int(value) for name, value in ET.parse(report).getroot()[0].items() if value.isdigit()}  # noqa: S314
        failed = totals["failures"] + totals["errors"]
        counts.update(failed=failed, skipped=totals["skipped"], passed=totals["tests"] - failed - totals["skipped"])
    return Outcome(f"pytest on {part}", status in {0, NOTHING_SELECTED}, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main())

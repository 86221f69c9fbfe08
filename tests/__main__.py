"""The test command: every check, and the suite on SQLite and on PostgreSQL.

    uv run --group dev python -m tests [--only sqlite|postgres|checks] [--coverage] [pytest's own arguments]
    uv run --group dev --group load python -m tests --long

The long form also runs two minutes of mixed traffic over two nodes, 1.5 times the load that they can serve, and an outage of each
dependency. Servers are private and temporary; files written into the tree are ignored by git. On Debian, as root, missing programs are
installed; elsewhere the tests that need them are skipped and listed at the end.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from .checks import Check, Outcome, clean_environment, compile_confined, long_checks, run_check, static_checks
from .machine import may_install, missing_packages, prepare
from .runs import Run, run_pytest, skipped_lines, slowest_lines
from .servers.postgres import Unavailable, postgres
from .servers.redis import redis

PARTS = ("checks", "sqlite", "postgres")


def main() -> int:
    """Run what was asked for; return 0 when all of it passed."""
    options, pytest_arguments = _arguments()
    began = time.monotonic()
    parts = {options.only} if options.only else set(PARTS)
    if missing_packages() and may_install() and not options.no_install:
        _say(f"Installing {', '.join(missing_packages())} …")
        prepare()
    compile_confined()
    outcomes: list[Outcome] = []
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(prefix="marketplace-tests-") as folder:
        scratch, cache = Path(folder), _cache()
        env = clean_environment(cache, scratch)
        # Beside the tests, one at a time: much of a test is waiting.
        suites = parts & {"sqlite", "postgres"}
        with ThreadPoolExecutor(max_workers=1 if suites else os.cpu_count()) as pool:
            checks = [pool.submit(_checked, check, env) for check in static_checks(cache, scratch)] if "checks" in parts else []
            if suites:
                runs = _run_suites(parts, pytest_arguments, env, scratch, coverage=options.coverage)
            outcomes += [future.result() for future in as_completed(checks)]
        if options.long:
            # One after the other: each measures a machine that does nothing else.
            outcomes += [_checked(check, env) for check in long_checks()]
    outcomes += [run.outcome for run in runs]
    return _close(outcomes, runs, time.monotonic() - began)


def _arguments() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        prog="python -m tests", description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS, help="run only this part")
    parser.add_argument(
        "--coverage", action="store_true", help="measure coverage on SQLite and fail below the threshold; three times as slow"
    )
    parser.add_argument("--long", action="store_true", help="also run the load and outage tests (15 minutes)")
    parser.add_argument("--no-install", action="store_true", help="don't install missing programs")
    options, rest = parser.parse_known_args()
    return options, [argument for argument in rest if argument != "--"]


def _cache() -> Path:
    """Return a folder of the user's that survives between commands, so that the second is quicker."""
    root = os.environ.get("XDG_CACHE_HOME") or (Path.home() / ".cache")
    return Path(root) / "creative-asset-marketplace"


def _checked(check: Check, env: dict[str, str]) -> Outcome:
    """Run a check and say how it ended, at length when it failed."""
    outcome = run_check(check, env)
    lines = [f"{'ok    ' if outcome.passed else 'FAILED'} {outcome.name} ({outcome.seconds:.1f} s)"]
    _say("\n".join(lines if outcome.passed else [*lines, outcome.output.rstrip()]))
    return outcome


def _run_suites(parts: set[str], arguments: list[str], env: dict[str, str], scratch: Path, *, coverage: bool) -> list[Run]:
    runs = []
    with contextlib.ExitStack() as servers:
        env = env | _server(servers, redis(), "TEST_REDIS_URL")
        if "sqlite" in parts:
            _say("pytest on SQLite")
            runs.append(run_pytest("SQLite", arguments=arguments, env=env, scratch=scratch, coverage=coverage))
        if "postgres" in parts:
            database = _server(servers, postgres(), "TEST_DATABASE_URL")
            if database:
                _say("pytest on PostgreSQL")
                runs.append(run_pytest("PostgreSQL", arguments=arguments, env=env | database, scratch=scratch, coverage=False))
    return runs


def _server(servers: contextlib.ExitStack, server: contextlib.AbstractContextManager[str], variable: str) -> dict[str, str]:
    """Start a server until the end of the command; return its address as the variable that the tests read."""
    try:
        return {variable: servers.enter_context(server)}
    except Unavailable as error:
        _say(f"{error}: tests that need it are skipped.")
        return {}


def _close(outcomes: list[Outcome], runs: list[Run], seconds: float) -> int:
    """Print the steps, what was skipped, what failed and the closing line."""
    _say("")
    for outcome in outcomes:
        _say(f"{'ok    ' if outcome.passed else 'FAILED'} {outcome.name} ({outcome.seconds:.1f} s)")
    for title, lines in _sections(outcomes, runs):
        _say(title)
        for line in lines:
            _say(line)
    counts = {word: sum(run.counts[word] for run in runs) for word in ("passed", "failed", "skipped")}
    _say(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped in {seconds:.1f}s")
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _sections(outcomes: list[Outcome], runs: list[Run]) -> Iterator[tuple[str, list[str]]]:
    slowest = slowest_lines(runs)
    if slowest:
        yield "Slowest files, by what their tests took together:", slowest
    skipped = skipped_lines(runs)
    if skipped:
        yield "Skipped:", skipped
    failed = [f"  {outcome.name}" for outcome in outcomes if not outcome.passed]
    if failed:
        yield "Failed:", failed


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

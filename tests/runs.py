"""The pytest runs: once on SQLite, once on PostgreSQL, what they left out, and what took longest."""

import os
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

from .checks import ROOT, Outcome

# pytest's exit status when the given words select no test.
NOTHING_SELECTED = 5
# One more than there are processors: some tests wait for a server or a browser of theirs.
WORKERS = (os.cpu_count() or 1) + 1
SLOWEST = 10


@dataclass(frozen=True)
class Run:
    """One pytest run, counted from the report that it wrote."""

    engine: str
    outcome: Outcome
    counts: dict[str, int]
    skipped: dict[str, str] = field(default_factory=dict)
    # By test file.
    seconds: dict[str, float] = field(default_factory=dict)


def run_pytest(engine: str, *, arguments: list[str], env: dict[str, str], scratch: Path, coverage: bool) -> Run:
    """Run the suite; where it is, and what failed, is shown as it comes."""
    report = scratch / f"{engine.lower()}.xml"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.progress",
        "--override-ini=console_output_style=classic",
        "--quiet",
        f"--numprocesses={WORKERS}",
        "--dist=loadfile",
        f"--junitxml={report}",
    ]
    if coverage:
        command += ["--cov", "--cov-report=term:skip-covered"]
    began = time.monotonic()
    status = subprocess.run(
        [*command, *arguments],
        cwd=ROOT,
        env=env | {"COVERAGE_FILE": str(scratch / "coverage")},
        stdin=subprocess.DEVNULL,
        check=False,
    ).returncode
    outcome = Outcome(f"pytest on {engine}", status in {0, NOTHING_SELECTED}, time.monotonic() - began)
    if not report.exists():
        return Run(engine, outcome, {"passed": 0, "failed": 1, "skipped": 0})
    return _counted(engine, outcome, report)


def _counted(engine: str, outcome: Outcome, report: Path) -> Run:
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    skipped: dict[str, str] = {}
    seconds: defaultdict[str, float] = defaultdict(float)
    # Our own pytest wrote it a moment ago.
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314
        module = case.get("classname", "")
        seconds[module] += float(case.get("time", "0"))
        reason = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            counts["failed"] += 1
        elif reason is None or reason.get("type") == "pytest.xfail":
            counts["passed"] += 1
        else:
            counts["skipped"] += 1
            skipped[f"{module}.{case.get('name', '')}".strip(".")] = reason.get("message", "")
    return Run(engine, outcome, counts, skipped, seconds)


def skipped_lines(runs: list[Run]) -> list[str]:
    """Return a line for each test that was left out: first those that ran nowhere, then those that one run had."""
    everywhere = set.intersection(*(set(run.skipped) for run in runs)) if runs else set()
    lines = [f"  {name}: {runs[0].skipped[name]}" for name in sorted(everywhere)]
    for run in runs:
        lines += [f"  {name} (on {run.engine} only): {run.skipped[name]}" for name in sorted(set(run.skipped) - everywhere)]
    return lines


def slowest_lines(runs: list[Run]) -> list[str]:
    """Return a line for each of the files whose tests took longest, on all engines together."""
    total: defaultdict[str, float] = defaultdict(float)
    for run in runs:
        for module, seconds in run.seconds.items():
            total[module] += seconds
    longest = sorted(total, key=lambda module: total[module], reverse=True)[:SLOWEST]
    return [f"  {total[module]:6.1f} s  {module}" for module in longest]

"""The pytest runs: once on SQLite, once on PostgreSQL, and what they left out."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

from .checks import ROOT, Outcome

# pytest's exit status when the given words select no test.
NOTHING_SELECTED = 5
# One more than there are processors: some tests wait for a server or a browser of theirs.
WORKERS = (os.cpu_count() or 1) + 1


@dataclass(frozen=True)
class Run:
    """One pytest run, counted from the report that it wrote."""

    engine: str
    outcome: Outcome
    counts: dict[str, int]
    skipped: dict[str, str] = field(default_factory=dict)


def run_pytest(engine: str, *, arguments: list[str], env: dict[str, str], scratch: Path, coverage: bool) -> Run:
    """Run the suite with its output shown as it comes."""
    report = scratch / f"{engine.lower()}.xml"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
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
    skipped = {}
    # Our own pytest wrote it a moment ago.
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314
        reason = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            counts["failed"] += 1
        elif reason is None or reason.get("type") == "pytest.xfail":
            counts["passed"] += 1
        else:
            counts["skipped"] += 1
            skipped[f"{case.get('classname', '')}.{case.get('name', '')}".strip(".")] = reason.get("message", "")
    return Run(engine, outcome, counts, skipped)


def skipped_lines(runs: list[Run]) -> list[str]:
    """Return a line for each test that was left out: first those that ran nowhere, then those that one run had."""
    everywhere = set.intersection(*(set(run.skipped) for run in runs)) if runs else set()
    lines = [f"  {name}: {runs[0].skipped[name]}" for name in sorted(everywhere)]
    for run in runs:
        lines += [f"  {name} (on {run.engine} only): {run.skipped[name]}" for name in sorted(set(run.skipped) - everywhere)]
    return lines

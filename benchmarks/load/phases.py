"""One phase of load: locust in a process of its own, and the memory of the nodes meanwhile."""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.flows.server import ROOT
from tests.nodes.deployment import Deployment

SAMPLE_SECONDS = 1.0
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
COLUMNS = ("Request Count", "Failure Count", "50%", "95%", "99%", "Max Response Time")


@dataclass(frozen=True)
class Phase:
    """How much, how long.

    Args:
        name: What it is called.
        rate: Callers, each of one call a second.
        seconds: How long.
    """

    name: str
    rate: int
    seconds: float


@dataclass
class Measured:
    """What came of it."""

    phase: Phase
    statuses: dict[int, int]
    failures: int
    calls_a_second: float
    p95: float
    longest: float
    table: str
    memory: list[list[int]] = field(default_factory=list)

    def growth(self) -> list[float]:
        """Return by how much each node grew after the first third, as a share; what a process keeps from then on is a leak."""
        grown = []
        for samples in self.memory:
            third, tail = samples[len(samples) // 3 :], max(1, len(samples) // 10)
            before, after = (sum(part) / len(part) for part in (third[:tail], third[-tail:]))
            grown.append(after / before - 1)
        return grown


def run_phase(deployment: Deployment, facts: dict[str, Any], phase: Phase) -> Measured:
    """Run locust until the phase is over."""
    with tempfile.TemporaryDirectory(prefix="marketplace-locust-") as folder:
        command = [sys.executable, "-m", "locust", "--headless", "--locustfile", "benchmarks/load/locustfile.py", "--only-summary"]
        command += ["--users", str(phase.rate), "--spawn-rate", str(max(1, phase.rate // 3)), "--run-time", f"{phase.seconds:.0f}s"]
        command += ["--stop-timeout", "30", "--csv", f"{folder}/figures", "--exit-code-on-error", "0"]
        log = Path(folder, "log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=os.environ | {"LOAD_FACTS": json.dumps(facts)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        memory: list[list[int]] = [[] for _ in deployment.nodes]
        while process.poll() is None:
            for samples, node in zip(memory, deployment.nodes, strict=True):
                samples.append(_memory_of(node.running.pid if node.running else 0))
            time.sleep(SAMPLE_SECONDS)
        said = log.read_text(encoding="utf-8", errors="replace")
        if process.returncode != 0 or "STATUSES " not in said:
            sys.exit(f"locust failed in the phase {phase.name}:\n{said[-3000:]}")
        statuses = json.loads(said.split("STATUSES ")[1].splitlines()[0])
        with Path(folder, "figures_stats.csv").open(encoding="utf-8") as figures:
            rows = list(csv.DictReader(figures))
    whole = rows[-1]
    return Measured(
        phase=phase,
        statuses={int(status): count for status, count in statuses.items()},
        failures=int(whole["Failure Count"]),
        calls_a_second=float(whole["Requests/s"]),
        p95=float(whole["95%"]),
        longest=float(whole["Max Response Time"]),
        table=_table(rows),
        memory=memory,
    )


def _memory_of(root: int) -> int:
    """Return the resident bytes of a process and its children."""
    total, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * PAGE_BYTES
            waiting += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split())
        except (FileNotFoundError, ProcessLookupError, IndexError):
            continue
    return total


def _table(rows: list[dict[str, str]]) -> str:
    lines = ["| call | number | failed | median | 95 % | 99 % | longest |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        figures = " | ".join(f"{float(row[column]):,.0f}" if row[column] not in {"", "N/A"} else "" for column in COLUMNS)
        lines.append(f"| {row['Name'] if row['Name'] != 'Aggregated' else 'all'} | {figures} |")
    return "\n".join(lines)

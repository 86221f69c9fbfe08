"""Runs one phase of load: Locust in a process of its own, while the memory of the nodes is recorded."""

import csv
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import ROOT
from tests.nodes.deployment import Deployment

SAMPLE_SECONDS = 1.0
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
COLUMNS = ("Request Count", "Failure Count", "50%", "95%", "99%", "Max Response Time")


@dataclass(frozen=True)
class Phase:
    """The load of a phase.

    Args:
        name: Its name in the table.
        callers: Number of Locust users.
        pace: Seconds between two calls of a user; 0: the next call follows the response immediately.
        seconds: The duration.
    """

    name: str
    callers: int
    pace: float
    seconds: float


@dataclass
class Measured:
    """The result of a phase.

    Args:
        phase: The phase.
        statuses: Number of responses by status; 0 stands for calls without a response.
        failures: Unexpected results with their number.
        calls_a_second: Calls per second, refused ones included.
        answered: 95th percentile and maximum of the response times, in milliseconds.
        refused: The same for calls that were refused because of overload.
        table: The figures by operation.
        memory: Resident memory of each node, once per second.
    """

    phase: Phase
    statuses: dict[int, int]
    failures: list[tuple[str, int]]
    calls_a_second: float
    answered: tuple[float, float]
    refused: tuple[float, float]
    table: str
    memory: list[list[int]] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """The number of calls."""
        return sum(self.statuses.values())

    @property
    def refusals(self) -> int:
        """The number of calls that were refused because of overload."""
        return sum(count for status, count in self.statuses.items() if status in {429, 503})

    @property
    def done_a_second(self) -> float:
        """The calls per second that were not refused."""
        return self.calls_a_second * (1 - self.refusals / max(1, self.calls))

    def growth(self) -> list[float]:
        """Return the growth of each node's memory after the first third of the phase, as a share; a growth from then on is a leak."""
        grown = []
        for samples in self.memory:
            third, tail = samples[len(samples) // 3 :], max(1, len(samples) // 10)
            before, after = (sum(part) / len(part) for part in (third[:tail], third[-tail:]))
            grown.append(after / before - 1)
        return grown


def run_phase(deployment: Deployment, facts: dict[str, Any], phase: Phase) -> Measured:
    """Run Locust for the duration of the phase."""
    with tempfile.TemporaryDirectory(prefix="marketplace-locust-") as folder:
        command = [sys.executable, "-m", "locust", "--headless", "--locustfile", "benchmarks/load/locustfile.py", "--only-summary"]
        command += ["--users", str(phase.callers), "--spawn-rate", str(max(1, phase.callers // 3)), "--run-time", f"{phase.seconds:.0f}s"]
        command += ["--stop-timeout", "30", "--csv", f"{folder}/figures", "--exit-code-on-error", "0"]
        log = Path(folder, "log")
        given = {"LOAD_FACTS": json.dumps(facts), "LOAD_PACE": str(phase.pace)}
        with log.open("wb") as output:
            process = subprocess.Popen(command, cwd=ROOT, env=os.environ | given, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        memory = _watch(process, deployment)
        said = log.read_text(encoding="utf-8", errors="replace")
        if process.returncode != 0 or "TOLD " not in said:
            sys.exit(f"locust failed in the phase {phase.name}:\n{said[-3000:]}")
        told = json.loads(said.split("TOLD ")[1].splitlines()[0])
        with Path(folder, "figures_stats.csv").open(encoding="utf-8") as figures:
            rows = list(csv.DictReader(figures))
    return Measured(
        phase=phase,
        statuses={int(status): count for status, count in told["statuses"].items()},
        failures=[(what, count) for what, count in told["failures"]],
        calls_a_second=float(rows[-1]["Requests/s"]),
        answered=tuple(told["within"]["answered"]),
        refused=tuple(told["within"]["refused"]),
        table=_table(rows),
        memory=memory,
    )


def _watch(process: subprocess.Popen[bytes], deployment: Deployment) -> list[list[int]]:
    """Return the memory of each node, once per second until the process ends."""
    memory: list[list[int]] = [[] for _ in deployment.nodes]
    while True:
        for samples, node in zip(memory, deployment.nodes, strict=True):
            samples.append(_memory_of(node.running.pid if node.running else 0))
        try:
            process.wait(SAMPLE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return memory


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

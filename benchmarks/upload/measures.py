"""Measures the time of programs and the memory and time of server processes; and an HTTP client that takes almost no time itself."""

import hashlib
import http.client
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from tests.faults.client import BOUNDARY

ANSWER_SECONDS = 3600


class Cost(NamedTuple):
    """Seconds of elapsed time and of processor time."""

    wall: float
    cpu: float


class Measured(NamedTuple):
    """The figures of one size on one store; `written` and `read` are divided by the file's size."""

    store: str
    size: int
    repeats: int
    cost: dict[str, Cost]
    ratios: dict[str, float]
    peak_bytes: int
    growth_bytes: int
    written: float
    read: float


def checksum_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cost_of(command: list[str]) -> Cost:
    """Run a program and return what it cost."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    # `wait4` has reaped the process, so `Popen` cannot.
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(wall, usage.ru_utime + usage.ru_stime)


class Meter:
    """What a group of processes uses between `begin` and `end`: the peak of the largest, and sums of the other figures.

    Memory is the peak of all rounds; the other figures are those of the last one.
    """

    def __init__(self, pids: list[int]) -> None:
        self._pids = pids
        self._before: tuple[float, int, int] = (0, 0, 0)
        self._resident: list[int] = []
        self.peak_bytes = self.growth_bytes = self.written = self.read = 0
        self.cpu_seconds = 0.0

    def begin(self) -> None:
        """Reset the peaks of memory, and remember the counters."""
        for pid in self._pids:
            Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
        self._before = self._now()
        self._resident = [_status(pid, "VmRSS") for pid in self._pids]

    def end(self) -> None:
        """Record the figures."""
        (cpu, read, written), before = self._now(), self._before
        self.cpu_seconds, self.read, self.written = cpu - before[0], read - before[1], written - before[2]
        peaks = [_status(pid, "VmHWM") for pid in self._pids]
        self.peak_bytes = max(self.peak_bytes, *peaks)
        self.growth_bytes = max(self.growth_bytes, sum(peaks) - sum(self._resident))

    def _now(self) -> tuple[float, int, int]:
        cpu = read = written = 0
        for pid in self._pids:
            # After the name, which may contain any character: user and system time of the process and of its ended children.
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            cpu += sum(map(int, fields[11:15]))
            counts = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines())
            read, written = read + int(counts["rchar"]), written + int(counts["wchar"])
        return cpu / os.sysconf("SC_CLK_TCK"), read, written


@contextmanager
def urgent(pids: list[int]) -> Iterator[None]:
    """Give all threads of these processes, and those that they start, precedence over other programs for as long as the block lasts."""
    threads = [int(thread.name) for pid in pids for thread in Path(f"/proc/{pid}/task").iterdir()]
    for thread in threads:
        os.sched_setscheduler(thread, os.SCHED_RR, os.sched_param(1))
    try:
        yield
    finally:
        for thread in threads:
            # A thread may have ended.
            with suppress(ProcessLookupError):
                os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024


def send(port: int, path: str, token: str, file: Path) -> tuple[float, dict[str, Any]]:
    """Upload a file without reading it into this process; return the seconds and the response."""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{file.name}"\r\n\r\n'.encode()
    tail = f"\r\n--{BOUNDARY}--\r\n".encode()
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    connection.putrequest("POST", path)
    connection.putheader("Authorization", f"Bearer {token}")
    connection.putheader("Content-Type", f"multipart/form-data; boundary={BOUNDARY}")
    connection.putheader("Content-Length", str(len(head) + file.stat().st_size + len(tail)))
    connection.endheaders(head)
    with file.open("rb") as content:
        # Its type permits None, but `endheaders` has connected it.
        cast("socket.socket", connection.sock).sendfile(content)
    connection.send(tail)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return time.monotonic() - began, answer

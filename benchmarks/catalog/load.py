"""Runs `wrk` with one thread and a few connections, for a short time."""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

CONNECTIONS = 4
# A script for wrk that requests the paths in turn.
IN_TURN = """
local paths = {{ {paths} }}
local number = 0
request = function()
  number = number + 1
  return wrk.format("GET", paths[number % #paths + 1])
end
"""
_UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0}


@dataclass(frozen=True)
class Rate:
    """The result of one run.

    Args:
        per_second: Responses per second.
        median: The median in milliseconds.
        p99: The 99th percentile in milliseconds.
        refused: The number of responses other than 2xx and 3xx.
        answers: The number of responses.
    """

    per_second: float
    median: float
    p99: float
    refused: int
    answers: int


class Load:
    """Runs `wrk`, each time for `seconds`."""

    def __init__(self, seconds: int) -> None:
        self.program = shutil.which("wrk")
        if self.program is None:
            raise SystemExit("Install wrk, the load generator (apt-get install wrk).")
        self.seconds = seconds

    def same(self, address: str, *, etag: str | None = None) -> Rate:
        """Request one URL repeatedly."""
        return self._run(address, *(["-H", f"If-None-Match: {etag}"] if etag else []))

    def in_turn(self, address: str, paths: list[str]) -> Rate:
        """Request these paths in turn."""
        listed = ", ".join(f'"{path}"' for path in paths)
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
            script.write(IN_TURN.format(paths=listed))
            script.flush()
            return self._run(address, "-s", script.name)

    def _run(self, address: str, *options: str) -> Rate:
        command = [str(self.program), "-t1", f"-c{CONNECTIONS}", f"-d{self.seconds}s", "--latency", *options, address]
        printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent).stdout
        refused = re.search(r"Non-2xx or 3xx responses: (\d+)", printed)
        return Rate(
            float(_found(r"Requests/sec:\s+([\d.]+)", printed)[0]),
            _milliseconds(printed, "50%"),
            _milliseconds(printed, "99%"),
            int(refused.group(1)) if refused else 0,
            int(_found(r"(\d+) requests in", printed)[0]),
        )


def _milliseconds(printed: str, share: str) -> float:
    number, unit = _found(rf"{share}\s+([\d.]+)(us|ms|s)", printed)
    return float(number) * _UNITS[unit]


def _found(pattern: str, printed: str) -> tuple[str, ...]:
    match = re.search(pattern, printed)
    if match is None:
        raise SystemExit(f"wrk printed nothing that matches {pattern}:\n{printed}")
    return match.groups()

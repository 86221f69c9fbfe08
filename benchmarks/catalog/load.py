"""Runs `wrk` with one thread and a few connections, for a short time."""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

CONNECTIONS = 4
# Every request has a different URL, so that no answer is cached.
NEW_ADDRESSES = """
local paths = {{ {paths} }}
local number = {first}
request = function()
  number = number + 1
  local path = paths[number % #paths + 1]
  return wrk.format("GET", path .. (path:find("?", 1, true) and "&" or "?") .. "new=" .. number)
end
"""
_UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0}


@dataclass(frozen=True)
class Rate:
    """The result of one run.

    Args:
        per_second: Answers per second.
        median: The median in milliseconds.
        p99: The 99th percentile in milliseconds.
        refused: Answers that were neither 2xx nor 3xx.
        answers: The number of answers.
    """

    per_second: float
    median: float
    p99: float
    refused: int
    answers: int


class Load:
    """Runs of `wrk`; each lasts so many seconds."""

    def __init__(self, seconds: int) -> None:
        self.program = shutil.which("wrk")
        if self.program is None:
            raise SystemExit("Install wrk, the load generator (apt-get install wrk).")
        self.seconds = seconds
        self._runs = 0

    def same(self, address: str, *, etag: str | None = None) -> Rate:
        """Request one URL repeatedly."""
        return self._run(address, *(["-H", f"If-None-Match: {etag}"] if etag else []))

    def new(self, address: str, paths: list[str]) -> Rate:
        """Request these paths in turn, each time with a URL that was not requested before."""
        self._runs += 1
        listed = ", ".join(f'"{path}"' for path in paths)
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
            script.write(NEW_ADDRESSES.format(paths=listed, first=self._runs * 10_000_000))
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
        raise SystemExit(f"wrk says nothing of {pattern}:\n{printed}")
    return match.groups()

"""The unit of costs: the processor time of one bare Django view. It runs in its own process, because it has its own settings."""

import io
import subprocess
import sys
import time
from typing import Any

from tests import ROOT

CALLS, BATCHES = 400, 5


def seconds_of_a_view() -> float:
    """Return the processor time of one call, in seconds."""
    told = subprocess.run([sys.executable, "-m", "tests.attack.bare"], cwd=ROOT, capture_output=True, check=True, text=True)
    return float(told.stdout)


def measure() -> float:
    """Return the time of a call in the fastest of some batches."""
    from benchmarks.catalog.bare import application  # noqa: PLC0415 - it configures Django

    def environ() -> dict[str, Any]:
        given: dict[str, Any] = {"REQUEST_METHOD": "GET", "PATH_INFO": "/page", "SERVER_NAME": "127.0.0.1", "SERVER_PORT": "80"}
        return given | {"HTTP_HOST": "127.0.0.1", "wsgi.input": io.BytesIO(), "wsgi.url_scheme": "http", "wsgi.errors": sys.stderr}

    def batch() -> float:
        start = time.process_time()
        for _ in range(CALLS):
            b"".join(application(environ(), _begin))
        return (time.process_time() - start) / CALLS

    return min(batch() for _ in range(BATCHES))


def _begin(_status: str, _headers: list[tuple[str, str]], _error: object = None, /) -> Any:
    """Take the head of an answer."""


if __name__ == "__main__":
    sys.stdout.write(str(measure()))

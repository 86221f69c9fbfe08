"""Waits for a condition: long enough for a busy machine, with a time limit and a message."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import requests

T = TypeVar("T")

# Nothing that works comes near it.
PATIENCE_SECONDS = 300.0
PAUSE_SECONDS = 0.05
# Of a log, the end.
SHOWN_CHARACTERS = 5_000


def until(found: Callable[[], T], what: str, *, seconds: float = PATIENCE_SECONDS, log: Path | None = None) -> T:
    """Ask again and again, and return what is found once that is true.

    Args:
        found: What is asked.
        what: What is waited for, for the failure.
        seconds: When to give up.
        log: Of whoever should bring it about; its end is shown.
    """
    end = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < end, f"{what}: not within {seconds:.0f} seconds{end_of(log)}"
        time.sleep(PAUSE_SECONDS)
    return answer


def until_it_answers(process: "subprocess.Popen[Any]", address: str, log: Path, headers: dict[str, str] | None = None) -> None:
    """Return once a server answers there; one that ended, or does not answer, fails with its log."""

    def answers() -> bool:
        assert process.poll() is None, f"the server ended with {process.returncode}{end_of(log)}"
        try:
            requests.get(address, timeout=30, headers=headers)
        except (requests.ConnectionError, requests.Timeout):
            return False
        return True

    until(answers, f"an answer from {address}", log=log)


def wait_for_end(process: "subprocess.Popen[Any]", log: Path | None = None) -> None:
    """Wait for the end of a process; one that does not come to it is killed, and fails with its log."""
    try:
        process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise AssertionError(f"{process.args!r} did not end{end_of(log)}") from None


def end_of(log: Path | None) -> str:
    return f":\n{log.read_text(encoding='utf-8', errors='replace')[-SHOWN_CHARACTERS:]}" if log is not None and log.exists() else ""

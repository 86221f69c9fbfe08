"""The results of checks."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """The outcome of a check."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    # The checked part of the installation.
    part: str
    status: Status
    message: str
    # How to fix it; empty if there is nothing to fix.
    remedy: str


# Status, message and remedy of each result of a check, as in `Finding`.
CheckResults = Iterator[tuple[Status, str, str]]

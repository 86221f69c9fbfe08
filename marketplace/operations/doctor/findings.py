"""What an examination yields."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a part is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """What was found.

    Args:
        part: Of the installation.
        status: How it is.
        sentence: What was seen.
        remedy: What to do; empty where there is nothing to do.
    """

    part: str
    status: Status
    sentence: str
    remedy: str = ""


# Of each thing that a check looked at: how it is, what was seen, and what to do about it (empty where there is nothing to do).
Results = Iterator[tuple[Status, str, str]]

"""A row of the table: a name, how the file is made, and what must come of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any


@dataclass(frozen=True)
class Taken:
    """200: it is what it is; `facts` are some of its technical details, `warnings` the codes of all of them."""

    format: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def fits(self, technical: dict[str, Any]) -> bool:
        """Tell whether technical details are these."""
        warnings = tuple(each["code"] for each in technical.get("warnings", []))
        return (technical["format"], warnings) == (self.format, self.warnings) and technical | dict(self.facts) == technical


@dataclass(frozen=True)
class Refused:
    """400 `file_rejected`; `words` stand in the sentence that the vendor reads."""

    words: str
    reason: str = "damaged_or_unsafe"


@dataclass(frozen=True)
class Unsupported:
    """415 `unsupported_type`; `words` say what it looks like."""

    words: str = ""


@dataclass(frozen=True)
class Case:
    """One row."""

    name: str
    build: Callable[[], bytes]
    verdict: Taken | Refused | Unsupported
    # Of previews: which one it is sent as.
    kind: str = ""
    # Made to take time or memory: a child looks into it, which is measured.
    heavy: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


Heavy = partial(Case, heavy=True)

"""What requests of at most a megabyte cost, in processor time.

    uv run --group dev python -m tests.attack.costs

Sends the costliest shapes (deep, wide, long, repeated, unknown, unicode, large numbers), made from the OpenAPI document and
from the forms on our pages, to every operation, tool and page, and keeps the costliest request of each in `tests/attack/costs.md`.
It fails where one costs more than the bound. Costs are told in units of a bare Django view. Passwords are hashed cheaply in tests and
files are inspected in processes of their own: both have limits of their own, and are not counted here.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookies import SimpleCookie
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from django.db import transaction

if TYPE_CHECKING:
    # Both load our models, which the command does without.
    from .shapes import Shape
    from .targets import Target

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).with_name("costs.md")
# Where the tests leave what they found, for this command; then they send everything.
FOLDER = "ATTACK_COSTS_FOLDER"
SHAPES = "ATTACK_COSTS_SHAPES"
SIZE = 2**20
# In bare views: with a credential, and without one.
MOST, MOST_OF_NOBODY = 1_700, 700
# What seems to cost more than all before is sent so often again: a collection of garbage may have fallen into it.
AGAIN = 3
# Whoever collects garbage as Python does by default pays for what a request makes.
_THRESHOLD = (700, 10, 10)


@dataclass(frozen=True)
class Cost:
    """What a request costs.

    Args:
        target: Where it was sent.
        known: Whether it had a credential.
        shape: What was costly about it.
        size: Its bytes.
        status: Of the answer.
        views: Processor time, in bare views.
    """

    target: str
    known: bool
    shape: str
    size: int
    status: int
    views: float

    @property
    def excessive(self) -> bool:
        """Tell whether it is beyond its bound."""
        return self.views > (MOST if self.known else MOST_OF_NOBODY)


def costliest(targets: "Iterable[Target]", unit: float) -> Iterator[Cost]:
    """Yield the costliest request to each target."""
    for target in targets:
        with _collecting_as_usual():
            yield _costliest(target, unit)


def _costliest(target: "Target", unit: float) -> Cost:
    most = Cost(target.name, target.known, "", 0, 0, 0)
    for shape in target.requests:
        seconds, status = _send(target, shape)
        for _ in range(AGAIN):
            if seconds / unit > most.views:
                seconds = min(seconds, _send(target, shape)[0])
        if seconds / unit > most.views:
            most = Cost(target.name, target.known, shape.name, shape.size, status, seconds / unit)
    return most


def _send(target: "Target", shape: "Shape") -> tuple[float, int]:
    """Send a request; return its processor time, and the status of the answer. What it changes is rolled back."""
    headers: dict[str, Any] = target.headers | dict(shape.headers)
    path = target.path + ("&" if "?" in target.path else "?") * bool(shape.query) + shape.query
    cookies = SimpleCookie(target.client.cookies)
    with transaction.atomic():
        start = time.process_time()
        answer = target.client.generic(target.method, path, shape.body, shape.kind, **headers)
        answer.getvalue()
        seconds = time.process_time() - start
        transaction.set_rollback(True)
    target.client.cookies = cookies
    return seconds, answer.status_code


@contextmanager
def _collecting_as_usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def table_of(costs: Iterable[Cost], unit: float) -> str:
    """Return the table, the costliest first."""
    rows = [
        f"| `{cost.target}` | {'yes' if cost.known else 'no'} | {cost.shape.replace('|', '&#124;')} | {cost.status} "
        f"| {cost.size / 1024:,.0f} | {cost.views:,.0f} | {cost.views / max(1, cost.size / 1024):,.1f} |"
        for cost in sorted(costs, key=lambda cost: -cost.views)
    ]
    about = (
        "Written by `python -m tests.attack.costs`: of each operation, tool and page the request of at most a megabyte that takes the most "
        f"processor time, in bare Django views ({unit * 1000:.3f} ms each in this run). The bound is {MOST:,} with a credential "
        f"and {MOST_OF_NOBODY} without one."
    )
    head = ["| sent to | credential | costliest request | status | KB | bare views | views per KB |", "|---|---|---|--:|--:|--:|--:|"]
    return "\n".join(["# What requests cost", "", about, "", *head, *rows]) + "\n"


def main() -> int:
    """Run the suite's tests with every shape and write the table; return pytest's status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.attack.costs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", default="", help="words that pytest's -k takes, such as 'operations or tools'; the table is then only printed"
    )
    parser.add_argument("--shapes", type=int, default=0, help="how many to send to each address; 0, the default: all")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "tests/attack/test_costs.py", "--quiet", "-k", options.only]
        status = subprocess.run(command, cwd=ROOT, env=os.environ | {FOLDER: folder, SHAPES: str(options.shapes)}, check=False).returncode
        parts = [json.loads(path.read_text("utf-8")) for path in sorted(Path(folder).glob("*.json"))]
    costs = [Cost(**cost) for part in parts for cost in part["costs"]]
    table = table_of(costs, min((part["unit"] for part in parts), default=0.0))
    if options.only:
        sys.stdout.write(table)
    else:
        KEPT.write_text(table, "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())

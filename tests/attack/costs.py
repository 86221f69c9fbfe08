"""The processor time that requests of at most a megabyte cost.

    uv run --group dev python -m tests.attack.costs

Sends the costliest shapes (deep, wide, long, repeated, unknown, unicode, large numbers), made from the OpenAPI document and
from the forms on our pages, to every operation, tool and page, and keeps the costliest request of each in `tests/attack/costs.md`.
It fails where one costs more than the bound. Costs are told in units of a bare Django view. Passwords are hashed cheaply in tests and
files are inspected in processes of their own: both have limits of their own, and are not counted here.
"""

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.cookies import SimpleCookie
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from django.db import transaction
from django.test import Client

from tests import ROOT, command_line

from .shapes import Shape

KEPT = Path(__file__).with_name("costs.md")
# Where the tests leave what they found, for this command; then they send everything.
FOLDER = "ATTACK_COSTS_FOLDER"
SHAPES = "ATTACK_COSTS_SHAPES"
SIZE = 2**20
# In bare views: with a credential, and without one.
MOST, MOST_OF_NOBODY = 1_700, 700
# What seems to cost more than all before is sent so often again: a collection of garbage may have fallen into it.
AGAIN = 3
# How many rows the kept table has.
ROWS = 100
# Whoever collects garbage as Python does by default pays for what a request makes.
_THRESHOLD = (700, 10, 10)


@dataclass
class Target:
    """One address, asked by one caller; of its requests, the most telling come first."""

    name: str
    known: bool
    client: Client
    method: str
    path: str
    requests: Iterator[Shape]
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cost:
    """What a request costs: its processor time, in bare views."""

    target: str
    known: bool
    shape: str
    size: int
    status: int
    views: float
    sent: int = 0

    def excessive(self, times: int = 1) -> bool:
        """Tell whether it is beyond its bound, or beyond so many times its bound."""
        return self.views > times * (MOST if self.known else MOST_OF_NOBODY)


def costliest(target: Target, unit: float) -> Cost:
    most, sent = Cost(target.name, target.known, "", 0, 0, 0), 0
    with _collecting_as_usual():
        for shape in target.requests:
            sent += 1
            seconds, status = _send(target, shape)
            for _ in range(AGAIN):
                if seconds / unit > most.views:
                    seconds = min(seconds, _send(target, shape)[0])
            if seconds / unit > most.views:
                most = Cost(target.name, target.known, shape.name, shape.size, status, seconds / unit)
    return replace(most, sent=sent)


def _send(target: Target, shape: Shape) -> tuple[float, int]:
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


def table_of(parts: Mapping[str, Sequence[Cost]], unit: float) -> str:
    """Return what each kind of address costs, and the costliest addresses, each with its worst request."""
    about = (
        "Written by `python -m tests.attack.costs`: of each operation, tool and page the request of at most a megabyte that takes the most "
        f"processor time, in bare Django views ({unit * 1000:.3f} ms each in this run). The bound is {MOST:,} with a credential "
        f"and {MOST_OF_NOBODY} without one. In the list, `?name` is a parameter of the address and `name:` one of the form, each filled "
        "with the text that follows."
    )
    kinds = ["| kind | addresses | requests | bare views, median address | costliest address |", "|---|--:|--:|--:|--:|"]
    worst: list[Cost] = []
    for kind, costs in parts.items():
        views = [cost.views for cost in costs]
        sent = sum(cost.sent for cost in costs)
        kinds.append(f"| {kind} | {len(views):,} | {sent:,} | {median(views):,.0f} | {max(views):,.0f} |")
        worst += costs
    worst.sort(key=lambda cost: -cost.views)
    rows = [
        f"| `{cost.target}` | {'yes' if cost.known else 'no'} | {cost.shape.replace('|', '&#124;')} | {cost.status} "
        f"| {cost.size / 1024:,.0f} | {cost.views:,.0f} | {cost.views / max(1, cost.size / 1024):,.1f} |"
        for cost in worst[:ROWS]
    ]
    head = ["| sent to | credential | costliest request | status | KB | bare views | views per KB |", "|---|---|---|--:|--:|--:|--:|"]
    rest = [f"No other address costs more than {worst[ROWS].views:,.0f}.", ""] if len(worst) > ROWS else []
    return "\n".join(["# What requests cost", "", about, "", *kinds, "", *rest, *head, *rows]) + "\n"


def main() -> int:
    """Run the suite's tests with every shape and write the table; return pytest's status."""
    parser = command_line("tests.attack.costs", __doc__)
    parser.add_argument(
        "--only", default="", help="words that pytest's -k takes, such as 'operations or tools'; the table is then only printed"
    )
    parser.add_argument("--shapes", type=int, default=0, help="how many to send to each address; 0, the default: all")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "tests/attack/test_costs.py", "--quiet", "-k", options.only]
        status = subprocess.run(command, cwd=ROOT, env=os.environ | {FOLDER: folder, SHAPES: str(options.shapes)}, check=False).returncode
        parts = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(Path(folder).glob("*.json"))}
    costs = {name: [Cost(**cost) for cost in part["costs"]] for name, part in parts.items()}
    table = table_of(costs, min((part["unit"] for part in parts.values()), default=0.0))
    if options.only:
        sys.stdout.write(table)
    else:
        KEPT.write_text(table, "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())

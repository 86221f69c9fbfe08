"""Stops each dependency in turn, then lets it hang: which requests succeed, which get 503 with `Retry-After`, and that all recover without a restart.

    uv run --group dev python -m tests.outages [--write]

Two nodes and a worker run with the production settings on real servers of their own. Each request is sent before, during and
after an outage; an answer other than success or 503 with `Retry-After` fails, and so does a purchase, mail or ledger entry that is
lost. The table goes into the documentation with `--write`; without it, the documented table is compared with what was measured.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import ROOT, command_line, say

from .nodes.deployment import Deployment, deployed
from .nodes.probes import Outcome, Prober, scene
from .servers.process import MANY_CALLS

PAGE = ROOT / "marketplace" / "web" / "docs" / "outages.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
RECOVERY_SECONDS = 60
HANGS = " hangs"
# The link leads to the store itself.
FROM_THE_STORE = "Use a download link"
# What is down is seen from the second round on as from the first, in which connections break.
ROUNDS = 2


@dataclass(frozen=True)
class Outage:
    """Something that stops, or hangs, as the table calls it."""

    name: str
    stop: Callable[[], None]
    start: Callable[[], None]


def outages(deployment: Deployment) -> list[Outage]:
    """Return what can stop, and what can hang: it takes connections and says nothing, like a process that was sent SIGSTOP."""
    down = [Outage(name, gate.shut, gate.open) for name, gate in deployment.gates.items()]
    hung = [Outage(name + HANGS, gate.silence, gate.open) for name, gate in deployment.gates.items()]
    return [*down, Outage("worker", deployment.worker.kill, deployment.worker.start), *hung]


def measure(deployment: Deployment, facts: dict[str, Any], *, only: str = "") -> dict[str, dict[str, str]]:
    """Stop each in turn, say how that went, and return the word for each request, by what was down.

    Raises:
        AssertionError: an answer is none that may be, something was lost, or did not recover.
    """
    prober = Prober(deployment, facts)
    table: dict[str, dict[str, str]] = {}
    for outage in outages(deployment):
        if only not in outage.name:
            continue
        _all_well(prober, f"before the outage of the {outage.name}")
        outage.stop()
        try:
            rounds = [prober.round() for _ in range(ROUNDS)]
        finally:
            outage.start()
        table[outage.name] = {name: _word(name, outage.name, [found[name] for found in rounds]) for name in rounds[0]}
        slowest, request = max((outcome.seconds, name) for found in rounds for name, outcome in found.items() if name != FROM_THE_STORE)
        seconds = _recovered(prober, outage.name)
        say(f"{outage.name}: answers within {slowest:.1f} s ({request}), well again after {seconds:.1f} s")
    say(as_markdown(table))
    _nothing_is_lost(deployment, prober)
    say("nothing is lost: purchases, mails, ledger")
    return table


def _all_well(prober: Prober, when: str) -> None:
    wrong = {name: outcome.word for name, outcome in prober.round().items() if outcome.word != "yes"}
    assert not wrong, f"{when}: {wrong}"


def _word(name: str, outage: str, outcomes: list[Outcome]) -> str:
    """Return the word of the table: the worse of the rounds."""
    words = {outcome.word for outcome in outcomes}
    if outage.startswith("object store") and name == FROM_THE_STORE:
        words = {"503" if word.startswith("no answer") else word for word in words}
    assert words <= {"yes", "503"}, f"{name} without the {outage}: {words}"
    if "503" in words:
        return "503"
    return "yes, mail is sent later" if name == "Sign up" and outage.startswith(("mail", "worker")) else "yes"


def _recovered(prober: Prober, outage: str) -> float:
    """Wait until every request succeeds again; return how long it took."""
    began = time.monotonic()
    while True:
        found = prober.round()
        wrong = {name: outcome.word for name, outcome in found.items() if outcome.word != "yes"}
        assert all(word == "503" for word in wrong.values()), f"after the outage of the {outage}: {wrong}"
        if not wrong:
            return time.monotonic() - began
        assert time.monotonic() - began < RECOVERY_SECONDS, f"the {outage} is back, but not {wrong}"


def _nothing_is_lost(deployment: Deployment, prober: Prober) -> None:
    """Find every purchase that was answered with success, every mail of a sign-up, and a ledger that agrees."""
    for address in prober.signed_up:
        deployment.mail_to(address, "onfirm")
    for asset in prober.bought:
        assert prober.owns(asset), f"{asset} was bought and is not there"
    deployment.manage("reconcile")


def as_markdown(table: dict[str, dict[str, str]]) -> str:
    """Return the tables as they stand in the page: of what is down, and of what hangs."""
    down = {name: words for name, words in table.items() if not name.endswith(HANGS)}
    hung = {name.removesuffix(HANGS): words for name, words in table.items() if name.endswith(HANGS)}
    return "\n\n".join(_table(head, words) for head, words in (("While this is down", down), ("While this hangs", hung)) if words)


def _table(head: str, table: dict[str, dict[str, str]]) -> str:
    lines = [f"| {head} | {' | '.join(table)} |", f"|---|{'---|' * len(table)}"]
    lines += [f"| {request} | {' | '.join(words[request] for words in table.values())} |" for request in next(iter(table.values()))]
    return "\n".join(lines)


def documented() -> str:
    return PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0].strip()


def write(table: str) -> None:
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def main() -> int:
    parser = command_line("tests.outages", __doc__)
    parser.add_argument("--write", action="store_true", help="put what was measured into the documentation")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="marketplace-outages-") as folder,
        deployed(Path(folder), gated=True, given=MANY_CALLS) as deployment,
    ):
        table = as_markdown(measure(deployment, scene(deployment)))
    if options.write:
        write(table)
        return 0
    if table != documented():
        say(f"{PAGE.relative_to(ROOT)} says something else; run again with --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

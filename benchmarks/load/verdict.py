"""The goals of the load benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass

from .phases import Measured

GROWTH = 0.05
# The 95th percentiles under overload: of the calls that are refused, and of those that are answered.
REFUSED_MS, ANSWERED_MS = 1000, 5000
# The share of the full speed that must be served under overload.
STILL_DONE = 0.5
# Response times up to this count as calm, since the machine alone can cause them.
NOTHING_MS = 250


@dataclass(frozen=True)
class Line:
    """One goal."""

    what: str
    measured: str
    goal: str
    met: bool

    @property
    def verdict(self) -> str:
        """Whether the goal was met; a dash if there is none."""
        return "-" if not self.goal else "met" if self.met else "**not met**"


def judged(full: Measured, steady: Measured, over: Measured, calm: Measured) -> list[Line]:
    """Return each goal with what was measured."""
    growth = max(steady.growth())
    sizes = ", ".join(f"{samples[-1] / 2**20:.0f} MiB" for samples in steady.memory)
    wrong = _wrong(steady, allowed=()) + _wrong(calm, allowed=())
    strange = _wrong(over, allowed=(429, 503)) + _wrong(full, allowed=(429, 503))
    share = over.done_a_second / full.done_a_second if full.done_a_second else 0.0
    slowest = max(2 * steady.answered[0], NOTHING_MS)
    return [
        Line("full speed", f"{full.done_a_second:.0f} calls/s, 95 % within {full.answered[0]:.0f} ms", "", met=True),
        Line(
            "steady traffic",
            f"{steady.calls_a_second:.0f} calls/s for {steady.phase.seconds / 60:g} minutes, {_spans(steady)}",
            "",
            met=True,
        ),
        Line("5xx, 429 and failed calls, steady and calm", f"{wrong} of {steady.calls + calm.calls:,}", "0", wrong == 0),
        Line("growth of a node in the last two thirds", f"{growth:+.1%} ({sizes})", f"≤ {GROWTH:.0%}", growth <= GROWTH),
        Line(
            "overload, 1.5 times the full speed",
            f"{over.calls_a_second:.0f} calls/s asked, {over.done_a_second:.0f} done, {over.refusals:,} of {over.calls:,} refused with 503",
            f"at least {STILL_DONE:.0%} of the full speed done, nothing else fails ({strange} did)",
            over.refusals > 0 and not strange and share >= STILL_DONE,
        ),
        Line("… who is refused, is so", f"95 % within {over.refused[0]:.0f} ms", f"{REFUSED_MS} ms", over.refused[0] <= REFUSED_MS),
        Line("… who is answered, is so", f"95 % within {over.answered[0]:.0f} ms", f"{ANSWERED_MS} ms", over.answered[0] <= ANSWERED_MS),
        Line("calm again, from the next second on", _spans(calm), f"95 % within {slowest:.0f} ms", calm.answered[0] <= slowest),
        Line("the ledger afterwards (`reconcile`)", "agree", "agree", met=True),
    ]


def _wrong(measured: Measured, *, allowed: Sequence[int]) -> int:
    """Return the number of calls that failed or were answered with an unexpected status."""
    ours = sum(count for status, count in measured.statuses.items() if (status >= 500 or status in {0, 429}) and status not in allowed)
    return max(ours, sum(count for _, count in measured.failures))


def _spans(measured: Measured) -> str:
    return f"95 % within {measured.answered[0]:.0f} ms, the longest {measured.answered[1] / 1000:.1f} s"

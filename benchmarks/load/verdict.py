"""What the load must show."""

from dataclasses import dataclass

from .phases import Measured

GROWTH = 0.05
QUICK_MS = 5000


@dataclass(frozen=True)
class Line:
    """One goal."""

    what: str
    measured: str
    goal: str
    met: bool


def judged(steady: Measured, full: Measured, over: Measured, calm: Measured) -> list[Line]:
    """Return each goal with what was measured."""
    errors = _errors(steady) + _errors(calm)
    growth = max(steady.growth())
    sizes = ", ".join(f"{samples[-1] / 2**20:.0f} MiB" for samples in steady.memory)
    strange = {status: count for status, count in over.statuses.items() if (status >= 500 and status != 503) or status == 0}
    refused = sum(count for status, count in over.statuses.items() if status in {429, 503})
    return [
        Line("steady traffic", f"{steady.calls_a_second:.0f} calls/s, 95 % within {steady.p95:.0f} ms", "", met=True),
        Line("5xx and failed calls, steady and calm", f"{errors} of {_all(steady) + _all(calm):,}", "0", errors == 0),
        Line("growth of a node after warm-up", f"{growth:+.1%} ({sizes})", f"≤ {GROWTH:.0%}", growth <= GROWTH),
        Line("full speed", f"{full.calls_a_second:.0f} calls/s, 95 % within {full.p95:.0f} ms", "", met=True),
        Line(
            f"overload ({over.phase.rate} callers, 1.5 times the full speed)",
            f"{over.calls_a_second:.0f} calls/s, {refused:,} of {_all(over):,} refused by 429 or 503, longest answer {over.longest / 1000:.1f} s",
            f"nothing else fails, 95 % within {QUICK_MS / 1000:.0f} s",
            not strange and over.p95 <= QUICK_MS,
        ),
        Line("calm again", f"95 % within {calm.p95:.0f} ms", "as before the overload, twice at most", calm.p95 <= max(2 * steady.p95, 100)),
        Line("the books afterwards", "agree", "agree", met=True),
    ]


def _errors(measured: Measured) -> int:
    return max(measured.failures, sum(count for status, count in measured.statuses.items() if status >= 500 or status == 0))


def _all(measured: Measured) -> int:
    return sum(measured.statuses.values())

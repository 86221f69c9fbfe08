"""The bars of the chart of calls, drawn by the template as SVG."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from .selectors import Tally

WIDTH, HEIGHT, GAP = 600, 120, 4


@dataclass(frozen=True)
class Part:
    """A piece of a bar: calls that ended alike."""

    name: str
    y: float
    height: float


@dataclass(frozen=True)
class Bar:
    """One day, in the chart's own units."""

    day: dt.date
    tally: Tally
    x: float
    width: float
    parts: list[Part]


def bars(days: Mapping[dt.date, Tally]) -> list[Bar]:
    """Return the stacked bars, the highest as high as the chart."""
    most = max((tally.total for tally in days.values()), default=0) or 1
    step = WIDTH / max(len(days), 1)
    return [
        Bar(day, tally, round(index * step + GAP / 2, 2), step - GAP, _parts(tally, most))
        for index, (day, tally) in enumerate(days.items())
    ]


def _parts(tally: Tally, most: int) -> list[Part]:
    parts, top = [], float(HEIGHT)
    for name, calls in (("done", tally.done), ("refused", tally.refused), ("failed", tally.failed)):
        if calls:
            height = round(calls * HEIGHT / most, 2)
            top = round(top - height, 2)
            parts.append(Part(name, top, height))
    return parts

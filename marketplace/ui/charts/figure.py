"""A chart, and where each of its marks stands. Heights and places are in the drawing's own units; the page stretches it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from .numbers import MINUS, compact, scale
from .periods import Period

WIDTH, HEIGHT = 1000.0, 200.0
# How much of its place a bar fills.
BAR = 0.72
Tone = Literal["accent", "mark", "good", "wait", "bad", "soft"]
Shape = Literal["bar", "line"]


def _plain(number: int) -> str:
    return f"{MINUS}{-number:,}" if number < 0 else f"{number:,}"


@dataclass(frozen=True)
class Series:
    """One row of figures.

    Args:
        name: As the legend and the table call it.
        values: One for each point of the period; None where nothing is known, which is not zero.
        tone: Its colour, one of the tokens'.
        shape: Bars of several series stand on one another, lines cross.
    """

    name: str
    values: Sequence[int | None]
    tone: Tone = "accent"
    shape: Shape = "bar"

    @property
    def total(self) -> int:
        """All of it."""
        return sum(value or 0 for value in self.values)


@dataclass(frozen=True)
class Mark:
    """A level to hold the figures against, such as a limit."""

    name: str
    value: int


@dataclass(frozen=True)
class Block:
    """A bar, or a piece of one."""

    tone: Tone
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Line:
    """A line; `path` breaks where nothing is known."""

    tone: Tone
    path: str
    dots: str


@dataclass(frozen=True)
class Spot:
    """What a point says when one comes to it: its number, its name, (series, figure), and how far to the right in tenths."""

    number: int
    name: str
    figures: Sequence[tuple[Series, str]]
    place: int


@dataclass(frozen=True)
class Chart:
    """Figures over time.

    Args:
        key: Its name on the page, for ids: letters and hyphens.
        title: What it shows.
        period: The points in time.
        series: The figures, each as long as the period.
        nothing: What to say, and to do, while there is none.
        show: How a figure is written.
        tick: How it is written on the scale, in little space.
        mark: A level to hold them against.
        totals: Whether the sums of the series mean something.
    """

    key: str
    title: str
    period: Period
    series: Sequence[Series]
    nothing: str
    show: Callable[[int], str] = _plain
    tick: Callable[[int], str] = compact
    mark: Mark | None = None
    totals: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        if any(len(series.values) != len(self.period.points) for series in self.series):
            raise ValueError("Each series has a figure for each point.")

    @property
    def empty(self) -> bool:
        """Whether there is nothing to see."""
        return not any(value for series in self.series for value in series.values)

    @property
    def legend(self) -> list[tuple[Series, str]]:
        """The series, each with its sum where that means something."""
        return [(series, self.show(series.total) if self.totals else "") for series in self.series]

    @cached_property
    def ticks(self) -> list[int]:
        """The scale, lowest first."""
        ends = [self.mark.value] if self.mark else []
        for index in range(len(self.period.points)):
            stacked = [value or 0 for series, value in self._at(index) if series.shape == "bar"]
            ends += [sum(value for value in stacked if value > 0), sum(value for value in stacked if value < 0)]
            ends += [value or 0 for series, value in self._at(index) if series.shape == "line"]
        return scale(ends)

    @property
    def labels(self) -> list[str]:
        """The scale as it is read, highest first."""
        return [self.tick(value) for value in reversed(self.ticks)]

    @property
    def grid(self) -> list[float]:
        """Where the scale's lines are, zero's left out."""
        return [self._y(value) for value in self.ticks if value]

    @property
    def zero(self) -> float:
        """Return where the value zero is drawn."""
        return self._y(0)

    @property
    def level(self) -> float | None:
        """Where the mark is."""
        return None if self.mark is None else self._y(self.mark.value)

    @property
    def mark_shown(self) -> str:
        """The mark as it is read."""
        return "" if self.mark is None else self.show(self.mark.value)

    @property
    def dates(self) -> list[str]:
        """What stands under the chart: its first, its middle and its last point."""
        last = len(self.period.points) - 1
        return [self.period.short_name(index) for index in sorted({0, last // 2, last})]

    def blocks(self) -> Iterator[Block]:
        """Yield the bars' pieces, what is above zero upwards and what is below it downwards."""
        place = WIDTH / len(self.period.points)
        for index in range(len(self.period.points)):
            above = below = 0
            for series, value in self._at(index):
                if series.shape != "bar" or not value:
                    continue
                base = above if value > 0 else below
                top, bottom = sorted((self._y(base), self._y(base + value)))
                yield Block(series.tone, _round((index + (1 - BAR) / 2) * place), top, _round(place * BAR), _round(bottom - top))
                if value > 0:
                    above += value
                else:
                    below += value

    def lines(self) -> Iterator[Line]:
        """Yield the lines. A point is a stroke of no length, which round ends make a dot at any size of the drawing."""
        for series in self.series:
            if series.shape != "line":
                continue
            path, dots, drawn = "", "", False
            for index, value in enumerate(series.values):
                if value is not None:
                    place = f"{self._x(index):g} {self._y(value):g}"
                    path += f"{'L' if drawn else 'M'}{place}"
                    dots += f"M{place}h0"
                drawn = value is not None
            yield Line(series.tone, path, dots)

    def spots(self) -> Iterator[Spot]:
        """Yield what each point says."""
        count = len(self.period.points)
        for index in range(count):
            figures = [(series, self.written(value)) for series, value in self._at(index)]
            yield Spot(index, self.period.name(index), figures, round(10 * index / max(count - 1, 1)))

    def written(self, value: int | None) -> str:
        """Return a figure as it is read."""
        return "—" if value is None else self.show(value)

    @property
    def description(self) -> str:
        """What someone who does not see the drawing should know of it."""
        first, last = self.period.name(0), self.period.name(len(self.period.points) - 1)
        parts = [f"From {first} to {last}, times in UTC."]
        for series in self.series:
            known = [(value, -index) for index, value in enumerate(series.values) if value is not None]
            if not known:
                parts.append(f"{series.name}: nothing is known.")
                continue
            most, index = max(known)
            total = f"{self.show(series.total)} in all, " if self.totals else ""
            parts.append(f"{series.name}: {total}most in {self.period.name(-index)} with {self.show(most)}.")
        if self.mark:
            parts.append(f"{self.mark.name}: {self.show(self.mark.value)}.")
        return " ".join(parts)

    def _at(self, index: int) -> Iterator[tuple[Series, int | None]]:
        return ((series, series.values[index]) for series in self.series)

    def _x(self, index: int) -> float:
        return _round((index + 0.5) * WIDTH / len(self.period.points))

    def _y(self, value: int) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return _round(HEIGHT * (high - value) / (high - low))


def _round(number: float) -> float:
    return round(number, 2)

"""Charts and the geometry of their elements, in the units of the SVG's view box; the page scales it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .numbers import MINUS, axis_values, compact
from .periods import Period

WIDTH, HEIGHT = 1000.0, 200.0
# The fraction of a point's width that its bar fills.
BAR_FRACTION = 0.72
Colour = Literal["accent", "mark", "good", "wait", "bad", "soft"]
Shape = Literal["bar", "line"]


def _plain(number: int) -> str:
    return f"{MINUS}{-number:,}" if number < 0 else f"{number:,}"


@dataclass(frozen=True)
class Series:
    """A data series.

    Args:
        values: One value for each point of the period.
        colour: The colour, a design token.
        shape: Bars of several series are stacked.
    """

    name: str
    values: Sequence[int]
    colour: Colour = "accent"
    shape: Shape = "bar"

    @property
    def total(self) -> int:
        return sum(self.values)


@dataclass(frozen=True)
class ReferenceLine:
    """A horizontal line to compare the values with, such as a limit."""

    name: str
    value: int


@dataclass(frozen=True)
class Chart:
    """A chart of values over time.

    Args:
        key: Prefix of element ids: letters and hyphens.
        empty_text: The text shown if there is no data.
        show: Formats a value.
        tick: Formats a value briefly, for the axis.
    """

    key: str
    title: str
    period: Period
    series: Sequence[Series]
    empty_text: str
    show: Callable[[int], str] = _plain
    tick: Callable[[int], str] = compact
    reference: ReferenceLine | None = None

    @property
    def empty(self) -> bool:
        """Whether all values are zero."""
        return not any(value for series in self.series for value in series.values)

    @property
    def legend(self) -> list[tuple[Series, str]]:
        """The series, each with its sum."""
        return [(series, self.show(series.total)) for series in self.series]

    @cached_property
    def ticks(self) -> list[int]:
        """The values on the axis, lowest first."""
        ends = [self.reference.value] if self.reference else []
        for index in range(len(self.period.points)):
            stacked = [value for series, value in self._values_at(index) if series.shape == "bar"]
            ends += [sum(value for value in stacked if value > 0), sum(value for value in stacked if value < 0)]
            ends += [value for series, value in self._values_at(index) if series.shape == "line"]
        return axis_values(ends)

    @property
    def labels(self) -> list[str]:
        """The labels of the axis, highest first."""
        return [self.tick(value) for value in reversed(self.ticks)]

    @property
    def grid(self) -> list[float]:
        """The positions of the grid lines, without zero."""
        return [self._y(value) for value in self.ticks if value]

    @property
    def zero(self) -> float:
        return self._y(0)

    @property
    def reference_y(self) -> float | None:
        """The position of the reference line."""
        return None if self.reference is None else self._y(self.reference.value)

    @property
    def reference_text(self) -> str:
        """The value of the reference line as text."""
        return "" if self.reference is None else self.show(self.reference.value)

    @property
    def dates(self) -> list[str]:
        """The labels below the chart: its first, middle and last point."""
        last = len(self.period.points) - 1
        return [self.period.short_name(index) for index in sorted({0, last // 2, last})]

    def bar_segments(self) -> Iterator[tuple[Colour, float, float, float, float]]:
        """Yield colour, x, y, width and height of each segment of the bars; positive values are stacked upwards, negative ones downwards."""
        slot = WIDTH / len(self.period.points)
        for index in range(len(self.period.points)):
            above = below = 0
            for series, value in self._values_at(index):
                if series.shape != "bar" or not value:
                    continue
                base = above if value > 0 else below
                top, bottom = sorted((self._y(base), self._y(base + value)))
                yield series.colour, _round((index + (1 - BAR_FRACTION) / 2) * slot), top, _round(slot * BAR_FRACTION), _round(bottom - top)
                if value > 0:
                    above += value
                else:
                    below += value

    def lines(self) -> Iterator[tuple[Colour, str, str]]:
        """Yield colour, path and dots of each line. A dot is a zero-length stroke with round line caps, so that it stays round at any scale."""
        for series in self.series:
            if series.shape != "line":
                continue
            points = [f"{self._x(index):g} {self._y(value):g}" for index, value in enumerate(series.values)]
            yield series.colour, "M" + "L".join(points), "".join(f"M{point}h0" for point in points)

    def tooltips(self) -> Iterator[tuple[str, list[tuple[Series, str]], int]]:
        """Yield name, values and horizontal position, in tenths, of the tooltip of each point."""
        count = len(self.period.points)
        for index in range(count):
            figures = [(series, self.show(value)) for series, value in self._values_at(index)]
            yield self.period.name(index), figures, round(10 * index / max(count - 1, 1))

    @property
    def description(self) -> str:
        """A textual description of the chart, for screen readers."""
        first, last = self.period.name(0), self.period.name(len(self.period.points) - 1)
        parts = [f"From {first} to {last}, times in UTC."]
        for series in self.series:
            most = max(series.values)
            when = self.period.name(series.values.index(most))
            parts.append(f"{series.name}: {self.show(series.total)} in all, most in {when} with {self.show(most)}.")
        if self.reference:
            parts.append(f"{self.reference.name}: {self.reference_text}.")
        return " ".join(parts)

    def _values_at(self, index: int) -> Iterator[tuple[Series, int]]:
        return ((series, series.values[index]) for series in self.series)

    def _x(self, index: int) -> float:
        return _round((index + 0.5) * WIDTH / len(self.period.points))

    def _y(self, value: int) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return _round(HEIGHT * (high - value) / (high - low))


def _round(number: float) -> float:
    return round(number, 2)

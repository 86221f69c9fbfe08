"""The points in time of a chart: whole hours, days or months, in UTC."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Step(StrEnum):
    """The distance between points."""

    HOUR = "hour"
    DAY = "day"
    MONTH = "month"


_LONG_FORMATS = {Step.HOUR: "{0.day} {0:%b}, {0:%H:%M}", Step.DAY: "{0.day} {0:%b %Y}", Step.MONTH: "{0:%b %Y}"}
_SHORT_FORMATS = {Step.HOUR: "{0:%H:%M}", Step.DAY: "{0.day} {0:%b}", Step.MONTH: "{0:%b %Y}"}


@dataclass(frozen=True)
class Period:
    """Consecutive hours, days or months, oldest first; the last is the current one."""

    step: Step
    points: tuple[dt.datetime, ...]

    @classmethod
    def last(cls, count: int, step: Step, *, until: dt.datetime) -> "Period":
        """Return `count` hours, days or months, up to and including that of `until`."""
        point = floor(until, step)
        points = [point]
        for _ in range(count - 1):
            point = floor(point - dt.timedelta(microseconds=1), step)
            points.append(point)
        return cls(step, tuple(reversed(points)))

    @property
    def start(self) -> dt.datetime:
        """The beginning of the first point."""
        return self.points[0]

    def fill(self, amounts: Mapping[dt.datetime, int] | Mapping[dt.date, int]) -> tuple[int, ...]:
        """Return the total of each point; amounts are given by any time or, for days and months, any date in it. Those outside are ignored."""
        found = dict.fromkeys(self.points, 0)
        for moment, amount in amounts.items():
            point = floor(moment, self.step)
            if point in found:
                found[point] += amount
        return tuple(found.values())

    def name(self, index: int) -> str:
        """Return the name of a point."""
        return _LONG_FORMATS[self.step].format(self.points[index])

    def short_name(self, index: int) -> str:
        """Return the name of a point on the axis."""
        return _SHORT_FORMATS[self.step].format(self.points[index])


def floor(moment: dt.datetime | dt.date, step: Step) -> dt.datetime:
    """Return the beginning of the hour, day or month (UTC) that contains a time."""
    if not isinstance(moment, dt.datetime):
        moment = dt.datetime.combine(moment, dt.time(), dt.UTC)
    moment = moment.astimezone(dt.UTC).replace(minute=0, second=0, microsecond=0)
    if step == Step.HOUR:
        return moment
    return moment.replace(hour=0) if step == Step.DAY else moment.replace(day=1, hour=0)


@dataclass(frozen=True)
class Span:
    """A time span that a page can show: `count` steps, of which the current one is the last. `key` is its name in the URL."""

    key: str
    label: str
    step: Step
    count: int

    def period(self, now: dt.datetime) -> Period:
        """Return the period that ends now."""
        return Period.last(self.count, self.step, until=now)

"""The points in time that a chart has: whole hours, days or months, in UTC."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

Moment = dt.datetime


class Step(StrEnum):
    """How far apart the points are."""

    HOUR = "hour"
    DAY = "day"
    MONTH = "month"


_AS_READ = {Step.HOUR: "{0.day} {0:%b}, {0:%H:%M}", Step.DAY: "{0.day} {0:%b %Y}", Step.MONTH: "{0:%b %Y}"}
_ON_THE_AXIS = {Step.HOUR: "{0:%H:%M}", Step.DAY: "{0.day} {0:%b}", Step.MONTH: "{0:%b %Y}"}


@dataclass(frozen=True)
class Period:
    """A row of hours, days or months, oldest first; the last is the one that goes on now.

    Args:
        step: How far apart they are.
        points: When each begins, in UTC.
    """

    step: Step
    points: tuple[Moment, ...]

    @classmethod
    def last(cls, count: int, step: Step, *, until: Moment) -> "Period":
        """Return so many hours, days or months, the one of `until` included."""
        point = floor(until, step)
        points = [point]
        for _ in range(count - 1):
            point = floor(point - dt.timedelta(microseconds=1), step)
            points.append(point)
        return cls(step, tuple(reversed(points)))

    @property
    def start(self) -> Moment:
        """When the first begins."""
        return self.points[0]

    def fill(self, amounts: Mapping[Moment, int] | Mapping[dt.date, int]) -> tuple[int, ...]:
        """Return the amount of each point, zero where there is none; what is of another time is left out.

        Args:
            amounts: By any moment or, for days and months, any date within the point.
        """
        found = dict.fromkeys(self.points, 0)
        for moment, amount in amounts.items():
            point = floor(moment, self.step)
            if point in found:
                found[point] += amount
        return tuple(found.values())

    def name(self, index: int) -> str:
        """Return a point as people read it."""
        return _AS_READ[self.step].format(self.points[index])

    def short_name(self, index: int) -> str:
        """Return a point as the axis has it."""
        return _ON_THE_AXIS[self.step].format(self.points[index])


def floor(moment: Moment | dt.date, step: Step) -> Moment:
    """Return when the hour, day or month (UTC) of a moment began.

    Raises:
        ValueError: the moment does not say of which zone it is.
    """
    if not isinstance(moment, dt.datetime):
        moment = dt.datetime.combine(moment, dt.time(), dt.UTC)
    elif moment.tzinfo is None:
        raise ValueError("The time has no time zone.")
    moment = moment.astimezone(dt.UTC).replace(minute=0, second=0, microsecond=0)
    if step == Step.HOUR:
        return moment
    return moment.replace(hour=0) if step == Step.DAY else moment.replace(day=1, hour=0)


@dataclass(frozen=True)
class Span:
    """How far back a page shows: so many steps, the present one included.

    Args:
        key: How an address names it.
        words: How people call it.
        step: What is added up.
        count: How many of these.
    """

    key: str
    words: str
    step: Step
    count: int

    def period(self, now: Moment) -> Period:
        """Return its points."""
        return Period.last(self.count, self.step, until=now)

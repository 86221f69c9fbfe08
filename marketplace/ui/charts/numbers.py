"""Axis values and compact numbers for charts."""

from collections.abc import Iterable

MAX_STEPS = 4
_NICE = (1, 2, 5, 10)
_UNITS = ((10**15, "Qa"), (10**12, "T"), (10**9, "bn"), (10**6, "m"), (10**3, "k"))
MINUS = "\N{MINUS SIGN}"


def axis_values(values: Iterable[int]) -> list[int]:
    """Return evenly spaced round numbers that span the values and zero, lowest first."""
    everything = [0, *values]
    low, high = min(everything), max(everything)
    step = _step(high - low)
    first = low // step
    last = -(-high // step)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def _step(span: int) -> int:
    """Return the smallest round step that divides the span into at most `MAX_STEPS`."""
    power = 1
    while True:
        for nice in _NICE:
            # The axis may have one step more, since both ends are rounded outwards.
            if nice * power * MAX_STEPS >= span:
                return nice * power
        power *= 10


def compact(number: int) -> str:
    """Return a number in compact form: 950, 1.2k, 34m."""
    sign, size = (MINUS, -number) if number < 0 else ("", number)
    for unit, letters in _UNITS:
        if size >= unit:
            tenths = size * 10 // unit
            whole, tenth = divmod(tenths, 10)
            return f"{sign}{whole:,}.{tenth}{letters}" if tenth and whole < 100 else f"{sign}{whole:,}{letters}"
    return f"{sign}{size}"

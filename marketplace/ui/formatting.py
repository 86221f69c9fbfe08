"""Formats times, states and money for people, on our pages and in the admin."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from marketplace.core.money import Currency

from .charts import compact
from .charts.numbers import MINUS

_UNITS = (("year", 365 * 86_400), ("month", 30 * 86_400), ("day", 86_400), ("hour", 3_600), ("minute", 60))
_SYMBOLS = {Currency.USD: "$", Currency.INR: "₹", Currency.EUR: "€"}
_COLOURS: dict[str, str] = {}
_LABELS: dict[str, str] = {}


def register_statuses(
    *, good: Iterable[str] = (), waiting: Iterable[str] = (), bad: Iterable[str] = (), labels: Mapping[str, str] | None = None
) -> None:
    """Register the colours and labels of statuses; called in an app's `ready()`."""
    for colour, statuses in (("good", good), ("wait", waiting), ("bad", bad)):
        _COLOURS.update(dict.fromkeys(statuses, colour))
    _LABELS.update(labels or {})


def when(moment: datetime | None) -> SafeString | str:
    """Return a `<time>` element such as `3 hours ago`, with the exact time in its title; an empty string for None."""
    if moment is None:
        return ""
    moment = moment.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        f"{moment.day} {moment:%B %Y, %H:%M} UTC",
        relative_time(moment),
    )


def relative_time(moment: datetime) -> str:
    """Return a time relative to now in its largest unit, such as `3 hours ago` or `in 2 days`."""
    seconds = int((moment - timezone.now()).total_seconds())
    for unit, length in _UNITS:
        count = round(abs(seconds) / length)
        if abs(seconds) >= length:
            distance = f"{count} {unit}" if count == 1 else f"{count} {unit}s"
            return f"in {distance}" if seconds > 0 else f"{distance} ago"
    return "just now" if seconds <= 0 else "in a moment"


def status_label(status: str) -> str:
    """Return the registered label of a status, by default the status itself."""
    return _LABELS.get(status, status)


def status_colour(status: str) -> str:
    """Return the colour of a status: good, wait, bad or plain."""
    return _COLOURS.get(status, "plain")


def badge(status: str) -> SafeString:
    """Return a status as a coloured badge."""
    return format_html('<span class="status status-{}">{}</span>', status_colour(status), status_label(status))


def money(amount_minor: int | None, currency: str) -> str:
    """Return minor units as `$1,234.50`, `€1,234.50` or, in the Indian grouping, `₹1,23,456.00`; a dash for None."""
    if amount_minor is None:
        return "—"
    whole, cents = divmod(abs(amount_minor), 100)
    digits = _indian(whole) if currency == Currency.INR else f"{whole:,}"
    sign = MINUS if amount_minor < 0 else ""
    return f"{sign}{_SYMBOLS[Currency(currency)]}{digits}.{cents:02}"


def short_money(amount_minor: int, currency: str) -> str:
    """Return an amount in compact form, such as `₹1.2m`; amounts below a hundred keep their decimals."""
    if abs(amount_minor) < 100_00 and amount_minor % 100:
        return money(amount_minor, currency)
    whole = compact(abs(amount_minor) // 100)
    return f"{MINUS if amount_minor < 0 else ''}{_SYMBOLS[Currency(currency)]}{whole}"


def _indian(whole: int) -> str:
    """Group by thousands once, then by hundreds: 12,34,567."""
    head, tail = divmod(whole, 1000)
    groups = [f"{tail:03}" if head else str(tail)]
    while head:
        head, group = divmod(head, 100)
        groups.append(f"{group:02}" if head else str(group))
    return ",".join(reversed(groups))

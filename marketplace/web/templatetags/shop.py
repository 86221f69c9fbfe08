"""Prices and filters of the storefront."""

from collections.abc import Sequence

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from catalog.file_types import file_type_label
from catalog.filters import Values
from catalog.pricing import Prices
from marketplace.accounts.models import Tier
from marketplace.core.money import Currency
from marketplace.ui.formatting import money

from ..shop.currency import amount_in

register = template.Library()
register.filter(file_type_label)


@register.simple_tag
def price(prices: Prices, currency: Currency) -> SafeString:
    """Return a price in the viewer's currency, in dollars where there is none in it."""
    amount, shown = amount_in(prices, currency)
    if amount == 0:
        return SafeString('<span class="number">Free</span>')
    return format_html('<span class="number" data-currency="{}">{}</span>', shown, money(amount, shown))


@register.filter
def as_filter(value: str) -> str:
    """Return a value as a filter's parameter, in which an unmarked `!` at the beginning would exclude it."""
    (sent,) = Values((value,)).as_sent
    return sent


@register.filter
def percent(basis_points: int) -> str:
    """Return basis points as a percentage without needless zeros."""
    return f"{basis_points / 100:g}%"


@register.filter
def duration(seconds: float) -> str:
    """Return a duration as minutes and seconds."""
    return f"{round(seconds) // 60}:{round(seconds) % 60:02}"


@register.filter
def waveform(peaks: Sequence[int]) -> str:
    """Return the SVG path of a waveform: a line for each value in percent, in a box of 640 by 100."""
    step = 640 / len(peaks)
    return "".join(f"M{round((place + 0.5) * step, 1):g} {50 - max(peak, 2) / 2:g}v{max(peak, 2)}" for place, peak in enumerate(peaks))


@register.filter
def account_tier_label(tier: str) -> str:
    """Return the label of an account tier."""
    return Tier(tier).label

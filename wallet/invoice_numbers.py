"""Fiscal years, and the numbers of invoices in them."""

from datetime import date

from . import bounds

# A shorter sequence number is filled up with zeros.
_MIN_DIGITS = 5


def fiscal_year_of(day: date, month: int) -> int:
    """Return the year in which the fiscal year of a day began, given the month with which it begins."""
    return day.year if day.month >= month else day.year - 1


def invoice_number(pattern: str, *, year: int, month: int, sequence: int) -> str:
    """Return a number by its pattern: `{year}` becomes `2026`, or `26-27` where the fiscal year spans two."""
    label = str(year) if month == 1 else f"{year % 100:02}-{(year + 1) % 100:02}"
    return pattern.replace("{year}", label).replace("{number}", f"{sequence:0{_MIN_DIGITS}}")


def highest_possible_sequence(pattern: str, *, year: int, month: int) -> int:
    """Return the largest number in a fiscal year for which the pattern has room."""
    shortest = invoice_number(pattern, year=year, month=month, sequence=0)
    digits = bounds.INVOICE_NUMBER_CHARS - len(shortest) + _MIN_DIGITS
    return int(10**digits) - 1

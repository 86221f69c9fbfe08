"""Money: an integer of minor units (cents, paise) in Python and the database, a number with two decimals in JSON."""

from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from . import bounds


class Currency(StrEnum):
    """The currencies a vendor sets prices in. Wallets hold INR and USD. EUR prices are shown to buyers, and vendors can be paid in EUR."""

    USD = "USD"
    INR = "INR"
    EUR = "EUR"


WALLET_CURRENCIES = (Currency.INR, Currency.USD)


def divide_half_up(numerator: int, denominator: int) -> int:
    """Return the quotient rounded half up, in integer arithmetic. All rounding of money is done here."""
    return (2 * numerator + denominator) // (2 * denominator)


def discounted(amount_minor: int, discount_bp: int) -> int:
    """Return an amount less a discount in basis points."""
    return divide_half_up(amount_minor * (bounds.WHOLE_BP - discount_bp), bounds.WHOLE_BP)


def scaled(amount_minor: int, factor: Decimal | Fraction) -> int:
    """Return an amount multiplied by a factor, such as a licence tier's or an exchange rate."""
    numerator, denominator = factor.as_integer_ratio()
    return divide_half_up(amount_minor * numerator, denominator)


def included_tax(gross_minor: int, tax_rate_bp: int) -> int:
    """Return the tax included in a gross price, at a rate in basis points."""
    return divide_half_up(gross_minor * tax_rate_bp, bounds.WHOLE_BP + tax_rate_bp)


def share(amount_minor: int, rate_bp: int) -> int:
    """Return a share of an amount, such as a commission, in basis points."""
    return divide_half_up(amount_minor * rate_bp, bounds.WHOLE_BP)


class Split(NamedTuple):
    """The parts of a gross price."""

    tax_minor: int
    commission_minor: int
    vendor_share_minor: int


def split_sale(price_minor: int, *, tax_minor: int, commission_rate_bp: int) -> Split:
    """Return the parts of a gross price: the included tax, the commission on the net price, the rest for the vendor."""
    commission = share(price_minor - tax_minor, commission_rate_bp)
    return Split(tax_minor, commission, price_minor - tax_minor - commission)


def to_number(amount_minor: int) -> float:
    """Return the JSON number for an amount, exact up to 2^53 minor units."""
    return amount_minor / 100


def to_number_or_none(amount_minor: int | None) -> float | None:
    """Return the JSON number for an amount that may be unset."""
    return None if amount_minor is None else amount_minor / 100


def to_minor(amount: Decimal) -> int:
    """Return the minor units of an amount that has at most two decimals.

    Raises:
        ValueError: the amount has more than two decimals.
    """
    minor = amount * 100
    if minor != minor.to_integral_value():
        message = "an amount of money has at most two decimals"
        raise ValueError(message)
    return int(minor)

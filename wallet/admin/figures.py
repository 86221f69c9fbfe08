"""How the admin writes amounts."""

from marketplace.core.money import to_number


def money(amount_minor: int, currency: str) -> str:
    """Return an amount with its currency."""
    return f"{to_number(amount_minor):,.2f} {currency}"

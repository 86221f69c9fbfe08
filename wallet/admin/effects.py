"""What a decision does to this very order or wallet, in figures."""

from marketplace.core.money import Currency
from marketplace.core.wording import money

from ..models import Order, WalletOwner
from ..selectors import balances_of


def refund_does(order: Order) -> list[str]:
    """Return what a refund moves, part by part, and what it takes away."""
    parts = (("the vendor's share", order.vendor_share_minor), ("the commission", order.commission_minor), ("the tax", order.tax_minor))
    legs = ", ".join(f"{money(amount, order.currency)} from {name}" for name, amount in parts if amount)
    moved = (
        f"{money(order.price_minor, order.currency)} goes back into the wallet of {order.buyer}" if order.price_minor else "No money moves"
    )
    return [
        f"{moved}{': ' if legs else ''}{legs}.",
        f"The {order.license_name} licence to “{order.title}” is revoked, and every download link to it ends.",
    ]


def credit_does(owner: WalletOwner) -> list[str]:
    """Return what the wallet holds now."""
    balances = balances_of(owner)
    inr, usd = (money(balances.get(currency, 0), currency) for currency in (Currency.INR, Currency.USD))
    return [f"{owner.email} has {inr} and {usd} now."]

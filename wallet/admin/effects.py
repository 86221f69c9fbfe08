"""The effects of decisions on an order, a wallet or a payout, with amounts."""

from marketplace.core.money import Currency
from marketplace.review.claims import is_claimed
from marketplace.ui.formatting import money

from ..card_credit import card_part_of
from ..models import Journal, Order, WalletOwner, WalletPayout
from ..models.ledger import JournalKind
from ..models.orders import OrderStatus
from ..selectors import balances_of, owed_by
from ..unclaimed import unclaimed_minor


def refund_effects(order: Order) -> list[str]:
    """Return the amounts that a refund moves, and the licence that it revokes."""
    parts = (("the vendor's share", order.vendor_share_minor), ("the commission", order.commission_minor), ("the tax", order.tax_minor))
    transfers = ", ".join(f"{money(amount, order.currency)} from {name}" for name, amount in parts if amount)
    price = money(order.price_minor, order.currency)
    if not order.price_minor:
        moved = "No money moves"
    elif order.buyer.deleted:
        moved = f"The account that bought it is deleted: {_where_it_goes(order)}"
    else:
        moved = f"{price} is returned to the wallet of {order.buyer}, less what they owe, if anything"
    effects = [
        f"{moved} ({transfers})." if transfers else f"{moved}.",
        f"The {order.license_name} licence for “{order.title}” is revoked, and its download links stop working.",
    ]
    if order.upgraded_from is not None and order.upgraded_from.status == OrderStatus.COMPLETED:
        effects.append(f"The {order.upgraded_from.license_name} licence that it replaced is valid again.")
    return effects


def _where_it_goes(order: Order) -> str:
    """Return where the money of a refund to a deleted account goes: to the card as far as it was paid by card; the rest pays what the account owes."""
    sale = Journal.objects.select_related("wallet").filter(order=order, kind=JournalKind.SALE).first()
    by_card = 0 if sale is None else card_part_of(sale)
    to_card, rest = (money(amount, order.currency) for amount in (by_card, order.price_minor - by_card))
    if not by_card:
        return f"{rest} waits to be paid out, less what it owes, if anything"
    if by_card == order.price_minor:
        return f"{to_card} returns to the card"
    return f"{to_card} returns to the card, {rest} waits to be paid out, less what it owes, if anything"


def credit_effects(owner: WalletOwner) -> list[str]:
    """Return the current balances of the wallet."""
    balances = balances_of(owner)
    inr, usd = (money(balances.get(currency, 0), currency) for currency in (Currency.INR, Currency.USD))
    return [f"{owner.email} has {inr} and {usd} now."]


def unclaimed_refund_effects(order: Order) -> list[str]:
    """Return the amount that counts as paid, and what the buyer owes."""
    price, owed = money(unclaimed_minor(order), order.currency), owed_by(order.buyer_id).get(order.currency, 0)
    return [
        *([f"The account owes {money(owed, order.currency)} for a card payment that was returned: settle that first."] if owed else []),
        f"{price} counts as paid to the buyer of “{order.title}”, and no longer waits to be paid out.",
        "It is paid once, and cannot be undone here.",
    ]


def wallet_payout_effects(wallet_payout: WalletPayout) -> list[str]:
    """Return the amount to transfer and, once it is claimed, the bank details."""
    amount = money(wallet_payout.amount_minor, wallet_payout.currency)
    if not is_claimed(wallet_payout):
        return [
            f"Claim it before you transfer {amount}: until then its owner can cancel it. The bank details are shown once you have claimed it."
        ]
    return [
        f"Transfer {amount} first, to: {', '.join(wallet_payout.payment_details.splitlines())}.",
        f"Then it counts as paid, which cannot be undone, and {wallet_payout.wallet.owner} gets an email with the reference.",
    ]


def wallet_payout_refusal_effects(wallet_payout: WalletPayout) -> list[str]:
    """Return the amount that returns to the wallet."""
    amount = money(wallet_payout.amount_minor, wallet_payout.currency)
    return [
        f"{amount} returns to the wallet of {wallet_payout.wallet.owner}, less what they owe, if anything. They get an email with your reason. The bank details are deleted."
    ]

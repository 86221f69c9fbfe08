"""Wallet payouts, and orders of deleted accounts."""

from typing import Any

from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from tests.shop import bought, funded, on_sale
from wallet.models import Order, WalletPayout
from wallet.services.wallet_payouts import request_wallet_payout

DETAILS = "IBAN DE02 1203 0000 0000 2020 51\nAsha Rao"


def requested_payout(user: User, amount_minor: int | None = None, currency: str = "INR", **given: Any) -> WalletPayout:
    """Ask as the owner does, password and all."""
    asking: dict[str, Any] = {"payment_details": DETAILS, "actor": user, "password_confirmed": True} | given
    return request_wallet_payout(user=user, currency=currency, amount_minor=amount_minor, **asking)


def refund_to_deleted_account(price_inr_minor: int = 49_900) -> Order:
    buyer = funded(inr=price_inr_minor)
    order = bought(on_sale(price_inr_minor=price_inr_minor, tax_rate_bp=1800), buyer)
    delete_account(user=buyer, reason="test", actor=None)
    return order

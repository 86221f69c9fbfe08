"""Preferences of a wallet's owner."""

from django.db import transaction

from marketplace.accounts.models import User
from marketplace.core import audit

from ..models import WalletSettings
from .ledger import require_wallet_currency


@transaction.atomic
def set_currency_preference(*, user: User, currency: str, actor: User) -> WalletSettings:
    """Set the currency of purchases that name none.

    Raises:
        InvalidAmount: wallets do not hold this currency.
    """
    require_wallet_currency(currency)
    chosen, made = WalletSettings.objects.get_or_create(owner=user, defaults={"currency_preference": currency})
    if made or chosen.currency_preference != currency:
        chosen.currency_preference = currency
        chosen.save(update_fields=["currency_preference"])
        audit.record("wallet.preference", chosen, actor=actor, currency=currency)
    return chosen

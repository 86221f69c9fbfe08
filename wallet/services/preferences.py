"""Preferences of a wallet's owner."""

from django.db import transaction

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.transitions import lock

from ..models import WalletSettings
from .ledger import require_wallet_currency


@transaction.atomic
def set_currency_preference(*, user: User, currency: str, actor: User) -> WalletSettings:
    """Set the currency of purchases that name none.

    Raises:
        InvalidAmount: wallets do not hold this currency.
        NotFound: the account is not active.
    """
    require_wallet_currency(currency)
    # Serialised with the deletion of the account.
    lock(User.objects.filter(is_active=True), pk=user.pk)
    chosen = WalletSettings.objects.filter(owner=user).first()
    if chosen is None or chosen.currency_preference != currency:
        chosen, _ = WalletSettings.objects.update_or_create(owner=user, defaults={"currency_preference": currency})
        audit.record("wallet.preference", chosen, actor=actor, currency=currency)
    return chosen

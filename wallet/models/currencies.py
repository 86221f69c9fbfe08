"""What wallets hold."""

from marketplace.core.money import WALLET_CURRENCIES

CURRENCIES = [currency.value for currency in WALLET_CURRENCIES]

"""Tools of the wallet."""

from collections.abc import Mapping
from typing import Any

from developers.principals import Principal
from marketplace.core.api.serializers import EmptyBody
from marketplace.core.scopes import Scope
from wallet.api.serializers.wallet import WalletAnswer
from wallet.selectors import wallet_of

from .base import Arguments, Told, Tool


def _get_wallet(principal: Principal, arguments: Arguments) -> Any:
    return WalletAnswer(wallet_of(principal.user)).data


def _told_wallet(body: Mapping[str, Any]) -> Told:
    text = f"The wallet holds {body['balanceINR']:.2f} INR and {body['balanceUSD']:.2f} USD; purchases are paid in {body['currencyPreference']}"
    return Told(f"{text} unless currency says otherwise.")


TOOLS = (
    Tool(
        name="get_wallet",
        title="Read the wallet",
        description="The user's prepaid balances in INR and USD. Look before you propose a purchase.",
        scope=Scope.ACCOUNT_READ,
        takes=EmptyBody,
        gives=WalletAnswer,
        run=_get_wallet,
        tell=_told_wallet,
    ),
)

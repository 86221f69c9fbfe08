"""GET wallet: the caller's own balances, and nobody else's."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.shop import funded
from wallet.models import LedgerAccount, WalletSettings

pytestmark = [pytest.mark.django_db, pytest.mark.database]
URL = "/api/v1/wallet"
Client = Callable[..., APIClient]


def test_wallet_never_funded_reads_as_zero_and_is_not_created(bearer_client: Client) -> None:
    assert bearer_client().get(URL).json() == {"balanceINR": 0, "balanceUSD": 0, "currencyPreference": "INR"}
    assert not LedgerAccount.objects.exists()
    assert not WalletSettings.objects.exists()


def test_wallet_has_the_balances_and_currency_preference_of_the_caller(key_client: Client, django_assert_max_num_queries: Any) -> None:
    user = funded(inr=123_456, usd=99)
    funded(inr=1, usd=1)
    WalletSettings.objects.create(owner=user, currency_preference="USD")
    client = key_client(user)
    client.get(URL)
    # The credential, the balances, the preference.
    with django_assert_max_num_queries(3):
        response = client.get(URL)
    assert response.json() == {"balanceINR": 1234.56, "balanceUSD": 0.99, "currencyPreference": "USD"}
    assert response["Cache-Control"] == "private, no-store"

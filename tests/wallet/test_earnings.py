"""A vendor's earnings: the sum of the ledger, told line by line, to that vendor and nobody else."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Listing
from marketplace.accounts.models import User
from tests.shop import bought, funded, on_sale
from tests.vendors.cases import make_vendor
from wallet.selectors import MAX_TRANSACTION_DURATION, vendor_accounts
from wallet.services.digests import digest_ledger
from wallet.services.refunds import refund_order

from .payees import account_of, earned, paid_payout, payee

pytestmark = [pytest.mark.django_db, pytest.mark.database]
Client = Callable[..., APIClient]
EARNINGS = "/api/v1/vendor/earnings"
NOTHING = {"balances": [{"currency": "INR", "balance": 0}, {"currency": "USD", "balance": 0}], "items": [], "nextCursor": None}


@pytest.fixture
def listing() -> Listing:
    return on_sale(store=payee().store, title="Aurora Sans")


def test_earnings_of_others_and_money_in_the_own_wallet_are_not_shown(bearer_client: Client, listing: Listing) -> None:
    bought(listing)
    vendor = make_vendor().user
    bought(on_sale(), funded(inr=100_000))
    assert bearer_client(vendor).get(EARNINGS).json() == NOTHING


def test_statement_tells_sales_refunds_and_payouts_newest_first(
    bearer_client: Client, listing: Listing, django_assert_max_num_queries: Any
) -> None:
    vendor: User = listing.store.owner
    first, second = bought(listing), bought(listing, funded(usd=1000), currency="USD")
    paid_payout(account_of(vendor.vendor_profile))
    refund_order(order=first, reason="test", actor=None)
    client = bearer_client(vendor)
    client.get(EARNINGS)
    # The credential, the vendor, the last digest, the accounts, a page of each.
    with django_assert_max_num_queries(6):
        answer = client.get(EARNINGS).json()
    # 20 % of 499.00 and of 10.00 are the platform's.
    assert [(line["kind"], line["amount"], line["currency"], line["orderId"], line["title"]) for line in answer["items"]] == [
        ("refund", -399.2, "INR", str(first.id), "Aurora Sans"),
        ("payout", -399.2, "INR", None, None),
        ("sale", 8.0, "USD", str(second.id), "Aurora Sans"),
        ("sale", 399.2, "INR", str(first.id), "Aurora Sans"),
    ]
    # What was paid out and then refunded is owed.
    assert answer["balances"] == [{"currency": "INR", "balance": -399.2}, {"currency": "USD", "balance": 8.0}]


def test_sales_are_earned_once_whether_a_digest_covers_them_or_not(listing: Listing) -> None:
    vendor, share = listing.store.owner, 39_920
    account = vendor_accounts(currency="INR")
    for number in range(1, 4):
        bought(listing)
        assert earned(vendor)["INR"] == number * share
        list(digest_ledger(until=timezone.now()))
        assert earned(vendor)["INR"] == account.get().balance_minor == number * share
    paid_payout(account.get())
    assert earned(vendor)["INR"] == 0
    refund_order(order=bought(listing), reason="test", actor=None)
    list(digest_ledger(until=timezone.now()))
    assert earned(vendor)["INR"] == account.get().balance_minor == 0


def test_sale_of_a_transaction_longer_than_an_hour_is_earned_once_a_digest_covers_it(listing: Listing) -> None:
    vendor, share = listing.store.owner, 39_920
    bought(listing)
    list(digest_ledger(until=timezone.now()))
    long_ago = timezone.now() - MAX_TRANSACTION_DURATION - timedelta(minutes=1)
    buyer = funded(inr=100_000)
    with patch("django.utils.timezone.now", lambda: long_ago):
        bought(listing, buyer)
    assert earned(vendor)["INR"] == share
    list(digest_ledger(until=timezone.now()))
    assert earned(vendor)["INR"] == 2 * share

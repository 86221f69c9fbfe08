"""Buying once: an idempotency key repeats the response and not the purchase, a failure half-way leaves nothing, and few statements do it all."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Listing, ListingStats
from marketplace.core.models import IdempotencyRecord
from tests.shop import bought, funded, on_sale
from wallet.models import Order
from wallet.services import offers, spending

from .purchases import spend
from .spenders import limit, own_key, personal

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("books_agree")]
Client = Callable[..., APIClient]


def test_repeated_idempotency_key_gets_the_same_response_without_a_second_purchase_and_is_refused_with_another_body(
    bearer_client: Client,
) -> None:
    user, listing = funded(inr=1_000_000), on_sale()
    client = bearer_client(user)
    first = spend(client, listing, key="order-1")
    ListingStats.objects.filter(listing=listing).update(purchases=5)
    Listing.objects.filter(pk=listing.pk).update(price_inr_minor=1)
    again = spend(client, listing, key='"order-1"')
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.content == again.content
    assert "Idempotent-Replayed" not in first
    assert again["Idempotent-Replayed"] == "true"
    for other in (spend(client, on_sale(), key="order-1"), spend(client, listing, key="order-1", currency="INR")):
        assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert Order.objects.count() == 1


def test_idempotency_key_of_one_app_neither_reveals_nor_repeats_the_purchase_of_another(key_client: Client) -> None:
    user, listing = funded(inr=1_000_000), on_sale()
    first, second = key_client(user), key_client(user)
    assert spend(first, listing, key="order-1").status_code == 200
    assert spend(second, listing, key="order-1").json()["code"] == "already_owned"
    other = spend(second, on_sale(), key="order-1")
    assert (other.status_code, "Idempotent-Replayed" in other) == (200, False)


def test_idempotency_key_used_again_after_a_day_is_a_new_purchase(bearer_client: Client) -> None:
    client, listing = bearer_client(funded(inr=1_000_000)), on_sale()
    assert spend(client, listing, key="k").status_code == 200
    IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))
    refused = spend(client, listing, key="k")
    assert (refused.status_code, refused.json()["code"]) == (409, "already_owned")
    assert spend(client, on_sale(), key="k").status_code == 200
    assert IdempotencyRecord.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("price", "key", "through", "statements"),
    [
        # BEGIN, limits, offer, debit, order, licence, journal, transfers, popularity, the job that tells of it, COMMIT.
        (49_900, None, own_key, 11),
        # What counts against the limits, and the saved response.
        (49_900, "k", personal, 13),
        # No debit, journal and transfers, but the balances are read.
        (0, None, personal, 8),
    ],
    ids=["paid", "with an idempotency key and a limit", "free"],
)
def test_purchase_sends_a_fixed_number_of_statements(
    django_assert_num_queries: Any, jobs_wait: None, price: int, key: str | None, through: Any, statements: int
) -> None:
    user, store = funded(inr=1_000_000), on_sale().store
    bought(on_sale(store=store, tax_rate_bp=1800), user)
    listing = on_sale(store=store, tax_rate_bp=1800, price_inr_minor=price)
    principal = through(user)
    if principal.kind == "personal":
        limit(principal, total_minor=1_000_000)
    with django_assert_num_queries(statements):
        spending.spend(buyer=user, purchase=offers.PurchaseRequest(str(listing.id)), idempotency_key=key, principal=principal)

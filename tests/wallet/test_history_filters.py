"""Purchases, transactions and the library, narrowed down by time, status and app."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from developers.models import App
from library.models import Licence
from marketplace.accounts.models import User
from tests.factories import AppFactory, UserFactory
from tests.shop import bought, funded, on_sale
from wallet.models import Order
from wallet.services.refunds import refund_order

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

ORDERS, MOVES, LIBRARY = "/api/v1/orders", "/api/v1/wallet/transactions", "/api/v1/library"
Client = Callable[..., APIClient]


@pytest.fixture
def buyer() -> User:
    return funded(inr=10_000_000)


def at(moment: datetime) -> str:
    """Return a time as clients send it."""
    return moment.isoformat()


def ids(client: APIClient, url: str, name: str = "id", **query: Any) -> list[str]:
    """Return the ids on a page, oldest first."""
    answer = client.get(url, query)
    assert answer.status_code == 200, answer.json()
    return [item[name] for item in answer.json()["items"]][::-1]


def ordered(buyer: User, count: int = 3) -> list[Order]:
    """Return purchases, one for each of the last days, oldest first."""
    orders = [bought(on_sale(), buyer) for _ in range(count)]
    for days, order in enumerate(reversed(orders), 1):
        order.created_at = timezone.now() - timedelta(days=days)
        order.save(update_fields=["created_at"])
        Licence.objects.filter(order_id=order.pk).update(acquired_at=order.created_at)
    return orders


@pytest.mark.slow
@pytest.mark.parametrize(("url", "name"), [(ORDERS, "id"), (LIBRARY, "orderId")])
def test_date_filter_includes_its_beginning_and_excludes_its_end(bearer_client: Client, buyer: User, url: str, name: str) -> None:
    first, second, third = ordered(buyer)
    client, moment = bearer_client(buyer), at(second.created_at)
    assert ids(client, url, name, createdAfter=moment) == [str(second.pk), str(third.pk)]
    assert ids(client, url, name, createdBefore=moment) == [str(first.pk)]
    assert ids(client, url, name, createdAfter=moment, createdBefore=at(third.created_at)) == [str(second.pk)]
    assert ids(client, url, name, createdAfter="") == [str(order.pk) for order in (first, second, third)]
    # What is owned in all is counted whatever is shown.
    assert url != LIBRARY or client.get(url, {"createdAfter": at(timezone.now())}).json()["ownedCount"] == 3


@pytest.mark.slow
def test_date_filter_applies_to_every_page(bearer_client: Client, buyer: User) -> None:
    orders = ordered(buyer, 4)
    query: dict[str, Any] = {"limit": 2, "createdAfter": at(orders[1].created_at)}
    client = bearer_client(buyer)
    page = client.get(ORDERS, query).json()
    rest = client.get(ORDERS, query | {"cursor": page["nextCursor"]}).json()
    assert [item["id"] for item in page["items"] + rest["items"]] == [str(order.pk) for order in orders[:0:-1]]
    assert rest["nextCursor"] is None


def test_orders_are_filtered_by_status(bearer_client: Client, buyer: User) -> None:
    kept, refunded = ordered(buyer, 2)
    refund_order(order=refunded, reason="Broken.", actor=UserFactory())
    client = bearer_client(buyer)
    assert ids(client, ORDERS, status="Completed") == [str(kept.pk)]
    assert ids(client, ORDERS, status="Refunded") == [str(refunded.pk)]


@pytest.mark.slow
def test_orders_and_transactions_are_filtered_by_app(bearer_client: Client, buyer: User) -> None:
    app: App = AppFactory()
    own, through = ordered(buyer, 2)
    Order.objects.filter(pk=through.pk).update(app=app)
    client = bearer_client(buyer)
    assert ids(client, ORDERS, appId=str(app.pk)) == [str(through.pk)]
    assert ids(client, MOVES, "orderId", appId=str(app.pk)) == [str(through.pk)]
    assert ids(client, ORDERS, appId=str(own.pk)) == ids(client, MOVES, appId="nonsense") == []


def test_transactions_are_filtered_by_date_and_kind(bearer_client: Client, buyer: User) -> None:
    client = bearer_client(buyer)
    bought(on_sale(), buyer)
    [purchase, funding] = client.get(MOVES).json()["items"]
    assert ids(client, MOVES, createdAfter=purchase["at"]) == ids(client, MOVES, kind="purchase") == [purchase["id"]]
    assert ids(client, MOVES, createdBefore=purchase["at"]) == ids(client, MOVES, kind="funding") == [funding["id"]]
    assert ids(client, MOVES, kind="refund") == []


def test_date_filter_accepts_a_time_before_the_year_1(bearer_client: Client, buyer: User) -> None:
    [order] = ordered(buyer, 1)
    client = bearer_client(buyer)
    for moment in ("0001-01-01T00:00:00+05:00", "0000-12-31T00:00:00Z"):
        assert ids(client, ORDERS, createdAfter=moment) == [str(order.pk)]
        assert ids(client, ORDERS, createdBefore=moment) == []

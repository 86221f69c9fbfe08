"""Wallet, orders, receipts and transactions: one's own, newest first, as asked for, and nobody else's."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Deliverable, LicenseTier, Listing, Store
from catalog.services.taxonomy import save_license_tier
from developers.models import App
from library.models import Licence
from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from tests.factories import AppFactory, UserFactory
from tests.shop import bought, funded, on_sale
from wallet.models import Journal, LedgerAccount, Order, WalletSettings
from wallet.services.refunds import refund_order

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]
Client = Callable[..., APIClient]
ORDERS, MOVES, WALLET = "/api/v1/orders", "/api/v1/wallet/transactions", "/api/v1/wallet"


@pytest.fixture
def buyer() -> User:
    return funded(inr=10_000_000, usd=50_000)


@pytest.mark.parametrize("url", [ORDERS, MOVES])
def test_pages_of_orders_and_transactions_neither_repeat_nor_skip_rows(bearer_client: Client, buyer: User, url: str) -> None:
    for _ in range(4):
        bought(on_sale(), buyer)
    # All at the same moment: the id decides.
    Order.objects.update(created_at=timezone.now())
    client, seen = bearer_client(buyer), []
    cursor: str | None = ""
    while cursor is not None:
        page = client.get(url, {"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["nextCursor"]
    rows = Order.objects.filter(buyer=buyer) if url == ORDERS else Journal.objects.all()
    assert len(seen) == len(set(seen)) == rows.count()
    assert seen == sorted(seen, reverse=True)


def test_order_shows_the_price_and_the_app_that_bought_it(key_client: Client, buyer: User, django_assert_max_num_queries: Any) -> None:
    listing = on_sale(tax_rate_bp=1800, version="1.2")
    order = bought(listing, buyer, license_slug="commercial")
    client = key_client(user=buyer)
    client.get(ORDERS)
    # The credential, the page.
    with django_assert_max_num_queries(2):
        (item,) = client.get(ORDERS).json()["items"]
    assert item == client.get(f"{ORDERS}/{order.id}").json()
    assert (item["id"], item["assetId"], item["title"]) == (str(order.id), str(listing.id), listing.title)
    assert (item["price"], item["taxIncluded"], item["currency"]) == (998.0, 152.24, "INR")
    assert (item["licenseSlug"], item["status"], item["refundedAt"], item["appId"]) == ("commercial", "Completed", None, None)


def test_refund_is_shown_in_order_transactions_and_receipt(bearer_client: Client, buyer: User) -> None:
    order = bought(on_sale(), buyer)
    refund_order(order=order, reason="test", actor=None)
    client = bearer_client(buyer)
    item = client.get(f"{ORDERS}/{order.id}").json()
    assert item["status"] == "Refunded"
    assert item["refundedAt"].endswith("Z")
    moves = client.get(MOVES).json()["items"]
    assert [(move["kind"], move["amount"], move["currency"]) for move in moves] == [
        ("refund", 499.0, "INR"),
        ("purchase", -499.0, "INR"),
        ("funding", 500.0, "USD"),
        ("funding", 100_000.0, "INR"),
    ]
    assert [move["orderId"] for move in moves] == [str(order.id), str(order.id), None, None]
    assert [move["title"] for move in moves] == [order.listing.title, order.listing.title, None, None]
    assert (ids(client, ORDERS, status="Refunded"), ids(client, ORDERS, status="Completed")) == ([str(order.id)], [])
    assert "Refunded" in client.get(f"{ORDERS}/{order.id}/receipt").content.decode()


def test_transactions_are_the_buyers_view_of_the_ledger(bearer_client: Client, buyer: User, django_assert_max_num_queries: Any) -> None:
    vendor_sale = on_sale(tax_rate_bp=1800)
    for _ in range(3):
        bought(on_sale(tax_rate_bp=1800), buyer)
    bought(vendor_sale)
    client = bearer_client(buyer)
    client.get(MOVES)
    # The credential, the wallets, a page of each; however many legs and orders there are.
    with django_assert_max_num_queries(4):
        moves = client.get(MOVES).json()["items"]
    wallet = client.get(WALLET).json()
    for currency in ("INR", "USD"):
        newest, *earlier = [move for move in moves if move["currency"] == currency]
        assert newest["balanceAfter"] == wallet[f"balance{currency}"]
        for later, before in zip([newest, *earlier], earlier, strict=False):
            assert round(later["balanceAfter"] - later["amount"], 2) == before["balanceAfter"]
    assert round(sum(move["amount"] for move in moves if move["currency"] == "INR"), 2) == wallet["balanceINR"]
    # A vendor's earnings are not in the vendor's wallet.
    assert bearer_client(vendor_sale.store.owner).get(MOVES).json()["items"] == []


def test_receipt_is_a_page_without_scripts_and_with_nothing_from_elsewhere(bearer_client: Client, buyer: User) -> None:
    order = bought(on_sale(title="<script>alert(1)</script> Ünïcode 字", tax_rate_bp=1800), buyer)
    response = bearer_client(buyer).get(f"{ORDERS}/{order.id}/receipt")
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert response["Content-Security-Policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert response["Cache-Control"] == "private, no-store"
    page = BeautifulSoup(response.content, "html.parser")
    assert not page.find_all(["script", "img", "link", "form"])
    text = page.get_text(" ", strip=True)
    assert "<script>alert(1)</script> Ünïcode 字, licence Personal" in text
    for words in (str(order.id), buyer.email, order.listing.store.name, "INR 422.88", "INR 76.12", "INR 499.00"):
        assert words in text


def test_order_keeps_the_names_of_the_time_of_the_sale(bearer_client: Client, buyer: User) -> None:
    listing = on_sale(title="Aurora", tax_rate_bp=1800, version="1.0")
    assert listing.approved_deliverable is not None
    listing.approved_deliverable.version = "1.1"
    listing.approved_deliverable.save()
    store_name, tier = listing.store.name, LicenseTier.objects.get(slug="personal")
    order = bought(listing, buyer)
    client = bearer_client(buyer)
    urls = [ORDERS, f"{ORDERS}/{order.id}", MOVES, f"{ORDERS}/{order.id}/receipt", f"/api/v1/library/{listing.id}/certificate"]
    before = [client.get(url).content for url in urls]
    Listing.objects.filter(pk=listing.pk).update(title="Borealis", tax_rate_bp=500, version="2.0")
    Deliverable.objects.filter(pk=listing.approved_deliverable.pk).update(version="2.0")
    Store.objects.filter(pk=listing.store_id).update(name="Renamed")
    tier.name = "Home"
    save_license_tier(tier=tier, changed=["name"], actor=UserFactory())
    after = [client.get(url).content for url in urls]
    assert after == before
    item = client.get(urls[1]).json()
    assert (item["title"], item["seller"], item["licenseName"], item["version"]) == ("Aurora", store_name, "Personal", "1.1")
    assert (item["taxRatePercent"], item["taxIncluded"]) == (18, 76.12)
    claims = client.get(urls[-1]).json()["certificate"]
    assert (claims["asset"]["title"], claims["asset"]["vendor"], claims["version"]) == ("Aurora", store_name, "1.1")
    assert claims["license"]["name"] == "Personal"


def test_receipt_as_pdf_takes_any_title_and_is_offered_for_saving(bearer_client: Client, buyer: User) -> None:
    for title in ("<b>bold</b></para><para>&amp;", "देवनागरी 汉字 한국어 🎉", "\u202eesrever\x0b" + "字" * 110):
        order = bought(on_sale(title=title), buyer)
        response = bearer_client(buyer).get(f"{ORDERS}/{order.id}/receipt.pdf")
        assert (response["Content-Type"], response["Cache-Control"]) == ("application/pdf", "private, no-store")
        assert response["Content-Disposition"] == f'attachment; filename="receipt-{order.id}.pdf"'
        assert (response.content[:5], response.content.rstrip()[-5:]) == (b"%PDF-", b"%%EOF")


def test_currency_preference_decides_in_what_a_purchase_is_paid(bearer_client: Client, buyer: User) -> None:
    client = bearer_client(buyer)
    read = client.get(WALLET).json()
    # What was read can be sent back.
    changed = client.patch(WALLET, read | {"currencyPreference": "USD"}, format="json").json()
    assert changed == read | {"currencyPreference": "USD"}
    client.patch(WALLET, {"currencyPreference": "USD"}, format="json")
    assert AuditEntry.objects.filter(action="wallet.preference").count() == 1
    assert bought(on_sale(), buyer).currency == "USD"


def test_wallet_never_funded_reads_as_zero_and_is_not_created(bearer_client: Client) -> None:
    assert bearer_client().get(WALLET).json() == {"balanceINR": 0, "balanceUSD": 0, "currencyPreference": "INR"}
    assert not LedgerAccount.objects.exists()
    assert not WalletSettings.objects.exists()


def test_wallet_has_the_balances_and_currency_preference_of_the_caller(key_client: Client, django_assert_max_num_queries: Any) -> None:
    user = funded(inr=123_456, usd=99)
    funded(inr=1, usd=1)
    WalletSettings.objects.create(owner=user, currency_preference="USD")
    client = key_client(user)
    client.get(WALLET)
    # The credential, the balances, the preference.
    with django_assert_max_num_queries(3):
        response = client.get(WALLET)
    assert response.json() == {"balanceINR": 1234.56, "balanceUSD": 0.99, "currencyPreference": "USD"}
    assert response["Cache-Control"] == "private, no-store"


LIBRARY = "/api/v1/library"


def ids(client: APIClient, url: str, name: str = "id", **query: Any) -> list[str]:
    answer = client.get(url, query)
    assert answer.status_code == 200, answer.json()
    return [item[name] for item in answer.json()["items"]][::-1]


def ordered(buyer: User, count: int = 3) -> list[Order]:
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
    client, moment = bearer_client(buyer), second.created_at.isoformat()
    assert ids(client, url, name, createdAfter=moment) == [str(second.pk), str(third.pk)]
    assert ids(client, url, name, createdBefore=moment) == [str(first.pk)]
    assert ids(client, url, name, createdAfter=moment, createdBefore=third.created_at.isoformat()) == [str(second.pk)]
    assert ids(client, url, name, createdAfter="") == [str(order.pk) for order in (first, second, third)]


@pytest.mark.slow
def test_library_counts_all_that_is_owned_whatever_is_shown(bearer_client: Client, buyer: User) -> None:
    ordered(buyer)
    shown = bearer_client(buyer).get(LIBRARY, {"createdAfter": timezone.now().isoformat()}).json()
    assert (shown["items"], shown["ownedCount"]) == ([], 3)


@pytest.mark.slow
def test_orders_and_transactions_are_filtered_by_app(bearer_client: Client, buyer: User) -> None:
    app: App = AppFactory()
    own, through = ordered(buyer, 2)
    Order.objects.filter(pk=through.pk).update(app=app)
    client = bearer_client(buyer)
    assert ids(client, ORDERS, appId=str(app.pk)) == [str(through.pk)]
    assert ids(client, MOVES, "orderId", appId=str(app.pk)) == [str(through.pk)]
    assert ids(client, ORDERS, appId=str(own.pk)) == ids(client, MOVES, appId="nonsense") == []


def test_transactions_are_filtered_by_date_and_kind(bearer_client: Client) -> None:
    buyer = funded(inr=100_000)
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

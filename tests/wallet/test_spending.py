"""Buying: every refusal leaves everything as it was; a purchase does all of it."""

from collections.abc import Callable

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import ListingStats
from catalog.services.purchase_counts import count_purchases
from tests.factories import ListingFactory, UserFactory
from tests.shop import bought, funded, on_sale, store_keeping
from wallet.models import Journal, LedgerAccount, Order, Transfer, WalletSettings
from wallet.selectors import wallet_of

from .purchases import assert_refused, spend

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("books_agree")]
Client = Callable[..., APIClient]


def test_listing_that_is_not_for_sale_is_not_found(bearer_client: Client) -> None:
    closed, malicious = on_sale(), on_sale()
    closed.store.is_open = False
    closed.store.save()
    assert malicious.approved_deliverable is not None
    malicious.approved_deliverable.blocked_at = timezone.now()
    malicious.approved_deliverable.save()
    client = bearer_client(funded(inr=100_000))
    for listing in (ListingFactory(price_inr_minor=100), closed, malicious):
        assert_refused(spend(client, listing), 404, "not_found")


def test_tier_below_the_requirement_is_refused(bearer_client: Client) -> None:
    listing = on_sale(tier_requirement="pro")
    response = spend(bearer_client(funded(inr=100_000, tier="go")), listing)
    assert_refused(response, 403, "tier_required")
    assert response.json()["requiredTier"] == "pro"
    assert spend(bearer_client(funded(inr=100_000, tier="vip")), listing).status_code == 200


def test_purchase_without_enough_balance_in_its_currency_is_refused_with_price_and_balance(bearer_client: Client) -> None:
    listing = on_sale()
    for user, balance in ((UserFactory(), 0), (funded(usd=1_000_000), 0), (funded(inr=49_899), 498.99)):
        before = wallet_of(user)
        response = spend(bearer_client(user), listing)
        assert_refused(response, 402, "insufficient_balance")
        problem = response.json()
        assert (problem["price"], problem["currency"], problem["balance"]) == (499.0, "INR", balance)
        assert wallet_of(user) == before


def test_currency_without_a_price_is_refused_naming_the_others(bearer_client: Client) -> None:
    response = spend(bearer_client(funded(inr=1_000_000, usd=1_000_000)), on_sale(price_inr_minor=None))
    assert_refused(response, 409, "price_unavailable")
    assert response.json()["availableCurrencies"] == ["USD"]


def test_licence_that_is_not_sold_is_refused_naming_the_others(bearer_client: Client) -> None:
    client, listing = bearer_client(funded(inr=1_000_000)), on_sale(allowed_license_slugs=["personal", "commercial"])
    for slug in ("extended", "unknown"):
        response = spend(client, listing, licenseSlug=slug)
        assert_refused(response, 409, "license_not_available")
        assert response.json()["availableLicenses"] == ["personal", "commercial"]
        assert response.json()["detail"] == "Licences on sale: personal, commercial."
    response = spend(client, on_sale(allowed_license_slugs=["gone"]))
    assert_refused(response, 409, "license_not_available")
    assert response.json()["detail"] == "Licences on sale: none."


def test_purchase_response_shows_amounts_and_balances(bearer_client: Client) -> None:
    answer = spend(bearer_client(funded(inr=100_000, usd=500)), on_sale(tax_rate_bp=1800).slug).json()
    assert (answer["currency"], answer["debited"], answer["newBalance"], answer["taxIncluded"]) == ("INR", 499.0, 501.0, 76.12)
    assert [answer[name] for name in ("debitedINR", "newBalanceINR", "debitedUSD", "newBalanceUSD")] == [499.0, 501.0, 0.0, 5.0]


def test_price_is_split_into_tax_commission_and_the_vendors_share(bearer_client: Client) -> None:
    listing = on_sale(tax_rate_bp=1800)
    order = bought(listing)
    assert (order.price_minor, order.tax_minor, order.commission_minor, order.vendor_share_minor) == (49_900, 7_612, 8_458, 33_830)
    legs = Transfer.objects.filter(journal__order=order).values_list("debit__kind", "credit__kind", "credit__owner", "amount_minor")
    assert set(legs) == {
        ("wallet", "tax", None, 7_612),
        ("wallet", "commission", None, 8_458),
        ("wallet", "vendor", listing.store.owner_id, 33_830),
    }
    assert count_purchases() == 1
    assert ListingStats.objects.get(listing=listing).purchases == 1


def test_order_records_app_and_credential_of_the_purchase(key_client: Client) -> None:
    user = funded(inr=100_000)
    spend(key_client(user), on_sale())
    order = Order.objects.get()
    assert order.app is not None
    assert (order.app.user, order.credential_kind) == (user, "api_key")
    assert order.credential_id == order.app.api_keys.get().id
    assert order.request_id != ""


def test_tax_commission_and_vendor_share_add_up_to_the_price() -> None:
    for price, rate in ((1, 1), (1, 5000), (3, 3333), (77, 3333), (49_901, 1), (49_901, 5000)):
        order = bought(on_sale(store=store_keeping(rate), price_inr_minor=price, tax_rate_bp=1800))
        assert order.tax_minor + order.commission_minor + order.vendor_share_minor == price
        assert min(order.tax_minor, order.commission_minor, order.vendor_share_minor) >= 0


def test_share_of_zero_makes_no_transfer() -> None:
    for rate, leg in ((0, "vendor"), (10_000, "commission")):
        order = bought(on_sale(store=store_keeping(rate)))
        assert set(Transfer.objects.filter(journal__order=order).values_list("credit__kind", flat=True)) == {leg}


def test_free_listing_is_bought_without_a_wallet_and_makes_a_zero_order_and_no_ledger_entry(bearer_client: Client) -> None:
    listing = on_sale(base_price_minor=1000, price_inr_minor=0)
    answer = spend(bearer_client(), listing, currency="USD", licenseSlug="extended").json()
    assert (answer["debited"], answer["licenseSlug"]) == (0, "extended")
    assert {name: answer[name] for name in answer if "alance" in name} == {"newBalance": 0, "newBalanceINR": 0, "newBalanceUSD": 0}
    assert Order.objects.get().price_minor == 0
    assert not Journal.objects.exists()
    assert not LedgerAccount.objects.exists()


def test_discounted_price_is_charged_in_the_named_currency_or_in_that_of_the_settings(bearer_client: Client) -> None:
    user = funded(usd=2000, inr=100)
    client = bearer_client(user)
    response = spend(client, on_sale(discount_bp=3333), currency="USD").json()
    assert (response["currency"], response["debitedUSD"], response["newBalanceUSD"]) == ("USD", 6.67, 13.33)
    assert (response["debitedINR"], response["newBalanceINR"]) == (0, 1)
    WalletSettings.objects.create(owner=user, currency_preference="USD")
    assert spend(client, on_sale()).json()["currency"] == "USD"

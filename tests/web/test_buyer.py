"""Buying, the wallet and the library on pages: the unhappy ways first."""

from collections.abc import Callable
from datetime import timedelta
from itertools import product
from typing import Any
from unittest.mock import Mock

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from redis.exceptions import RedisError

from catalog.models import Listing
from catalog.services.submission import unpublish_listing
from marketplace.accounts.models import User
from tests.shop import archive, bought, funded, on_sale
from wallet.delivery_consent import IMMEDIATE_DELIVERY
from wallet.models import Order, Quote
from wallet.selectors import wallet_of
from wallet.services.refunds import refund_order

from .markup import read, soup

pytestmark = pytest.mark.django_db

Browse = Callable[..., Client]
PRICE = 49_900
PAY = {"consent": IMMEDIATE_DELIVERY.version}


def begin(client: Client, listing: Listing, **choices: str) -> Any:
    return client.post(reverse("checkout-begin", args=[listing.slug]), {"license": "personal", "currency": "INR"} | choices)


def said(client: Client, response: Any) -> str:
    return read(client.get(response["Location"]))


@pytest.fixture
def buyer() -> User:
    return funded(inr=100_000)


def test_buyer_who_comes_back_from_the_sign_in_lands_on_the_listing(browse: Browse, buyer: User) -> None:
    listing = on_sale()
    assert browse(buyer).get(reverse("checkout-begin", args=[listing.slug]))["Location"] == f"/assets/{listing.slug}"


def test_own_listing_and_owned_licence_are_not_sold(browse: Browse, buyer: User) -> None:
    listing = on_sale()
    client = browse(listing.store.owner)
    assert "own listing" in said(client, begin(client, listing))
    bought(listing, buyer)
    client = browse(buyer)
    begin(client, listing)
    assert Order.objects.count() == 1
    assert not Quote.objects.exists()


def test_purchase_is_confirmed_and_charged_once_however_often_it_is_sent(browse: Browse, buyer: User) -> None:
    listing = on_sale(title="Halden")
    client = browse(buyer)
    address = begin(client, listing)["Location"]
    page = client.get(address).content.decode()
    for words in ("Buy Halden?", "₹1,000.00", "₹499.00", "₹501.00", "Pay ₹499.00"):
        assert words in page
    assert not Order.objects.exists()
    first, second = client.post(address, PAY), client.post(address, PAY)
    assert first["Location"] == second["Location"] == reverse("order-page", args=[Order.objects.get().pk])
    assert wallet_of(buyer).balance_inr_minor == 100_000 - PRICE
    assert "Halden is yours" in said(client, first)
    assert client.get(address)["Location"] == first["Location"]


@pytest.mark.slow
def test_payment_sent_again_after_a_refund_does_not_say_that_the_asset_is_the_buyers(browse: Browse, buyer: User) -> None:
    client = browse(buyer)
    address = begin(client, on_sale(title="Halden"))["Location"]
    assert "Halden is yours" in said(client, client.post(address, PAY))
    refund_order(order=Order.objects.get(), reason="broken", actor=None)
    assert "Halden is yours" not in said(client, client.post(address, PAY))


@pytest.mark.slow
def test_purchase_of_a_viewer_who_sees_euros_begins_with_the_currency_of_the_wallet(browse: Browse, buyer: User) -> None:
    client, listing = browse(buyer), on_sale(price_eur_minor=900)
    client.post(reverse("wallet-preference"), {"currency": "USD"})
    pages = (f"{reverse('asset-page', args=[listing.slug])}?currency=EUR", reverse("checkout-begin-for-other", args=[listing.slug]))
    for page in pages:
        chosen = soup(client.get(page)).select("form [name=currency] option[selected]")
        assert [option["value"] for option in chosen] == ["USD"], page


@pytest.mark.slow
def test_currency_chosen_for_the_wallet_counts_more_than_one_chosen_for_prices_before(browse: Browse, buyer: User) -> None:
    client, page = browse(buyer), reverse("asset-page", args=[on_sale().slug])
    client.get(f"{page}?currency=USD")
    client.post(reverse("wallet-preference"), {"currency": "INR"})
    assert [option["value"] for option in soup(client.get(page)).select("#pay-in option[selected]")] == ["INR"]


def test_checkout_works_without_the_rate_limit_store(browse: Browse, buyer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    client, listing = browse(buyer), on_sale()
    monkeypatch.setattr("marketplace.http.rate_limits.get_usage", Mock(side_effect=RedisError))
    address = begin(client, listing)["Location"]
    client.post(address, PAY)
    assert Order.objects.get().listing == listing


def test_order_keeps_the_consent_text_shown_and_an_outdated_one_is_refused(browse: Browse, buyer: User) -> None:
    client = browse(buyer)
    address = begin(client, on_sale())["Location"]
    assert IMMEDIATE_DELIVERY.text in client.get(address).content.decode()
    for sent in ({}, {"consent": "of-yesterday"}):
        assert client.post(address, sent)["Location"] == address
        assert not Order.objects.exists()
    client.post(address, PAY)
    order = Order.objects.get()
    assert (order.consent_version, order.consent_text) == (IMMEDIATE_DELIVERY.version, IMMEDIATE_DELIVERY.text)
    assert bought(on_sale(), buyer).consent_version == ""


def test_checkout_says_that_the_balance_is_too_low_and_charges_nothing(browse: Browse) -> None:
    client = browse(funded(inr=100))
    address = begin(client, on_sale())["Location"]
    assert "Pay ₹" not in read(client.get(address))
    assert "holds 1.00 INR" in said(client, client.post(address, PAY))
    assert not Order.objects.exists()


def test_expired_quote_is_not_charged(browse: Browse, buyer: User) -> None:
    client = browse(buyer)
    address = begin(client, on_sale())["Location"]
    long_ago = timezone.now() - timedelta(hours=2)
    Quote.objects.update(created_at=long_ago, expires_at=long_ago + timedelta(minutes=10))
    assert "The quote expired" in read(client.get(address))
    assert client.post(address, PAY)["Location"] == address
    assert not Order.objects.exists()


@pytest.mark.slow
def test_discount_code_that_cannot_be_one_is_refused_on_the_listing_which_says_why(browse: Browse, buyer: User) -> None:
    client = browse(buyer)
    answer = begin(client, on_sale(), discount_code="NUL\0NUL")
    assert "letters, digits and hyphens" in said(client, answer)
    assert not Quote.objects.exists()


def test_checkout_says_that_the_asset_is_no_longer_on_sale_and_charges_nothing(browse: Browse, buyer: User) -> None:
    listing = on_sale(title="Halden")
    client = browse(buyer)
    address = begin(client, listing)["Location"]
    unpublish_listing(listing=listing, actor=listing.store.owner)
    assert client.post(address, PAY)["Location"] == address
    page = read(client.get(address), 404)
    assert "Halden is no longer on sale" in page
    assert "Pay ₹" not in page
    assert not Order.objects.exists()


def test_invalid_cursor_of_wallet_and_library_pages_is_not_found(browse: Browse, buyer: User) -> None:
    client = browse(buyer)
    for name, cursor in product(("wallet-page", "library-page"), ("x", "AAAA", "%00", "a" * 400)):
        assert client.get(f"{reverse(name)}?after={cursor}").status_code == 404


@pytest.mark.slow
def test_currency_of_purchases_is_chosen_and_nonsense_refused(browse: Browse, buyer: User) -> None:
    client = browse(buyer)
    client.post(reverse("wallet-preference"), {"currency": "USD"})
    assert wallet_of(buyer).currency_preference == "USD"
    for nonsense in ("EUR", "", "BTC"):
        assert "Wallets hold" in said(client, client.post(reverse("wallet-preference"), {"currency": nonsense}))
    assert wallet_of(buyer).currency_preference == "USD"


@pytest.mark.slow
def test_nul_characters_and_overlong_values_of_buyer_forms_are_refused(browse: Browse, buyer: User) -> None:
    listing = on_sale(archive())
    client = browse(buyer)
    for nonsense in ({"license": "\0"}, {"license": "x" * 10_000}, {"currency": "\0"}, {"discount_code": "NUL\0NUL"}):
        assert begin(client, listing, **nonsense).status_code == 302, nonsense
    bought(listing, buyer)
    for name in ("\0", "x" * 5_000):
        assert client.post(reverse("library-item-download", args=[listing.slug]), {"version": name}).status_code == 404
        assert client.get(reverse("library-item-certificate", args=[listing.slug]), {"license": name}).status_code == 404
        assert "Wallets hold" in said(client, client.post(reverse("wallet-preference"), {"currency": name}))


@pytest.mark.slow
def test_long_library_and_wallet_lists_are_paginated_also_where_the_last_page_is_empty_meanwhile(browse: Browse) -> None:
    buyer = funded(inr=10_000_000)
    for _ in range(26):
        bought(on_sale(), buyer)
    client = browse(buyer)
    older = client.get(reverse("library-page")).context["next"]
    assert len(client.get(older).context["rows"]) == 26 - 25
    refund_order(order=Order.objects.earliest("created_at"), reason="broken", actor=None)
    page = read(client.get(older))
    assert ("25 licences" in page, "Your library is empty" in page, "← Newest" in page) == (True, False, True)
    older = client.get(reverse("wallet-page")).context["next"]
    assert len(client.get(older).context["journals"]) == 28 - 25

"""Buying, the wallet and the library on pages: the unhappy ways first."""

from collections.abc import Callable
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from redis.exceptions import RedisError

from catalog.models import Listing
from catalog.services.submission import unpublish_listing
from marketplace.accounts.models import User
from tests.factories import UserFactory
from tests.shop import archive, bought, funded, on_sale
from wallet.delivery_consent import IMMEDIATE_DELIVERY
from wallet.models import Order, Quote
from wallet.selectors import wallet_of
from wallet.services.refunds import refund_order

from .markup import read

pytestmark = pytest.mark.django_db

Browse = Callable[..., Client]
PRICE = 49_900
PAY = {"consent": IMMEDIATE_DELIVERY.version}


def begin(client: Client, listing: Listing, **choices: str) -> Any:
    """Press the button on the listing's page."""
    return client.post(reverse("checkout-begin", args=[listing.slug]), {"license": "personal", "currency": "INR"} | choices)


def said(client: Client, response: Any) -> str:
    """Return the page that an answer leads to."""
    return read(client.get(response["Location"]))


@pytest.fixture
def buyer() -> User:
    return funded(inr=100_000)


def test_buyer_who_comes_back_from_the_sign_in_lands_on_the_listing(browse: Browse, buyer: User) -> None:
    listing = on_sale()
    assert browse(buyer).get(reverse("checkout-begin", args=[listing.slug]))["Location"] == f"/assets/{listing.slug}"


@pytest.mark.slow
def test_refusal_before_the_confirmation_is_told_on_the_listing(browse: Browse, buyer: User) -> None:
    listing = on_sale()
    client = browse(buyer)
    assert "Licences on sale" in said(client, begin(client, listing, license="galactic"))


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


def test_checkout_works_without_the_rate_limit_store(browse: Browse, buyer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    client, listing = browse(buyer), on_sale()

    def down(*_args: object, **_kwargs: object) -> None:
        raise RedisError

    monkeypatch.setattr("marketplace.http.rate_limits.get_usage", down)
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
    page = client.get(address).content.decode()
    assert "balance is too low" in page
    assert "Pay ₹" not in page
    assert "holds 1.00 INR" in said(client, client.post(address, PAY))
    assert not Order.objects.exists()


def test_expired_quote_is_not_charged(browse: Browse, buyer: User) -> None:
    client = browse(buyer)
    address = begin(client, on_sale())["Location"]
    long_ago = timezone.now() - timedelta(hours=2)
    Quote.objects.update(created_at=long_ago, expires_at=long_ago + timedelta(minutes=10))
    assert "The quote expired" in client.get(address).content.decode()
    assert client.post(address, PAY)["Location"] == address
    assert not Order.objects.exists()


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
def test_wallet_page_shows_purchases_refunds_and_credits(browse: Browse, buyer: User) -> None:
    for number in range(2):
        bought(on_sale(title=f"Font {number}"), buyer)
    refund_order(order=Order.objects.latest("created_at"), reason="Broken", actor=UserFactory(is_staff=True, is_superuser=True))
    text = read(browse(buyer).get(reverse("wallet-page")))
    for words in ("Font 0", "Font 1", "refund", "−₹499.00", "₹501.00", "Credit"):  # noqa: RUF001 - the minus sign that people read
        assert words in text
    assert "Older" not in text


@pytest.mark.slow
def test_currency_of_purchases_is_chosen_and_nonsense_refused(browse: Browse, buyer: User) -> None:
    client = browse(buyer)
    client.post(reverse("wallet-preference"), {"currency": "USD"})
    assert wallet_of(buyer).currency_preference == "USD"
    for nonsense in ("EUR", "", "BTC"):
        assert "Wallets hold" in said(client, client.post(reverse("wallet-preference"), {"currency": nonsense}))
    assert wallet_of(buyer).currency_preference == "USD"


@pytest.mark.slow
def test_order_page_links_to_its_receipt(browse: Browse, buyer: User) -> None:
    order = bought(on_sale(title="Halden", tax_rate_bp=1800), buyer)
    client = browse(buyer)
    assert "₹76.12" in read(client.get(reverse("order-page", args=[order.pk])))
    paper = client.get(reverse("order-page-receipt", args=[order.pk]))
    assert paper["Content-Type"] == "application/pdf"
    assert paper.content.startswith(b"%PDF")


@pytest.mark.slow
def test_owned_asset_is_downloaded_and_certified(browse: Browse, buyer: User) -> None:
    listing = on_sale(archive(), title="Halden")
    bought(listing, buyer)
    client = browse(buyer)
    for address in (reverse("library-page"), reverse("library-item", args=[listing.slug])):
        assert "Halden" in read(client.get(address))
    page = client.post(reverse("library-item-download", args=[listing.slug]))
    read(page)
    link = str(page.context["url"]).removeprefix("http://testserver")
    package = b"".join(client.get(link))
    assert package.startswith(b"PK")
    paper = client.get(reverse("library-item-certificate", args=[listing.slug]))
    assert paper.content.startswith(b"%PDF")
    assert client.get(reverse("library-item-download", args=[listing.slug])).status_code == 405


@pytest.mark.slow
def test_nul_characters_and_overlong_values_of_buyer_forms_are_refused(browse: Browse, buyer: User) -> None:
    listing = on_sale(archive())
    client = browse(buyer)
    for nonsense in ({"license": "\0"}, {"license": "x" * 10_000}, {"currency": "\0"}):
        assert begin(client, listing, **nonsense).status_code == 302, nonsense
    bought(listing, buyer)
    for name in ("\0", "x" * 5_000):
        assert client.post(reverse("library-item-download", args=[listing.slug]), {"version": name}).status_code == 404
        assert client.get(reverse("library-item-certificate", args=[listing.slug]), {"license": name}).status_code == 404
        assert "Wallets hold" in said(client, client.post(reverse("wallet-preference"), {"currency": name}))


@pytest.mark.slow
def test_long_library_and_wallet_lists_are_paginated(browse: Browse) -> None:
    buyer = funded(inr=10_000_000)
    for _ in range(26):
        bought(on_sale(), buyer)
    client = browse(buyer)
    older = client.get(reverse("library-page")).context["next"]
    assert len(client.get(older).context["rows"]) == 26 - 25
    older = client.get(reverse("wallet-page")).context["next"]
    assert len(client.get(older).context["journals"]) == 27 - 25

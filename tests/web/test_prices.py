"""Discounts and licence upgrades on pages."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.models import Discount
from catalog.services.visibility import listing_changed
from tests.shop import bought, funded, on_sale
from tests.vendors.cases import make_vendor
from wallet.delivery_consent import IMMEDIATE_DELIVERY
from wallet.models import Order

from .markup import read
from .test_shop import page_at

pytestmark = pytest.mark.django_db
Browse = Callable[..., Client]
DAY = timedelta(days=1)


def text(client: Client, address: str) -> str:
    return " ".join(page_at(client, address).select("main")[0].get_text(" ").split())


@pytest.mark.slow
def test_running_discount_is_shown_with_the_old_price_and_its_end(client: Client) -> None:
    listing = on_sale()
    discount = Discount.objects.create(listing=listing, percent=30, ends_at=timezone.now() + DAY)
    listing_changed(listing)
    page = page_at(client, f"/assets/{listing.slug}")
    assert f"until {discount.ends_at:%-d %b %Y, %H:%M} UTC" in page.get_text()
    assert [old.get_text() for old in page.select("del .number")] == ["$10.00", "$20.00", "$50.00"]


@pytest.mark.slow
def test_discount_code_is_entered_on_the_listing_and_shown_at_the_checkout(browse: Browse) -> None:
    listing, buyer = on_sale(), funded(inr=100_000)
    Discount.objects.create(listing=listing, percent=30, code="SPRING", ends_at=timezone.now() + DAY)
    client = browse(buyer)
    choices = {"license": "personal", "currency": "INR", "discount_code": " spring "}
    answer = client.post(reverse("checkout-begin", args=[listing.slug]), choices, follow=True)
    assert "SPRING" in read(answer)
    client.post(answer.request["PATH_INFO"], {"consent": IMMEDIATE_DELIVERY.version})
    order = Order.objects.get()
    assert (order.price_minor, order.discount_code) == (34_930, "SPRING")
    assert "149.70" in text(client, reverse("order-page", args=[order.pk]))


@pytest.mark.slow
def test_long_values_of_a_forged_form_are_not_repeated(browse: Browse) -> None:
    listing = on_sale()
    sent = {"license": "personal", "currency": "INR", "upgrade_from": "x" * 100_000}
    answer = browse(funded(inr=100_000)).post(reverse("checkout-begin", args=[listing.slug]), sent, follow=True)
    page = read(answer)
    assert "You have no such licence" in page
    assert "x" * 100 not in page


@pytest.mark.slow
def test_owner_is_offered_higher_licences_for_the_difference(browse: Browse) -> None:
    order = bought(on_sale(), license_slug="commercial")
    client = browse(order.buyer)
    page = page_at(client, f"/assets/{order.listing.slug}")
    assert [(choice["value"], choice.has_attr("disabled")) for choice in page.select("input[name=license]")] == [
        ("commercial", True),
        ("extended", False),
    ]
    assert page.select("input[name=upgrade_from]")[0]["value"] == "commercial"
    begun = {"license": "extended", "upgrade_from": "commercial"}
    answer = client.post(reverse("checkout-begin", args=[order.listing.slug]), begun, follow=True)
    assert "replaces your" in read(answer)
    client.post(answer.request["PATH_INFO"], {"consent": IMMEDIATE_DELIVERY.version})
    upgrade = Order.objects.get(license_slug="extended")
    assert (upgrade.price_minor, upgrade.upgraded_from) == (149_700, order)
    assert "Deducted for your" in text(client, reverse("order-page", args=[upgrade.pk]))


@pytest.mark.slow
def test_vendor_adds_and_ends_a_discount(browse: Browse) -> None:
    profile = make_vendor()
    listing = on_sale(store=profile.store)
    client, address = browse(profile.user), reverse("studio-discounts", args=[listing.slug])
    ends = (timezone.now() + DAY).strftime("%Y-%m-%dT%H:%M")
    assert client.post(address, {"percent": "25", "ends_at": ends, "code": "spring"}).status_code == 302
    discount = Discount.objects.get()
    assert (discount.percent, discount.code) == (25, "SPRING")
    assert "SPRING" in text(client, address)
    assert client.post(reverse("studio-discount-end", args=[listing.slug, discount.pk])).status_code == 302
    discount.refresh_from_db()
    assert discount.ends_at <= timezone.now()
    assert client.post(reverse("studio-discount-end", args=[listing.slug, discount.pk])).status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize("sent", [{"percent": "91"}, {"ends_at": "soon"}, {"ends_at": "2020-01-01T00:00"}], ids=str)
def test_discount_that_does_not_fit_is_refused_on_its_page(browse: Browse, sent: dict[str, str]) -> None:
    listing = on_sale(store=make_vendor().store)
    ends = (timezone.now() + DAY).strftime("%Y-%m-%dT%H:%M")
    address = reverse("studio-discounts", args=[listing.slug])
    typed = {"percent": "25", "ends_at": ends, **sent}
    page = read(browse(listing.store.owner).post(address, typed), 400)
    assert (f'value="{typed["percent"]}"' in page, f'value="{typed["ends_at"]}"' in page) == (True, True)
    assert not Discount.objects.exists()

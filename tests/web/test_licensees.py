"""Buying for someone else, the link to claim it, and the library of the licensee."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from catalog.models import Listing
from library.models import Licence
from marketplace.accounts.models import User
from tests.factories import UserFactory
from tests.shop import archive, bought, funded, on_sale
from tests.wallet.licensee_cases import CLIENT, bought_for, claimed, secret_sent
from tests.wallet.test_licensees import later
from wallet.delivery_consent import IMMEDIATE_DELIVERY
from wallet.models import Quote
from wallet.services.refunds import refund_order

from .markup import read

pytestmark = pytest.mark.django_db

Browse = Callable[..., Client]
FORM = {"license": "personal", "currency": "INR", "name": CLIENT.name, "email": CLIENT.email}


@pytest.fixture
def buyer() -> User:
    return funded(inr=1_000_000)


def begin(client: Client, listing: Listing, **sent: str) -> Any:
    return client.post(reverse("checkout-begin-for-other", args=[listing.slug]), FORM | sent)


def claim_page(client: Client, secret: str) -> Any:
    return client.get(reverse("licence-claim", args=[secret]))


@pytest.mark.slow
def test_owner_buys_it_for_a_client_who_claims_and_downloads_it(browse: Browse, buyer: User) -> None:
    listing, licensee = on_sale(archive(), title="Halden"), UserFactory()
    bought(listing, buyer)
    payer = browse(buyer)
    assert reverse("checkout-begin-for-other", args=[listing.slug]) in read(payer.get(reverse("asset-page", args=[listing.slug])))
    checkout = begin(payer, listing)["Location"]
    assert CLIENT.email in payer.get(checkout).content.decode()
    order_page = payer.post(checkout, {"consent": IMMEDIATE_DELIVERY.version})["Location"]
    shown = payer.get(order_page).content.decode()
    assert CLIENT.name in shown
    assert reverse("library-item", args=[listing.slug]) not in shown
    claimant = browse(licensee)
    secret = secret_sent()
    assert CLIENT.name in claim_page(claimant, secret).content.decode()
    library = claimant.post(reverse("licence-claim", args=[secret]))["Location"]
    assert CLIENT.name in claimant.get(library).content.decode()
    download = reverse("library-item-download", args=[listing.slug])
    assert claimant.get(download).status_code == 405
    assert "download" in claimant.post(download).content.decode()
    page = read(payer.get(order_page))
    assert ("claimed the licence" in page, "Send the link again" in page) == (True, False)


@pytest.mark.parametrize(
    "sent",
    [
        {"license": "galactic"},
        # Lower case makes some letters longer; a name is one line.
        {"email": f"{'İ' * 200}@client.example"},
        {"name": "Client\nPaid by the shop"},
    ],
)
def test_form_without_a_licensee_or_with_an_unknown_licence_makes_no_quote(browse: Browse, buyer: User, sent: dict[str, str]) -> None:
    read(begin(browse(buyer), on_sale(), **sent), 400)
    assert not Quote.objects.exists()


@pytest.mark.slow
def test_second_purchase_for_a_licensee_is_refused_in_the_form(browse: Browse, buyer: User) -> None:
    claimed(bought_for(on_sale()), UserFactory(email=CLIENT.email))
    page = read(begin(browse(buyer), Listing.objects.get()), 400)
    assert CLIENT.email in page
    assert not Quote.objects.filter(owner=buyer).exists()


def test_claim_link_redirects_to_the_sign_in_and_back() -> None:
    bought_for(on_sale())
    address = reverse("licence-claim", args=[secret_sent()])
    assert Client().get(address)["Location"] == f"{reverse('account_login')}?next={address}"
    assert not Licence.objects.filter(holder__isnull=False).exists()


def test_link_that_is_unknown_used_or_refunded_claims_nothing(browse: Browse) -> None:
    used, refunded = bought_for(on_sale()), None
    secrets = [secret_sent()]
    claimed(used, UserFactory())
    refunded = bought_for(on_sale())
    secrets.append(secret_sent())
    refund_order(order=refunded, reason="test", actor=None)
    stranger = UserFactory()
    client = browse(stranger)
    for secret, status in ((secrets[0], 410), (secrets[1], 410), ("unknown", 404)):
        assert claim_page(client, secret).status_code == status
        assert client.post(reverse("licence-claim", args=[secret])).status_code == status
    assert not Licence.objects.filter(holder=stranger).exists()


@pytest.mark.slow
def test_claimant_who_opens_the_link_again_is_led_to_the_library(browse: Browse) -> None:
    order, licensee = bought_for(on_sale()), UserFactory()
    claimed(order, licensee)
    answer = claim_page(browse(licensee), secret_sent())
    assert answer["Location"] == reverse("library-item", args=[order.listing.slug])


@pytest.mark.slow
def test_payer_sends_the_link_again(browse: Browse) -> None:
    order = bought_for(on_sale())
    first = secret_sent()
    later(order, hours=2)
    browse(order.buyer).post(reverse("order-page-claim-link", args=[order.pk]))
    assert secret_sent() != first


@pytest.mark.slow
def test_claimed_licence_is_offered_no_upgrade(browse: Browse, buyer: User) -> None:
    order, client = bought_for(on_sale()), UserFactory()
    claimed(order, client)
    bought(order.listing, buyer)
    address = reverse("asset-page", args=[order.listing.slug])
    assert ['name="upgrade_from"' in read(browse(owner).get(address)) for owner in (client, buyer)] == [False, True]

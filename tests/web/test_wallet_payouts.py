"""Having the wallet paid out on pages: the unhappy ways first."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail as outbox
from django.test import Client
from django.urls import reverse

from marketplace.accounts.models import User
from marketplace.review import claims
from marketplace.ui.formatting import money
from tests.factories import PASSWORD, UserFactory
from tests.shop import funded
from tests.wallet.top_up_cases import paid_top_up
from wallet.models import WalletPayout
from wallet.selectors import wallet_of
from wallet.services.wallet_payouts import pay_wallet_payout, refuse_wallet_payout

from .markup import read

pytestmark = pytest.mark.django_db

Browse = Callable[..., Client]
WHERE_TO = "IBAN DE02 1203 0000 0000 2020 51"
NEW = "wallet-payout-new"


@pytest.fixture
def owner() -> User:
    return funded(inr=50_000, usd=700)


def asking(**given: str) -> dict[str, str]:
    return {"currency": "INR", "amount": "200.50", "payment_details": WHERE_TO, "password": PASSWORD} | given


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"password": "not theirs"}, "The password is incorrect."),
        ({"amount": "1.234"}, "2 decimal places"),
        ({"amount": "500.01"}, "You ask for 500.01 INR"),
    ],
)
def test_invalid_payout_request_shows_the_error_at_its_field_and_keeps_the_form(
    browse: Browse, owner: User, given: dict[str, str], words: str
) -> None:
    page = read(browse(owner).post(reverse(NEW), asking(**given)), 400)
    assert words in page
    assert WHERE_TO in page
    assert not WalletPayout.objects.exists()
    assert wallet_of(owner).balance_inr_minor == 50_000


@pytest.mark.slow
def test_empty_wallet_has_nothing_to_pay_out(browse: Browse, owner: User) -> None:
    offered = {user: reverse(NEW) in read(browse(user).get(reverse("wallet-page"))) for user in (owner, UserFactory())}
    assert list(offered.values()) == [True, False]


def test_second_wallet_payout_is_not_offered_and_a_repeated_form_creates_one(browse: Browse, owner: User) -> None:
    client = browse(owner)
    assert client.post(reverse(NEW), asking()).status_code == 302
    assert client.post(reverse(NEW), asking()).status_code == 400
    page = read(client.get(reverse(NEW)))
    assert ('value="USD"' in page, 'value="INR"' in page) == (True, False)
    assert client.post(reverse(NEW), asking(currency="USD", amount="")).status_code == 302
    assert "There is nothing to pay out" in read(client.get(reverse(NEW)))
    assert sorted(each.amount_minor for each in WalletPayout.objects.all()) == [700, 20_050]


def test_form_shows_what_was_not_paid_by_card_and_an_empty_amount_pays_that(browse: Browse, owner: User) -> None:
    top_up = paid_top_up(owner)
    client = browse(owner)
    balance = money(50_000 + top_up.amount_minor, "INR")
    assert f"₹500.00 of {balance}; the rest was paid by card" in read(client.get(reverse(NEW)))
    assert client.post(reverse(NEW), asking(amount="")).status_code == 302
    assert WalletPayout.objects.get().amount_minor == 50_000


@pytest.mark.slow
def test_payout_is_asked_for_shown_and_cancelled(browse: Browse, owner: User, django_capture_on_commit_callbacks: Any) -> None:
    client = browse(owner)
    with django_capture_on_commit_callbacks(execute=True):
        asked = client.post(reverse(NEW), asking())
    assert WHERE_TO in read(client.get(asked["Location"]))
    assert asked["Location"] in outbox.outbox[0].body
    assert asked["Location"] in read(client.get(reverse("wallet-page")))
    cancel = reverse("wallet-payout-cancel", args=[WalletPayout.objects.get().pk])
    assert client.get(cancel).status_code == 405
    again = read(client.post(cancel, follow=True))
    assert "₹200.50 was returned to your wallet" in again
    assert WHERE_TO not in again
    assert cancel not in again
    assert "It was not cancelled. It is Cancelled already." in read(client.post(cancel, follow=True))
    assert wallet_of(owner).balance_inr_minor == 50_000


@pytest.mark.slow
def test_payout_that_staff_have_claimed_is_not_offered_to_be_cancelled(browse: Browse, owner: User) -> None:
    client = browse(owner)
    page = client.post(reverse(NEW), asking())["Location"]
    cancel = reverse("wallet-payout-cancel", args=[WalletPayout.objects.get().pk])
    assert cancel in read(client.get(page))
    claims.claim(row=WalletPayout.objects.get(), waiting=WalletPayout.objects.all(), own=False, noun="wallet_payout", actor=UserFactory())
    assert cancel not in read(client.get(page))
    assert "It was not cancelled. Our staff are working on it" in read(client.post(cancel, follow=True))


@pytest.mark.slow
def test_owner_sees_the_reference_or_the_reason_of_a_decision(browse: Browse, owner: User) -> None:
    client, staff = browse(owner), UserFactory()
    pages = [client.post(reverse(NEW), asking(currency=currency, amount=""))["Location"] for currency in ("INR", "USD")]
    pay_wallet_payout(wallet_payout=WalletPayout.objects.get(wallet__currency="INR"), reference="UTR <7781>", actor=staff)
    refuse_wallet_payout(wallet_payout=WalletPayout.objects.get(wallet__currency="USD"), reason="The bank knows none.", actor=staff)
    paid, refused = (read(client.get(page)) for page in pages)
    assert "UTR &lt;7781&gt;" in paid
    assert (WHERE_TO in paid, WHERE_TO in refused) == (True, False)
    assert "The bank knows none." in refused
    for absent in (staff.email, "Cancel payout"):
        assert absent not in paid + refused

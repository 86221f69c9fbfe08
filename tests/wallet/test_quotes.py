"""Binding quotes: exactly what was promised is charged, once, before it expires, or the refusal says why."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from rest_framework.test import APIClient

from catalog.models import LicenseTerms, LicenseTier, Listing
from library.models import Licence
from marketplace.core.models import IdempotencyRecord
from tests.callers import said
from tests.shop import bought, funded, on_sale, store_keeping
from wallet import bounds
from wallet.errors import QuoteUsed
from wallet.models import Order, Quote
from wallet.selectors import wallet_of
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import find_quoted_offer, make_quote
from wallet.services.refunds import refund_order
from wallet.services.spending import spend

from . import purchases
from .purchases import ask_quote

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("books_agree")]
Client = Callable[..., APIClient]


def use(client: APIClient, listing: Listing, quote_id: str, **body: Any) -> Any:
    return purchases.spend(client, listing, quoteId=quote_id, **body)


def refusal(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_asset_that_cannot_be_bought_is_not_quoted(bearer_client: Client) -> None:
    listing, order = on_sale(), bought(on_sale())
    assert refusal(ask_quote(bearer_client(), listing, licenseSlug="unknown")) == (409, "license_not_available")
    assert refusal(ask_quote(bearer_client(order.buyer), order.listing)) == (409, "already_owned")
    assert refusal(ask_quote(bearer_client(listing.store.owner), listing)) == (409, "own_listing")
    Listing.objects.filter(pk=listing.pk).update(status="Draft")
    assert refusal(ask_quote(bearer_client(), listing)) == (404, "not_found")
    assert not Quote.objects.exists()


def test_quote_needs_no_balance_and_has_price_tax_and_expiry(bearer_client: Client) -> None:
    before = timezone.now()
    answer = ask_quote(bearer_client(), on_sale(tax_rate_bp=1800), licenseSlug="commercial", currency="USD").json()
    ends = parse_datetime(answer.pop("expiresAt"))
    assert ends is not None
    assert before + timedelta(minutes=10) <= ends <= timezone.now() + timedelta(minutes=10)
    quote = Quote.objects.get()
    assert str(quote) == f"$20.00 until {quote.expires_at:%Y-%m-%d %H:%M} UTC"
    reductions = {"discount": 0.0, "discountCode": None, "upgradeFrom": None, "upgradeCredit": 0.0}
    promised = {"quoteId": str(quote.pk), "price": 20.0, "currency": "USD", "taxIncluded": 3.05, "licenseSlug": "commercial"}
    assert answer == promised | reductions | {"licensee": None, "withinLimits": True, "exceededLimit": None}


@pytest.mark.parametrize("price", [1, 0, None])
def test_quoted_price_is_charged_after_the_price_changed(bearer_client: Client, price: int | None) -> None:
    user, listing = funded(inr=100_000), on_sale(store=store_keeping(1000), tax_rate_bp=1800)
    client = bearer_client(user)
    quote = ask_quote(client, listing).json()
    Listing.objects.filter(pk=listing.pk).update(price_inr_minor=price, tax_rate_bp=0, discount_bp=5000, allowed_license_slugs=["personal"])
    answer = use(client, listing, quote["quoteId"]).json()
    assert (answer["debitedINR"], answer["taxIncluded"], answer["licenseSlug"]) == (499.0, 76.12, "personal")
    assert wallet_of(user).balance_inr_minor == 100_000 - 49_900
    order = Order.objects.get()
    assert (order.quote_id, order.tax_minor, order.commission_minor) == (Quote.objects.get().pk, 7_612, 4_229)


def test_quote_keeps_its_currency_and_licence_where_none_is_named(bearer_client: Client) -> None:
    user, listing = funded(usd=10_000), on_sale()
    client = bearer_client(user)
    quote = ask_quote(client, listing, currency="USD", licenseSlug="extended").json()
    answer = use(client, listing, quote["quoteId"]).json()
    assert (answer["currency"], answer["debitedUSD"], answer["licenseSlug"]) == ("USD", 50.0, "extended")


def test_quote_that_is_unknown_or_someone_elses_is_not_found(bearer_client: Client) -> None:
    listing, thief = on_sale(), funded(inr=100_000)
    theirs = ask_quote(bearer_client(), listing).json()["quoteId"]
    client = bearer_client(thief)
    for quote_id in (theirs, "0193b2c6-0000-7000-8000-000000000000", "nonsense"):
        assert refusal(use(client, listing, quote_id)) == (404, "not_found")
    assert wallet_of(thief).balance_inr_minor == 100_000


def test_expired_quote_is_refused(bearer_client: Client) -> None:
    listing, client = on_sale(), bearer_client(funded(inr=100_000))
    quote = ask_quote(client, listing).json()
    past = timezone.now() - timedelta(seconds=1)
    Quote.objects.update(created_at=past - timedelta(minutes=10), expires_at=past)
    assert refusal(use(client, listing, quote["quoteId"])) == (409, "quote_expired")
    assert not Order.objects.exists()


def test_second_order_of_a_quote_is_refused_by_the_database() -> None:
    user, listing = funded(inr=1_000_000), on_sale()
    quote = make_quote(buyer=user, purchase=PurchaseRequest(str(listing.pk)))
    orders = [bought(listing, user), bought(on_sale(), user)]
    Order.objects.filter(pk=orders[0].pk).update(quote=quote)
    with pytest.raises(IntegrityError, match=r"order_quote_once|UNIQUE"), transaction.atomic():
        Order.objects.filter(pk=orders[1].pk).update(quote=quote)


def test_quote_is_used_once_even_after_a_refund(bearer_client: Client) -> None:
    user, listing = funded(inr=100_000), on_sale()
    client = bearer_client(user)
    quote = ask_quote(client, listing).json()
    order_id = use(client, listing, quote["quoteId"]).json()["orderId"]
    refund_order(order=Order.objects.get(), reason="test", actor=None)
    again = use(client, listing, quote["quoteId"])
    assert refusal(again) == (409, "quote_used")
    assert again.json()["orderId"] == order_id
    assert Order.objects.count() == 1


def test_quote_that_another_request_used_meanwhile_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    user, listing = funded(inr=100_000), on_sale()
    purchase = PurchaseRequest(str(listing.pk))
    quote_id = str(make_quote(buyer=user, purchase=purchase).pk)
    found = find_quoted_offer(buyer=user, purchase=purchase, quote_id=quote_id)
    spend(buyer=user, purchase=purchase, quote_id=quote_id)
    refund_order(order=Order.objects.get(), reason="test", actor=None)
    monkeypatch.setattr("wallet.services.spending.find_requested_offer", lambda **_: found)
    with pytest.raises(QuoteUsed):
        spend(buyer=user, purchase=purchase, quote_id=quote_id)


def test_quote_for_something_else_is_refused_naming_it(bearer_client: Client) -> None:
    listing, client = on_sale(), bearer_client(funded(inr=1_000_000, usd=1_000_000))
    quote = ask_quote(client, listing).json()
    for field, value in (("currency", "USD"), ("licenseSlug", "commercial"), ("assetId", str(on_sale().id)), ("discountCode", "SPRING")):
        response = use(client, listing, quote["quoteId"], **{field: value})
        assert refusal(response) == (409, "quote_mismatch")
        assert response.json()["field"] == field
        assert (
            response.json()["quoted"]
            == {"currency": "INR", "licenseSlug": "personal", "assetId": str(listing.pk), "discountCode": ""}[field]
        )
    assert not Order.objects.exists()


def test_quoted_purchase_is_refused_if_it_is_not_on_sale_without_balance_or_owned(bearer_client: Client) -> None:
    user, listing = funded(inr=49_899), on_sale()
    client = bearer_client(user)
    quote = ask_quote(client, listing).json()
    Listing.objects.filter(pk=listing.pk).update(status="Rejected")
    assert refusal(use(client, listing, quote["quoteId"])) == (404, "not_found")
    Listing.objects.filter(pk=listing.pk).update(status="Published", price_inr_minor=100)
    LicenseTier.objects.filter(slug="personal").update(is_active=False)
    assert refusal(use(client, listing, quote["quoteId"])) == (409, "license_not_available")
    LicenseTier.objects.filter(slug="personal").update(is_active=True)
    assert refusal(use(client, listing, quote["quoteId"])) == (402, "insufficient_balance")
    assert not Order.objects.exists()
    bought(listing, user)
    assert refusal(use(client, listing, quote["quoteId"])) == (409, "already_owned")


def test_open_quotes_are_bounded_and_expired_ones_make_room(bearer_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_OPEN_QUOTES", 2)
    listing, client = on_sale(), bearer_client(funded(inr=1_000_000))
    quotes = [ask_quote(client, listing).json() for _ in range(2)]
    response = ask_quote(client, listing)
    assert refusal(response) == (409, "too_many_quotes")
    assert response.json()["maximum"] == 2
    assert ask_quote(bearer_client(), listing).status_code == 200
    # One that was used makes room, too.
    assert use(client, listing, quotes[0]["quoteId"]).status_code == 200
    quotes[0] = ask_quote(client, on_sale()).json()
    assert refusal(ask_quote(client, on_sale())) == (409, "too_many_quotes")
    past = timezone.now() - timedelta(seconds=1)
    Quote.objects.filter(pk=quotes[0]["quoteId"]).update(created_at=past - timedelta(minutes=10), expires_at=past)
    assert ask_quote(client, on_sale()).status_code == 200


def test_purge_deletes_used_and_expired_quotes_and_old_responses(bearer_client: Client) -> None:
    listing, client = on_sale(), bearer_client(funded(inr=1_000_000))
    used, expired, _open = (ask_quote(client, listing).json()["quoteId"] for _ in range(3))
    assert use(client, listing, used).status_code == 200
    past = timezone.now() - timedelta(days=1, seconds=1)
    Quote.objects.filter(pk__in=[used, expired]).update(created_at=past - timedelta(minutes=10), expires_at=past)
    owner = funded()
    kept = {"owner": owner, "requester_id": owner.pk, "fingerprint": "x", "response": {}}
    old, young = (IdempotencyRecord.objects.create(key=key, **kept) for key in ("old", "young"))
    IdempotencyRecord.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(hours=25))
    assert "1 expired quotes, 1 saved responses, " in said("purge", "wallet")
    assert {str(pk) for pk in Quote.objects.values_list("pk", flat=True)} == {used, _open}
    assert list(IdempotencyRecord.objects.all()) == [young]


def test_quote_holds_the_terms_and_the_choice_on_ai_training_that_were_shown() -> None:
    buyer, listing = funded(inr=200_000), on_sale()
    quote = make_quote(buyer=buyer, purchase=PurchaseRequest(listing.slug, "INR", "personal"))
    shown = quote.terms
    LicenseTerms.objects.create(tier=shown.tier, version=shown.version + 1, name=shown.name, text="Newer terms.")
    Listing.objects.filter(pk=listing.pk).update(ai_training="allowed" if quote.ai_training != "allowed" else "forbidden")
    receipt, _ = spend(buyer=buyer, purchase=PurchaseRequest(listing.slug), quote_id=str(quote.pk))
    licence = Licence.objects.get(order_id=receipt.order_id)
    assert (Order.objects.get(pk=receipt.order_id).terms, licence.terms, licence.ai_training) == (shown, shown, quote.ai_training)
    unquoted, _ = spend(buyer=buyer, purchase=PurchaseRequest(listing.slug, "INR", "commercial"))
    assert Licence.objects.get(order_id=unquoted.order_id).ai_training != quote.ai_training

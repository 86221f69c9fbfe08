"""Purchases with discounts: the database's clock decides, a quote keeps its price, and codes cannot be found by trying."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.db.models import F
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Discount, Listing
from marketplace.settings.credentials import RATE_LIMITS
from tests.callers import signed_in
from tests.shop import funded, on_sale
from wallet.models import Order

from .purchases import ask_quote, assert_refused, spend

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("books_agree")]
Client = Callable[..., APIClient]
HOUR = timedelta(hours=1)


def discounted(listing: Listing, percent: int = 30, code: str = "", *, starts: timedelta = -HOUR, ends: timedelta = HOUR) -> Discount:
    now = timezone.now()
    discount: Discount = Discount.objects.create(listing=listing, percent=percent, code=code, starts_at=now + starts, ends_at=now + ends)
    return discount


def end(listing: Listing) -> None:
    Discount.objects.filter(listing=listing).update(starts_at=F("starts_at") - 3 * HOUR, ends_at=F("ends_at") - 3 * HOUR)


@pytest.mark.parametrize(
    ("starts", "ends", "price"),
    [(-HOUR, HOUR, 349.3), (HOUR, 2 * HOUR, 499.0), (-2 * HOUR, -HOUR, 499.0)],
    ids=["running", "planned", "ended"],
)
def test_purchase_is_charged_by_the_clock_of_the_database(bearer_client: Client, starts: timedelta, ends: timedelta, price: float) -> None:
    # The catalog was not told: it still shows the price before.
    listing = on_sale(tax_rate_bp=1800)
    discounted(listing, starts=starts, ends=ends)
    answer = spend(bearer_client(funded(inr=100_000)), listing).json()
    assert (answer["debitedINR"], answer["discount"], answer["discountCode"]) == (price, 499.0 - price, None)
    order = Order.objects.get()
    assert (order.price_minor, order.discount_minor) == (round(price * 100), round((499.0 - price) * 100))
    assert order.tax_minor == round(order.price_minor * 18 / 118)


def test_discount_of_a_higher_tier_is_rounded_as_its_price(bearer_client: Client) -> None:
    listing = on_sale(price_inr_minor=33_333)
    discounted(listing, percent=33)
    answer = spend(bearer_client(funded(inr=100_000)), listing, licenseSlug="commercial").json()
    # 333.33 less a third is 223.33, rounded half up, and twice that.
    assert (answer["debited"], answer["discount"]) == (446.66, 220.0)


def test_largest_applicable_discount_is_given(bearer_client: Client) -> None:
    listing = on_sale(discount_bp=2000)
    discounted(listing, percent=30)
    discounted(listing, percent=10, code="SMALL")
    discounted(listing, percent=50, code="LARGE")
    client = bearer_client(funded(inr=100_000))
    assert ask_quote(client, listing).json()["price"] == 349.3
    small = ask_quote(client, listing, discountCode="small").json()
    assert (small["price"], small["discountCode"]) == (349.3, "SMALL")
    assert ask_quote(client, listing, discountCode="LARGE").json()["price"] == 249.5


def test_receipt_says_which_code_was_given_and_not_that_a_larger_discount_is_that_of_the_code(bearer_client: Client) -> None:
    listing = on_sale(discount_bp=2000)
    discounted(listing, percent=10, code="SMALL")
    client = bearer_client(funded(inr=100_000))
    order_id = spend(client, listing, discountCode="SMALL").json()["orderId"]
    page = BeautifulSoup(client.get(f"/api/v1/orders/{order_id}/receipt").content, "html.parser")
    facts = dict(zip(*([each.get_text() for each in page.select(tag)] for tag in ("dt", "dd")), strict=True))
    assert (facts["Discount"], facts["Discount code given"]) == ("INR 99.80", "SMALL")


def test_quote_keeps_the_discounted_price_until_it_ends(bearer_client: Client) -> None:
    listing = on_sale()
    discounted(listing, code="SPRING")
    client = bearer_client(funded(inr=100_000))
    promised = ask_quote(client, listing, discountCode="spring").json()
    assert (promised["price"], promised["discount"], promised["discountCode"]) == (349.3, 149.7, "SPRING")
    end(listing)
    answer = spend(client, listing, key="one", quoteId=promised["quoteId"]).json()
    assert (answer["debited"], answer["discount"], answer["discountCode"]) == (349.3, 149.7, "SPRING")
    item = client.get("/api/v1/orders").json()["items"][0]
    assert (item["price"], item["discount"], item["discountCode"]) == (349.3, 149.7, "SPRING")
    # Code and quote are a part of what an idempotency key stands for.
    for other in ({"quoteId": promised["quoteId"], "discountCode": "SPRING"}, {}):
        assert spend(client, listing, key="one", **other).json()["code"] == "idempotency_key_reused"


def test_code_of_no_running_discount_of_the_asset_is_refused(bearer_client: Client) -> None:
    listing = on_sale()
    discounted(on_sale(), code="THEIRS")
    discounted(on_sale(), code="THEIRSONCE", starts=-2 * HOUR, ends=-HOUR)
    discounted(listing, code="LATER", starts=HOUR, ends=2 * HOUR)
    client = bearer_client(funded(inr=100_000))
    for code in ("UNKNOWN", "THEIRS", "THEIRSONCE", "LATER"):
        assert_refused(spend(client, listing, discountCode=code), 409, "discount_code_invalid")
    assert ask_quote(client, listing, discountCode="THEIRS").json()["code"] == "discount_code_invalid"


def test_refusal_of_an_ended_discount_code_has_the_time_of_its_end(bearer_client: Client) -> None:
    listing = on_sale()
    discounted(listing, code="SPRING", starts=-9 * HOUR, ends=-8 * HOUR)
    ended = discounted(listing, code="SPRING", starts=-2 * HOUR, ends=-HOUR)
    answer = spend(bearer_client(funded(inr=100_000)), listing, discountCode="spring")
    assert_refused(answer, 409, "discount_ended")
    assert answer.json()["endsAt"] == ended.ends_at.isoformat().replace("+00:00", "Z")


def test_wrong_codes_are_limited_and_right_ones_are_not(bearer_client: Client) -> None:
    listing = on_sale()
    discounted(listing, code="SPRING")
    user = funded(inr=100_000)
    client = bearer_client(user)
    for _ in range(RATE_LIMITS["discount_codes"]):
        assert ask_quote(client, listing, discountCode="SPRING").status_code == 200
    for number in range(RATE_LIMITS["discount_codes"]):
        assert ask_quote(client, listing, discountCode=f"GUESS-{number}").json()["code"] == "discount_code_invalid"
    # From now on even the right one is refused; without a code everything works.
    refused = spend(client, listing, discountCode="SPRING")
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert int(refused.headers["Retry-After"]) > 0
    browser = signed_in(user)
    page = browser.post(f"/assets/{listing.slug}/buy", {"discount_code": "SPRING"}, follow=True).content.decode()
    assert "Too many wrong discount codes were sent. Try again in a minute, or leave the code out." in page
    assert "Retry-After" not in page
    assert spend(client, listing).status_code == 200

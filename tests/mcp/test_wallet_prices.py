"""The tool that holds a price knows discounts, codes and upgrades."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from catalog.models import Discount
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from tests.wallet.licensee_cases import CLIENT, claimed
from wallet.models import Order

from .speaking import Speaker, mcp_token
from .test_tools import problem_of

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_quote_of_an_upgrade_with_a_discount_code_shows_both_deductions() -> None:
    order = bought(on_sale())
    Discount.objects.create(listing=order.listing, percent=50, code="SPRING", ends_at=timezone.now() + timedelta(days=1))
    speaker = Speaker(mcp_token(order.buyer)[1])
    told = speaker.call(
        "quote_purchase", assetId=str(order.listing_id), upgradeFrom="personal", licenseSlug="extended", discountCode="spring"
    )
    quote = told["structuredContent"]
    assert (quote["price"], quote["discount"], quote["upgradeCredit"]) == (748.5, 1247.5, 499.0)
    assert "1247.50 off by a discount, 499.00 off for the personal licence that it replaces" in told["content"][0]["text"]


def test_tool_buys_for_a_client_who_gets_the_link() -> None:
    listing, payer = on_sale(), funded(inr=1_000_000)
    speaker = Speaker(mcp_token(payer)[1])
    licensee = {"name": CLIENT.name, "email": CLIENT.email}
    quote = speaker.call("quote_purchase", assetId=str(listing.pk), licensee=licensee)["structuredContent"]
    told = speaker.call("buy_asset", assetId=str(listing.pk), quoteId=quote["quoteId"], idempotencyKey="k")
    assert (quote["licensee"], told["structuredContent"]["licensee"]) == (licensee, licensee)
    assert CLIENT.email in told["content"][0]["text"]
    claimed(Order.objects.get(), UserFactory())
    again = speaker.call("buy_asset", assetId=str(listing.pk), licensee=licensee, idempotencyKey="l")
    assert problem_of(again)["code"] == "already_owned"


def test_wrong_codes_of_a_tool_are_limited_too(settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"discount_codes": 1}
    speaker = Speaker(mcp_token()[1])
    wrong = {"assetId": str(on_sale().pk), "discountCode": "GUESS"}
    answers = [speaker.call("quote_purchase", **wrong) for _ in range(2)]
    assert [problem_of(answer)["code"] for answer in answers] == ["discount_code_invalid", "rate_limited"]
    assert re.search(r"leave the code out\. Retry-After: \d+ seconds\.$", answers[1]["content"][0]["text"])

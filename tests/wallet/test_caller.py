"""`GET me`: who calls, with which credential, what it may do and what is used of its limits."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from developers.models import AccessToken, SpendingLimit
from marketplace.core.scopes import Scope
from tests.factories import UserFactory
from tests.shop import funded, on_sale

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("midday")]
ME = "/api/v1/me"
Client = Callable[..., APIClient]


def test_personal_token_sees_its_owner_its_scopes_and_no_app(bearer_client: Client, settings: Any) -> None:
    settings.SANDBOX = True
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"bearer_app": 7, "bearer_user": 9}
    user = UserFactory(name="Bo")
    told = bearer_client(user, scopes={Scope.ACCOUNT_READ, Scope.LIBRARY_READ}).get(ME).json()
    token = AccessToken.objects.get(user=user)
    assert (told["userId"], told["name"], told["email"], told["app"]) == (str(user.pk), "Bo", user.email, None)
    assert told["credential"]["kind"] == "personal"
    assert (told["credential"]["prefix"], told["credential"]["lastFour"]) == ("cam_pat_", token.hint)
    assert told["scopes"] == ["library:read", "account:read"]
    assert (told["environment"], told["spendingLimits"]) == ("sandbox", [])
    limits = [(limit["policy"], limit["calls"], limit["used"], limit["windowSeconds"]) for limit in told["rateLimits"]]
    assert limits == [("app", 7, 1, 60), ("user", 9, 1, 60)]


def test_caller_without_account_read_sees_neither_name_nor_address(key_client: Client) -> None:
    told = key_client(scopes={Scope.CATALOG_READ}).get(ME).json()
    assert (told["name"], told["email"], told["app"]["name"][:3]) == (None, None, "App")
    assert (told["credential"]["kind"], told["needsSpendingLimit"]) == ("api_key", False)


def test_limits_are_shown_with_what_is_spent(bearer_client: Client) -> None:
    user, listing = funded(inr=1_000_000), on_sale(price_inr_minor=49_900)
    caller = bearer_client(user, scopes={Scope.WALLET_SPEND})
    token = AccessToken.objects.get(user=user)
    SpendingLimit.objects.filter(token=token).delete()
    SpendingLimit.objects.create(owner=user, token=token, currency="INR", per_day_minor=60_000, set_by=user)
    assert caller.post("/api/v1/wallet/spend", {"assetId": listing.slug}, format="json").status_code == 200
    told = caller.get(ME).json()
    assert (told["environment"], told["needsSpendingLimit"]) == ("production", True)
    (limit,) = told["spendingLimits"]
    assert (limit["currency"], limit["setBy"], limit["perDay"], limit["perPurchase"]) == ("INR", "owner", 600, None)
    assert (limit["spentToday"], limit["spentInAll"], limit["categories"]) == (499, 499, [])


def test_quote_names_the_spending_limit_that_a_purchase_would_exceed(bearer_client: Client) -> None:
    user, listing = funded(inr=1_000_000), on_sale(price_inr_minor=49_900)
    caller = bearer_client(user, scopes={Scope.WALLET_SPEND})
    token = AccessToken.objects.get(user=user)
    cases: tuple[tuple[dict[str, Any] | None, str | None], ...] = (
        (None, "currency"),
        ({"per_purchase_minor": 49_899}, "perPurchase"),
        ({"per_day_minor": 100}, "perDay"),
        ({"total_minor": 100}, "total"),
        ({"total_minor": 49_900, "categories": ["none-of-these"]}, "category"),
        ({"per_purchase_minor": 49_900}, None),
    )
    for bounds, exceeded in cases:
        SpendingLimit.objects.filter(token=token).delete()
        if bounds is not None:
            SpendingLimit.objects.create(owner=user, token=token, currency="INR", set_by=user, **bounds)
        quote = caller.post("/api/v1/wallet/quote", {"assetId": listing.slug}, format="json").json()
        assert (quote["withinLimits"], quote["exceededLimit"]) == (exceeded is None, exceeded)
        bought = caller.post("/api/v1/wallet/spend", {"assetId": listing.slug, "quoteId": quote["quoteId"]}, format="json")
        assert (bought.status_code, bought.json().get("limit")) == (200 if exceeded is None else 403, exceeded)

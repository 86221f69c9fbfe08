"""The consent page asks for a spending limit if the app requests `wallet:spend`."""

from typing import Any
from urllib.parse import urlencode

import pytest

from developers.models import App, Consent, Grant, SpendingLimit
from tests.factories import PASSWORD

from .parties import Party, query_of

pytestmark = pytest.mark.django_db

SPENDS = "account:read wallet:spend"


def post(party: Party, **answers: str) -> Any:
    address = f"/oauth/authorize?{urlencode(party.parameters(scope=SPENDS))}"
    return party.browser.post(address, {"decision": "allow", "shown": SPENDS, "password": PASSWORD, **answers})


@pytest.mark.parametrize(
    ("answers", "field"),
    [
        ({}, "limit_inr_per_purchase"),
        ({"limit_usd_total": "all of it"}, "limit_usd_total"),
        ({"limit_usd_total": "5", "password": ""}, "password"),
        ({"limit_usd_total": "5", "password": "wrong"}, "password"),
    ],
)
def test_consent_with_an_invalid_limit_or_without_the_password_is_refused(party: Party, answers: dict[str, str], field: str) -> None:
    response = post(party, **answers)
    assert response.status_code == 400
    assert list(response.context["form"].errors) == [field]
    assert (Consent.objects.count(), Grant.objects.count(), SpendingLimit.objects.count()) == (0, 0, 0)


def test_limit_is_kept_with_the_consent_and_shown_the_next_time(party: Party) -> None:
    response = post(party, limit_usd_per_day="12.50", limit_categories="fonts")
    assert "code" in query_of(response["Location"])
    limit = SpendingLimit.objects.get()
    assert (limit.owner, limit.app, limit.currency) == (Consent.objects.get().user, party.app, "USD")
    assert (limit.per_day_minor, limit.per_purchase_minor, limit.categories) == (1250, None, ["fonts"])
    page = party.ask(scope=SPENDS)
    assert b'value="12.50"' in page.content
    # What was said before stands until something else is said.
    party.decide("deny", scope=SPENDS)
    assert SpendingLimit.objects.get().per_day_minor == 1250


def test_consent_page_proposes_low_spending_limits(party: Party) -> None:
    page = party.ask(scope=SPENDS).content
    assert b'value="25.00"' in page
    assert b"Nothing can be spent in a currency without an amount" in page
    party.decide(scope=SPENDS)
    assert {limit.currency: limit.per_purchase_minor for limit in SpendingLimit.objects.all()} == {"USD": 2500, "INR": 200000}


def test_app_that_does_not_spend_is_asked_no_limit(party: Party) -> None:
    party.code()
    assert not SpendingLimit.objects.exists()


def test_developer_may_consent_to_the_own_app_without_a_spending_limit(party: Party) -> None:
    user = party.app.developer
    party.browser.force_login(user)
    assert b"a currency without an amount has no limit" in party.ask(scope=SPENDS).content
    assert "code" in query_of(post(party)["Location"])
    assert not SpendingLimit.objects.exists()


def test_consent_to_an_app_suspended_meanwhile_saves_neither_consent_nor_limit(party: Party) -> None:
    App.objects.filter(pk=party.app.pk).update(status="Suspended")
    post(party, limit_usd_total="5")
    assert (Consent.objects.count(), SpendingLimit.objects.count()) == (0, 0)

"""Spending limits in the dashboard."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.models import Category
from developers.models import AccessToken, App, SpendingLimit
from developers.services.credentials import issue_token_without_app, revoke_token
from developers.services.spending import LimitValues, set_app_spending_limit
from marketplace.accounts.models import User
from marketplace.core.money import Currency
from marketplace.core.scopes import Scope
from tests.factories import PASSWORD, AppFactory, UserFactory, connect_app

from .markup import read

pytestmark = pytest.mark.django_db

USD = LimitValues(Currency.USD, per_purchase_minor=12_34, total_minor=500_00, categories=["fonts"])
SPEND = frozenset({Scope.WALLET_SPEND})


@pytest.fixture
def user(db: None) -> User:
    return UserFactory()


@pytest.fixture
def token(user: User) -> AccessToken:
    soon = timezone.now() + timedelta(days=1)
    return issue_token_without_app(
        user=user, name="agent", scopes=SPEND, expires_at=soon, actor=user, password_confirmed=True, limits=[USD]
    )[0]


@pytest.fixture
def connected(user: User) -> App:
    app = AppFactory(name="Shopper")
    connect_app(user, app, SPEND)
    return app


def test_app_or_token_that_cannot_spend_has_no_limits_page(browse: Callable[..., Client], user: User, token: AccessToken) -> None:
    client = browse(user)
    reader = AppFactory(user=user, granted_scopes="catalog:read")
    assert client.get(reverse("spending-app", args=[reader.pk])).status_code == 404
    revoke_token(token=token, actor=user)
    assert client.get(reverse("spending-token", args=[token.pk])).status_code == 404
    assert "No program can spend from your wallet" in client.get(reverse("spending")).content.decode()


def test_last_spending_limit_of_a_token_cannot_be_removed(browse: Callable[..., Client], user: User, token: AccessToken) -> None:
    response = browse(user).post(reverse("spending-token", args=[token.pk]), {"password": PASSWORD})
    read(response, 400)
    assert list(response.context["form"].errors) == ["limit_inr_per_purchase"]
    assert SpendingLimit.objects.count() == 1


@pytest.mark.parametrize("password", [{}, {"password": "wrong"}], ids=str)
def test_changing_a_spending_limit_needs_the_password(
    browse: Callable[..., Client], user: User, token: AccessToken, connected: App, password: dict[str, str]
) -> None:
    for address in (reverse("spending-token", args=[token.pk]), reverse("spending-app", args=[connected.pk])):
        response = browse(user).post(address, {"limit_usd_per_purchase": "9999", **password})
        read(response, 400)
        assert list(response.context["form"].errors) == ["password"]
    assert SpendingLimit.objects.get().per_purchase_minor == 12_34


@pytest.mark.slow
def test_limits_are_filled_in_and_changed(browse: Callable[..., Client], user: User, token: AccessToken) -> None:
    client, address = browse(user), reverse("spending-token", args=[token.pk])
    text = read(client.get(address))
    assert 'value="12.34"' in text
    assert 'value="500.00"' in text
    assert 'value="fonts" id="id_limit_categories_0" checked' in text.replace("\n", " ")
    response = client.post(address, {"limit_inr_per_day": "1000", "limit_usd_per_purchase": "0.07", "password": PASSWORD}, follow=True)
    assert "The limits of agent are saved" in response.content.decode()
    rows = {limit.currency: limit for limit in SpendingLimit.objects.filter(token=token)}
    assert (rows["INR"].per_day_minor, rows["INR"].categories) == (1000_00, [])
    assert (rows["USD"].per_purchase_minor, rows["USD"].total_minor) == (7, None)


@pytest.mark.slow
def test_inactive_category_of_a_spending_limit_is_kept_on_saving(browse: Callable[..., Client], user: User, token: AccessToken) -> None:
    Category.objects.filter(slug="fonts").update(is_active=False)
    client, address = browse(user), reverse("spending-token", args=[token.pk])
    assert 'value="fonts"' in client.get(address).content.decode()
    client.post(address, {"limit_usd_total": "5", "limit_categories": ["fonts"], "password": PASSWORD})
    assert SpendingLimit.objects.get().categories == ["fonts"]


def test_connected_app_without_limits_cannot_spend_and_is_shown_so(browse: Callable[..., Client], user: User, connected: App) -> None:
    client = browse(user)
    assert "nothing can be spent" in client.get(reverse("spending")).content.decode()
    client.post(reverse("spending-app", args=[connected.pk]), {"limit_usd_per_day": "20", "password": PASSWORD})
    assert "$20.00 a day" in client.get(reverse("spending")).content.decode()
    client.post(reverse("spending-app", args=[connected.pk]), {"password": PASSWORD})
    assert not SpendingLimit.objects.exists()
    set_app_spending_limit(
        app=connected, limit_values=LimitValues(Currency.USD, per_day_minor=99_00), reason="Careful", actor=UserFactory()
    )
    page = read(client.get(reverse("spending")))
    assert ("Staff allow at most" in page, "$99.00 a day" in page) == (True, True)

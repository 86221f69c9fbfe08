"""Personal tokens in the dashboard."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from developers.checks import api_views
from developers.models import AccessToken
from marketplace.core.access import CredentialKind
from marketplace.core.scopes import Scope
from tests.callers import personal_token
from tests.factories import PASSWORD, AppFactory, UserFactory

pytestmark = pytest.mark.django_db

NEW = "/dashboard/tokens/new"
COMPLETE = {"name": "my script", "scopes": ["vendor:manage"], "lifetime": "30"}
SPENDING = {"scopes": ["wallet:spend"], "limit_usd_total": "12.50"}
AMOUNTS = ["0", "0.001", "NaN", "100000000.01"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["catalog:read"]}, "scopes"),
        ({"lifetime": "366"}, "lifetime"),
        (SPENDING, "password"),
        (SPENDING | {"password": "wrong"}, "password"),
        (SPENDING | {"password": PASSWORD, "limit_usd_total": ""}, "limit_inr_per_purchase"),
        *((SPENDING | {"password": PASSWORD, "limit_usd_total": typed}, "limit_usd_total") for typed in AMOUNTS),
        (SPENDING | {"password": PASSWORD, "limit_categories": ["nonsense"]}, "limit_categories"),
    ],
)
def test_new_token_with_invalid_input_is_refused(browse: Callable[..., Client], change: dict[str, object], field: str) -> None:
    response = browse().post(NEW, COMPLETE | change)
    assert response.status_code == 400
    assert list(response.context["form"].errors) == [field]
    assert not AccessToken.objects.exists()


@pytest.mark.parametrize(("another_error", "stopped"), [({}, True), ({"name": ""}, False), ({"limit_usd_total": ""}, False)])
def test_password_guessing_is_stopped_and_another_error_is_no_guess(
    browse: Callable[..., Client], another_error: dict[str, str], *, stopped: bool
) -> None:
    client = browse()
    for _ in range(12):
        client.post(NEW, COMPLETE | SPENDING | {"password": "wrong"} | another_error)
    client.post(NEW, COMPLETE | SPENDING | {"password": PASSWORD})
    assert AccessToken.objects.exists() != stopped


def test_token_that_spends_needs_the_password_and_never_shows_it(browse: Callable[..., Client]) -> None:
    client = browse()
    response = client.post(NEW, COMPLETE | SPENDING | {"password": PASSWORD, "name": ""})
    assert PASSWORD not in response.content.decode()
    response = client.post(NEW, COMPLETE | SPENDING | {"password": PASSWORD, "limit_categories": ["fonts"]})
    assert response.status_code == 302
    token = AccessToken.objects.get()
    assert token.scopes == {Scope.WALLET_SPEND}
    limit = token.spending_limits.get()
    assert (limit.currency, limit.total_minor, limit.per_day_minor, limit.categories) == ("USD", 1250, None, ["fonts"])


def test_new_token_has_the_chosen_scopes_and_lifetime(browse: Callable[..., Client]) -> None:
    user = UserFactory()
    client = browse(user)
    client.post(NEW, COMPLETE)
    token = AccessToken.objects.get()
    assert token.user == user
    assert token.scopes == {Scope.VENDOR_MANAGE}
    assert abs(token.expires - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)
    assert "Manage your store" in client.get(reverse("tokens")).content.decode()


def test_other_kinds_of_token_are_not_personal(browse: Callable[..., Client]) -> None:
    user = UserFactory()
    token, _ = personal_token(user)
    AccessToken.objects.update(kind="oauth", application=AppFactory())
    client = browse(user)
    assert client.get(reverse("token-revoke", args=[token.pk])).status_code == 404
    assert client.get(reverse("tokens")).context["active_tokens"] == []


def test_token_form_offers_the_scopes_that_a_personal_token_can_use(browse: Callable[..., Client]) -> None:
    accesses = [access for view, _ in api_views() for access in view.access.values()]
    useful = {access.scope for access in accesses if CredentialKind.PERSONAL in access.kinds and access.scope is not None}
    page = BeautifulSoup(browse(UserFactory()).get(reverse("token-create")).content, "html.parser")
    assert {box["value"] for box in page.select("input[name=scopes]")} == useful

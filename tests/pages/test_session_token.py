"""The short token that a page of ours calls the API with."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from developers.models import AccessToken
from marketplace.core.scopes import Scope
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

ADDRESS = "/dashboard/session-token"


def test_anonymous_gets_none(client: Client) -> None:
    assert client.post(ADDRESS)["Location"].startswith(reverse("account_login"))
    assert not AccessToken.objects.exists()


def test_another_site_gets_none(browse: Callable[..., Client]) -> None:
    assert browse(checked=True).post(ADDRESS).status_code == 403
    assert browse().get(ADDRESS).status_code == 405
    assert not AccessToken.objects.exists()


def test_page_reads_with_it_and_can_neither_spend_nor_sell(browse: Callable[..., Client]) -> None:
    user = UserFactory()
    response = browse(user).post(ADDRESS)
    assert "no-store" in response["Cache-Control"]
    body = response.json()
    assert set(body) == {"token", "expiresAt", "scopes"}
    api = APIClient(headers={"authorization": f"Bearer {body['token']}"})
    assert api.get("/api/v1/wallet").status_code == 200
    assert api.get("/api/v1/library").status_code == 200
    for path in ("/api/v1/wallet/spend", "/api/v1/vendor/assets"):
        refused = api.post(path, {}, format="json")
        assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert not AccessToken.objects.get().effective_scopes & {Scope.WALLET_SPEND, Scope.VENDOR_MANAGE}


def test_whoever_is_shut_out_loses_it_at_once(browse: Callable[..., Client]) -> None:
    user = UserFactory()
    secret = browse(user).post(ADDRESS).json()["token"]
    type(user).objects.update(is_active=False)
    assert APIClient(headers={"authorization": f"Bearer {secret}"}).get("/api/v1/wallet").status_code == 401

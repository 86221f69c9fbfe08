"""MCP tokens, rotation and revocation in the dashboard."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from developers.authentication import principal_of_bearer, principal_of_key
from developers.models import AccessToken, ApiKey, App
from developers.services.credentials import issue_api_key, issue_mcp_token, issue_token_without_app
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope
from tests.factories import PASSWORD, AppFactory

from .markup import read

pytestmark = pytest.mark.django_db

COMPLETE = {"name": "desk assistant", "lifetime": "30"}


@pytest.fixture
def mcp_token(app: App) -> AccessToken:
    return issue_mcp_token(app=app, name="desk", expires_at=timezone.now() + timedelta(days=30), actor=app.developer)[0]


@pytest.fixture
def key(app: App) -> ApiKey:
    return issue_api_key(app=app, name="server", actor=app.developer)[0]


@pytest.fixture
def personal(developer: User) -> AccessToken:
    soon = timezone.now() + timedelta(days=30)
    return issue_token_without_app(user=developer, name="mine", scopes=frozenset({Scope.ACCOUNT_READ}), expires_at=soon, actor=developer)[0]


def _secret(html: bytes) -> str:
    found = re.search(r'id="secret">([^<]+)<', html.decode())
    assert found
    return found[1]


def test_app_that_spends_asks_for_the_password(browse: Callable[..., Client], developer: User) -> None:
    app = AppFactory(user=developer)
    client, address = browse(developer), reverse("mcp-token-create", args=[app.pk])
    for answers in (COMPLETE, COMPLETE | {"password": "wrong"}):
        response = client.post(address, answers)
        assert response.status_code == 400
        assert list(response.context["form"].errors) == ["password"]
    made = client.post(address, COMPLETE | {"password": PASSWORD}, follow=True)
    token = AccessToken.objects.get()
    assert Scope.WALLET_SPEND in token.scopes
    assert PASSWORD not in made.content.decode()
    rotate = reverse("mcp-token-rotate", args=[app.pk, token.pk])
    assert client.post(rotate, {"overlap": "7"}).status_code == 400
    assert client.post(rotate, {"overlap": "7", "password": PASSWORD}).status_code == 302
    assert AccessToken.objects.count() == 2


@pytest.mark.parametrize("kind", ["key", "mcp-token", "token"])
def test_credential_is_revoked_after_a_question_and_again_without_harm(
    browse: Callable[..., Client], developer: User, app: App, key: ApiKey, mcp_token: AccessToken, personal: AccessToken, kind: str
) -> None:
    page = reverse("app-detail", args=[app.pk])
    choices: dict[str, tuple[Any, list[Any], str, str]] = {
        "key": (key, [app.pk, key.pk], page, "Ended keys (1)"),
        "mcp-token": (mcp_token, [app.pk, mcp_token.pk], page, "Ended MCP tokens (1)"),
        "token": (personal, [personal.pk], reverse("tokens"), "Ended tokens (1)"),
    }
    credential, arguments, back, ended = choices[kind]
    client, address = browse(developer), reverse(f"{kind}-revoke", args=arguments)
    assert f"Revoke {credential.name}?" in client.get(address).content.decode()
    credential.refresh_from_db()
    assert credential.is_active
    for _ in range(2):
        assert client.post(address)["Location"] == back
    credential.refresh_from_db()
    assert not credential.is_active
    assert ended in client.get(back).content.decode()


def test_rotation_shows_the_new_secret_once(
    browse: Callable[..., Client], developer: User, app: App, key: ApiKey, personal: AccessToken
) -> None:
    client = browse(developer)
    made = client.post(reverse("key-rotate", args=[app.pk, key.pk]), {"overlap": "1"}, follow=True)
    read(made)
    assert principal_of_key(_secret(made.content)).credential.pk != key.pk
    made = client.post(reverse("token-rotate", args=[personal.pk]), {"overlap": "0"}, follow=True)
    assert principal_of_bearer(f"Bearer {_secret(made.content)}").scopes == {Scope.ACCOUNT_READ}
    personal.refresh_from_db()
    assert not personal.is_active


def test_overlap_that_is_not_offered_changes_nothing(browse: Callable[..., Client], developer: User, app: App, key: ApiKey) -> None:
    read(browse(developer).post(reverse("key-rotate", args=[app.pk, key.pk]), {"overlap": "8"}), 400)
    assert ApiKey.objects.count() == 1


@pytest.mark.slow
def test_ended_key_is_not_rotated_and_says_why(browse: Callable[..., Client], developer: User, app: App, key: ApiKey) -> None:
    ApiKey.objects.update(revoked_at=timezone.now())
    page = read(browse(developer).post(reverse("key-rotate", args=[app.pk, key.pk]), {"overlap": "1"}), 400)
    assert "The key has expired or was revoked" in page

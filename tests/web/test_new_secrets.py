"""A new secret is shown by the page after the form, once: a reload of it creates nothing and shows nothing."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from developers.dashboard import new_secrets
from developers.models import AccessToken, ApiKey, App, WebhookEndpoint
from marketplace.accounts.models import User
from tests.factories import UserFactory

from .markup import soup

pytestmark = pytest.mark.django_db

FORMS = {
    "key-create": {"name": "build", "lifetime": ""},
    "mcp-token-create": {"name": "desk", "lifetime": "30"},
    "token-create": {"name": "mine", "scopes": ["account:read"], "lifetime": "7"},
    "webhook-create": {"url": "https://app.example/hook", "events": ["asset.published"], "description": ""},
}


def _create(client: Client, app: App, name: str) -> str:
    arguments = [] if name == "token-create" else [app.pk]
    return str(client.post(reverse(name, args=arguments), FORMS[name])["Location"])


def _secret(client: Client, address: str) -> str | None:
    found = soup(client.get(address, follow=True)).select_one("#secret")
    return found.get_text(strip=True) if found else None


@pytest.mark.parametrize("name", FORMS)
def test_new_secret_is_shown_once_and_a_reload_shows_none(browse: Callable[..., Client], developer: User, app: App, name: str) -> None:
    client = browse(developer)
    address = _create(client, app, name)
    assert client.head(address).status_code in {200, 302}
    kept = str(dict(client.session))
    secret = _secret(client, address)
    assert secret
    # Encrypted until then.
    assert secret not in kept
    assert "no-store" in client.get(address)["Cache-Control"]
    assert _secret(client, address) is None
    assert AccessToken.objects.count() + ApiKey.objects.count() + WebhookEndpoint.objects.count() == 1
    pages = [reverse(each) for each in ("dashboard", "apps", "tokens")] + [
        reverse(each, args=[app.pk]) for each in ("app-detail", "webhooks")
    ]
    shown = "".join(client.get(page).content.decode() for page in pages)
    assert secret not in shown
    assert (f"…{secret[-4:]}" in shown) is (name != "webhook-create")


def test_new_secret_that_nobody_looked_at_expires(
    browse: Callable[..., Client], developer: User, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_secrets, "SECONDS", 0)
    client = browse(developer)
    assert _secret(client, _create(client, app, "key-create")) is None


def test_secret_is_not_shown_on_the_page_of_another_credential(browse: Callable[..., Client], developer: User, app: App) -> None:
    client = browse(developer)
    first, second = _create(client, app, "key-create"), _create(client, app, "key-create")
    assert first != second
    assert _secret(client, first) is None
    assert _secret(client, second)


def test_secret_is_not_found_by_someone_else_or_in_another_session(browse: Callable[..., Client], developer: User, app: App) -> None:
    client = browse(developer)
    address = _create(client, app, "key-create")
    assert browse(UserFactory()).get(address).status_code == 404
    assert _secret(browse(developer), address) is None
    assert _secret(client, address)

"""Apps and keys in the dashboard."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from developers.models import ApiKey, App
from developers.services.apps import suspend_app
from developers.services.credentials import issue_api_key
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope
from tests.factories import PASSWORD, AppFactory

from .markup import faults_of, read

pytestmark = pytest.mark.django_db

COMPLETE = {"name": "Finder", "purpose": "Finds fonts", "scopes": ["catalog:read"], "reason_catalog_read": "To read manifests"}


def test_app_creation_by_an_unverified_user_is_refused_and_keeps_the_form(browse: Callable[..., Client]) -> None:
    client, address = browse(), reverse("app-create")
    assert "Apps are for approved developers" in read(client.get(address))
    page = read(client.post(address, COMPLETE), 400)
    assert 'value="Finder"' in page
    assert "approved developers" in page
    assert not App.objects.exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "Finder \u202egro.knab"}, "name"),
        ({"scopes": ["catalog:read", "wallet:spend"]}, "reason_wallet_spend"),
    ],
)
def test_create_with_bad_input_names_the_field(
    browse: Callable[..., Client], developer: User, change: dict[str, object], field: str
) -> None:
    response = browse(developer).post(reverse("app-create"), COMPLETE | change)
    assert response.status_code == 400
    assert list(response.context["form"].errors) == [field]
    assert not App.objects.exists()


def test_reason_of_a_scope_that_is_not_requested_is_ignored(browse: Callable[..., Client], developer: User) -> None:
    response = browse(developer).post(reverse("app-create"), COMPLETE | {"reason_wallet_spend": "left over"})
    app = App.objects.get()
    assert response["Location"] == reverse("app-detail", args=[app.pk])
    assert [(row.scope, row.reason) for row in app.scope_rows.all()] == [("catalog:read", "To read manifests")]


def test_app_that_is_not_approved_is_offered_no_key(browse: Callable[..., Client], developer: User, app: App) -> None:
    client = browse(developer)
    client.post(reverse("app-create"), COMPLETE)
    for each, is_offered in ((App.objects.get(name="Finder"), False), (app, True)):
        page = read(client.get(reverse("app-detail", args=[each.pk])))
        assert (reverse("key-create", args=[each.pk]) in page) == is_offered


def test_app_page_shows_granted_and_refused_scopes_with_their_notes(browse: Callable[..., Client], developer: User, app: App) -> None:
    text = read(browse(developer).get(reverse("app-detail", args=[app.pk])))
    for words in ("Granted", "Not granted", "Not yet, please", "Good start"):
        assert words in text


@pytest.mark.slow
def test_more_scopes_are_requested_once(browse: Callable[..., Client], developer: User, app: App) -> None:
    client, address = browse(developer), reverse("app-scopes", args=[app.pk])
    page = read(client.get(address))
    assert ('value="catalog:read"' in page, 'value="library:read"' in page) == (False, True)
    request = {"scopes": ["library:read"], "reason_library_read": "To mark what is owned"}
    assert client.post(address, request)["Location"] == reverse("app-detail", args=[app.pk])
    refused = client.post(address, {"scopes": ["account:read"], "reason_account_read": "More"})
    assert (refused.status_code, 'value="More"' in refused.content.decode()) == (400, True)


@pytest.mark.parametrize("password", [{}, {"password": "wrong"}], ids=str)
def test_key_that_can_spend_needs_the_password(browse: Callable[..., Client], password: dict[str, str]) -> None:
    app = AppFactory(granted_scopes="catalog:read wallet:spend")
    key, _ = issue_api_key(app=app, name="old", actor=app.developer)
    client = browse(app.developer)
    for address, answers in {
        reverse("key-create", args=[app.pk]): {"name": "build", "lifetime": ""},
        reverse("key-rotate", args=[app.pk, key.pk]): {"overlap": "1"},
    }.items():
        response = client.post(address, answers | password)
        assert list(response.context["form"].errors) == ["password"]
        assert faults_of(response.content) == []
        assert ApiKey.objects.get() == key
        assert client.post(address, answers | {"password": PASSWORD}).status_code == 302
        ApiKey.objects.exclude(pk=key.pk).delete()


def test_new_key_may_expire(browse: Callable[..., Client], developer: User, app: App) -> None:
    client = browse(developer)
    for lifetime in ("", "30"):
        client.post(reverse("key-create", args=[app.pk]), {"name": f"build {lifetime}", "lifetime": lifetime})
    lasting, ending = ApiKey.objects.order_by("created_at")
    assert lasting.expires_at is None
    assert lasting.scopes == {Scope.CATALOG_READ}
    assert (expires_at := ending.expires_at) is not None
    assert abs(expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)


@pytest.mark.slow
def test_app_that_made_its_calls_long_ago_is_not_said_to_have_made_none(browse: Callable[..., Client], developer: User, app: App) -> None:
    client = browse(developer)
    client.post(reverse("key-create", args=[app.pk]), {"name": "build", "lifetime": ""})
    ApiKey.objects.update(last_used_at=timezone.now() - timedelta(days=60))
    text = read(client.get(reverse("app-detail", args=[app.pk])))
    assert ("No calls in 30 days." in text, "2 months ago" in text, "No calls yet" in text) == (True, True, False)


def test_new_key_of_a_suspended_app_is_refused(browse: Callable[..., Client], developer: User, app: App, reviewer: User) -> None:
    suspend_app(app=app, reason="Misused", actor=reviewer)
    client = browse(developer)
    assert client.post(reverse("key-create", args=[app.pk]), {"name": "build", "lifetime": ""}).status_code == 400
    text = client.get(reverse("app-detail", args=[app.pk])).content.decode()
    assert "Misused" in text
    assert "Suspended" in text

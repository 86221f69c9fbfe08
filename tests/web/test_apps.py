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
from tests.factories import PASSWORD, AppFactory, UserFactory

from .markup import faults_of

pytestmark = pytest.mark.django_db

APPS = "/dashboard/apps"
COMPLETE = {"name": "Finder", "purpose": "Finds fonts", "scopes": ["catalog:read"], "reason_catalog_read": "To read manifests"}


def test_app_creation_by_an_unverified_user_is_refused_and_keeps_the_form(browse: Callable[..., Client]) -> None:
    client = browse()
    assert "Apps are for approved developers" in client.get(reverse("app-create")).content.decode()
    response = client.post(reverse("app-create"), COMPLETE)
    assert response.status_code == 400
    assert "approved developers" in response.content.decode()
    assert response.context["form"]["name"].value() == "Finder"
    assert not App.objects.exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "Finder \u202egro.knab"}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["vendor:manage"]}, "scopes"),
        ({"reason_catalog_read": "x" * 2001}, "reason_catalog_read"),
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


@pytest.mark.parametrize(("figure", "shown"), [(None, 60), (1500, "1,500")])
def test_app_page_shows_the_rate_limit_of_each_key(browse: Callable[..., Client], app: App, figure: int | None, shown: object) -> None:
    key, _ = issue_api_key(app=app, name="server", actor=app.developer)
    ApiKey.objects.filter(pk=key.pk).update(rate_limit=figure)
    page = browse(app.user).get(reverse("app-detail", args=[app.pk])).content.decode()
    assert f'<td data-label="Calls a minute">{shown}</td>' in page


def test_reason_of_a_scope_that_is_not_requested_is_ignored(browse: Callable[..., Client], developer: User) -> None:
    response = browse(developer).post(reverse("app-create"), COMPLETE | {"reason_wallet_spend": "left over"})
    app = App.objects.get()
    assert response["Location"] == reverse("app-detail", args=[app.pk])
    assert [(row.scope, row.reason) for row in app.scope_rows.all()] == [("catalog:read", "To read manifests")]


def test_created_app_is_pending_and_offers_no_key(browse: Callable[..., Client], developer: User) -> None:
    client = browse(developer)
    text = client.post(reverse("app-create"), COMPLETE, follow=True).content.decode()
    assert "with our reviewers" in text
    assert "Waiting" in text
    app = App.objects.get()
    assert reverse("key-create", args=[app.pk]) not in text
    response = client.post(reverse("key-create", args=[app.pk]), {"name": "early", "lifetime": ""})
    assert response.status_code == 400
    assert "an approved app with granted scopes" in response.content.decode()
    assert response.context["form"]["name"].value() == "early"


def test_app_page_shows_granted_and_refused_scopes_with_their_notes(browse: Callable[..., Client], developer: User, app: App) -> None:
    text = browse(developer).get(reverse("app-detail", args=[app.pk])).content.decode()
    for words in ("To read manifests", "Granted", "To buy in one click", "Not granted", "Not yet, please", "Good start"):
        assert words in text


@pytest.mark.slow
def test_more_scopes_offers_only_what_the_app_lacks(browse: Callable[..., Client], developer: User, app: App) -> None:
    client = browse(developer)
    address = reverse("app-scopes", args=[app.pk])
    assert 'value="catalog:read"' not in client.get(address).content.decode()
    granted_already = {"scopes": ["catalog:read"], "reason_catalog_read": "Again"}
    response = client.post(address, granted_already)
    assert response.status_code == 400
    assert "doesn&#x27;t have yet" in response.content.decode()
    assert 'value="Again"' in response.content.decode()
    response = client.post(address, {"scopes": ["library:read"], "reason_library_read": "To mark what is owned"})
    assert response["Location"] == reverse("app-detail", args=[app.pk])
    # The old grant holds, and a second request waits for the first.
    app.refresh_from_db()
    assert app.scopes == {Scope.CATALOG_READ}
    assert "request scopes now" in client.get(address).content.decode()
    response = client.post(address, {"scopes": ["account:read"], "reason_account_read": "More"})
    assert response.status_code == 400
    assert "Wait for the decision" in response.content.decode()
    assert 'value="More"' in response.content.decode()


@pytest.mark.parametrize("bad", [{"name": ""}, {"lifetime": "9999"}])
def test_new_key_with_invalid_input_is_refused(browse: Callable[..., Client], developer: User, app: App, bad: dict[str, str]) -> None:
    response = browse(developer).post(reverse("key-create", args=[app.pk]), {"name": "build", "lifetime": "30"} | bad)
    assert response.status_code == 400
    assert not ApiKey.objects.exists()


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


def test_new_key_of_a_suspended_app_is_refused(browse: Callable[..., Client], developer: User, app: App, reviewer: User) -> None:
    suspend_app(app=app, reason="Misused", actor=reviewer)
    client = browse(developer)
    assert client.post(reverse("key-create", args=[app.pk]), {"name": "build", "lifetime": ""}).status_code == 400
    text = client.get(reverse("app-detail", args=[app.pk])).content.decode()
    assert "Misused" in text
    assert "Suspended" in text


def test_empty_list_of_apps_links_to_the_next_step(browse: Callable[..., Client], developer: User) -> None:
    assert reverse("app-create") in browse(developer).get(APPS).content.decode()
    assert reverse("developer-application") in browse(UserFactory()).get(APPS).content.decode()

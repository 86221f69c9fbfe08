"""What a developer's form tells of a field that was just left: who is told what, and that nothing is saved."""

from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from developers.models import App, DeveloperApplication, WebhookEndpoint
from tests.factories import AppFactory

pytestmark = pytest.mark.django_db
Browse = Callable[..., Client]
LONG = "x" * 5_000


def errors_shown(client: Client, form: str, field: str, **typed: Any) -> str:
    response = client.post(reverse("check-field", args=[form, field]), typed)
    assert response.status_code == 200
    said = BeautifulSoup(response.content, "html.parser").select_one("[data-errors]")
    return "" if said is None else said.get_text(" ", strip=True)


def test_live_check_of_a_signed_out_user_is_empty_and_not_cached(client: Client) -> None:
    response = client.post(reverse("check-field", args=["app", "name"]), {"name": ""})
    assert (response.status_code, response.content) == (204, b"")
    assert "no-store" in response["Cache-Control"]


def test_live_checks_above_the_rate_limit_show_no_errors(browse: Browse, settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"live_checks": 2}
    client = browse()
    assert errors_shown(client, "app", "name")
    assert errors_shown(client, "application", "what")
    refused = client.post(reverse("check-field", args=["app", "name"]))
    assert (refused.status_code, refused.content) == (204, b"")
    assert int(refused["Retry-After"]) > 0
    assert refused["RateLimit-Policy"] == '"live-checks";q=2;w=60'
    # One person's typing is not counted against another's, and the form itself is judged as ever.
    assert errors_shown(browse(), "app", "name")
    assert "This field is required." in client.post(reverse("developer-application"), {"what": " "}).content.decode()


def test_live_checks_work_without_the_rate_limit_store(browse: Browse, settings: Any) -> None:
    settings.RATELIMIT_ENABLE = True
    settings.CACHES = settings.CACHES | {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
    assert errors_shown(browse(), "app", "name") == "This field is required."


@pytest.mark.parametrize(("form", "field"), [("nothing", "name"), ("app", "nothing"), ("key", "name"), ("app", "reason_vendor_manage")])
def test_live_check_of_an_unknown_form_or_field_is_not_found(browse: Browse, form: str, field: str) -> None:
    assert browse().post(reverse("check-field", args=[form, field])).status_code == 404
    assert browse().get(reverse("check-field", args=["app", "name"])).status_code == 405


@pytest.mark.parametrize(
    ("form", "field", "typed", "words"),
    [
        ("application", "what", {"what": " "}, "This field is required."),
        ("answer", "text", {"text": ""}, "This field is required."),
        ("app", "name", {"name": LONG}, "at most"),
        ("scopes", "reason_library_read", {"scopes": ["library:read"]}, "Say why"),
        ("redirects", "redirect_uris", {"redirect_uris": "https://a.example/\nhttp://b.example/"}, "http://b.example/: It must start with"),
        ("webhook", "url", {"url": "http://app.example/hook"}, "https"),
    ],
)
def test_live_check_shows_an_error_until_it_is_corrected(browse: Browse, form: str, field: str, typed: dict[str, Any], words: str) -> None:
    client = browse()
    assert words in errors_shown(client, form, field, **typed)
    right = "https://app.example/hook" if field in {"website", "redirect_uris", "url"} else "A font picker"
    assert errors_shown(client, form, field, **(typed | {field: right})) == ""


def test_live_check_saves_nothing_and_escapes_the_value(browse: Browse) -> None:
    client = browse()
    page = client.post(reverse("check-field", args=["redirects", "redirect_uris"]), {"redirect_uris": "<script>alert(1)</script>"})
    assert "&lt;script&gt;" in page.content.decode()
    assert "<script>" not in page.content.decode()
    errors_shown(client, "application", "what", what="A font picker", why="It reads the catalog")
    errors_shown(client, "app", "name", name="Picker", purpose="Picks", scopes=["library:read"], reason_library_read="To read")
    assert not DeveloperApplication.objects.exists()
    assert not App.objects.exists()


@pytest.mark.slow
def test_each_live_field_of_the_developer_pages_has_a_working_address(browse: Browse) -> None:
    app = AppFactory(granted_scopes="library:read")
    endpoint = WebhookEndpoint.objects.create(app=app, url="https://app.example/hook")
    client = browse(app.developer)
    pages = [
        reverse("developer-application"),
        *(reverse(name, args=[app.pk]) for name in ("app-scopes", "app-redirects", "webhook-create")),
    ]
    pages.append(reverse("webhook-edit", args=[app.pk, endpoint.pk]))
    for address in pages:
        page = BeautifulSoup(client.get(address).content, "html.parser")
        fields = page.select("[hx-post]")
        assert fields, address
        for field in fields:
            assert client.post(str(field["hx-post"])).status_code == 200, field["hx-post"]
            assert field.select_one("[data-live-check]") is not None

"""What a forged form gets, and where someone signed out comes back to; whose things pages show is in `test_others_things.py`."""

from collections.abc import Callable
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from developers.models import AccessToken, ApiKey, App, DeveloperApplication
from developers.services.credentials import issue_api_key, issue_personal_token
from marketplace.accounts.models import User
from marketplace.accounts.pages import SIGNED_OUT
from marketplace.core.scopes import Scope
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

PLAIN = ["dashboard", "developer-application", "apps", "app-create", "tokens", "token-create", "spending"]
FORMS = ["developer-application", "app-create", "token-create"]


@pytest.fixture
def key(app: App) -> ApiKey:
    return issue_api_key(app=app, name="build", actor=app.developer)[0]


@pytest.fixture
def token(developer: User) -> AccessToken:
    soon = timezone.now() + timedelta(days=1)
    return issue_personal_token(user=developer, name="mine", scopes=frozenset({Scope.ACCOUNT_READ}), expires_at=soon, actor=developer)[0]


@pytest.fixture
def own_addresses(app: App, key: ApiKey, token: AccessToken) -> list[str]:
    """The developer's own things."""
    return [
        reverse("app-detail", args=[app.pk]),
        reverse("app-scopes", args=[app.pk]),
        reverse("key-create", args=[app.pk]),
        reverse("key-revoke", args=[app.pk, key.pk]),
        reverse("token-revoke", args=[token.pk]),
    ]


@pytest.mark.parametrize("method", ["get", "post"])
def test_anonymous_is_sent_to_sign_in_and_back(client: Client, method: str) -> None:
    address = reverse("tokens")
    response = getattr(client, method)(address)
    assert response.status_code == 302
    assert response["Location"] == f"{reverse('account_login')}?next={address}"


@pytest.mark.parametrize(
    ("came_from", "back"),
    [
        ("http://testserver/dashboard/studio/listings/a/files?x=1#file", "/dashboard/studio/listings/a/files?x=1"),
        # It came back with an error, where only forms are taken.
        ("http://testserver/dashboard/studio/listings/a/files/upload", "/dashboard"),
        ("http://testserver/nothing/is/here", "/dashboard"),
        ("http://elsewhere.example/dashboard/apps", "/dashboard"),
        ("http://testserver@elsewhere.example/", "/dashboard"),
        ("http://testserver//elsewhere.example/", "/dashboard"),
        ("http://testserver/\\elsewhere.example/", "/dashboard"),
        ("javascript:alert(1)", "/dashboard"),
        ("http://[", "/dashboard"),
        ("", "/dashboard"),
    ],
)
def test_form_of_someone_signed_out_leads_back_to_its_page_and_says_what_became_of_it(client: Client, came_from: str, back: str) -> None:
    response = client.post(reverse("studio-file-upload", args=["a"]), headers={"referer": came_from} if came_from else {})
    assert response["Location"] == f"{reverse('account_login')}?{urlencode({'next': back}, safe='/')}"
    assert SIGNED_OUT in client.get(response["Location"]).content.decode()


def test_script_of_someone_signed_out_leaves_no_message(client: Client) -> None:
    response = client.post(reverse("studio-file-upload", args=["a"]), headers={"sec-fetch-mode": "cors"})
    assert SIGNED_OUT not in client.get(response["Location"]).content.decode()


def test_other_peoples_lists_stay_out_of_mine(
    browse: Callable[..., Client], developer: User, app: App, key: ApiKey, token: AccessToken
) -> None:
    mine, other = browse(developer), browse()
    seen = "".join(mine.get(reverse(name)).content.decode() for name in PLAIN)
    assert "Font finder" in seen
    assert token.hint in seen
    for name in PLAIN:
        text = other.get(reverse(name)).content.decode()
        assert "Font finder" not in text
        assert token.hint not in text


def test_a_form_without_its_csrf_token_changes_nothing(
    browse: Callable[..., Client], developer: User, own_addresses: list[str], app: App, key: ApiKey, token: AccessToken
) -> None:
    client = browse(developer, checked=True)
    detail, *changing = own_addresses
    for address in [*map(reverse, FORMS), *changing]:
        response = client.post(address, {"name": "x", "what": "x", "why": "x"})
        assert response.status_code == 403, address
        assert "could not be checked" in response.content.decode()
    assert client.post(detail).status_code in {403, 405}
    key.refresh_from_db()
    token.refresh_from_db()
    assert key.live
    assert token.live
    assert ApiKey.objects.count() == 1
    assert DeveloperApplication.objects.count() == 1


def test_personal_pages_stay_out_of_caches(browse: Callable[..., Client], developer: User, own_addresses: list[str]) -> None:
    client = browse(developer)
    for address in [*map(reverse, PLAIN), *own_addresses]:
        assert "no-store" in client.get(address)["Cache-Control"], address


def test_pages_take_no_other_method(browse: Callable[..., Client]) -> None:
    client = browse()
    for name in PLAIN:
        assert client.delete(reverse(name)).status_code == 405
    for name in ("dashboard", "apps", "tokens", "spending"):
        assert client.post(reverse(name)).status_code == 405


def test_someone_no_longer_active_is_signed_out(browse: Callable[..., Client]) -> None:
    user = UserFactory()
    client = browse(user)
    user.is_active = False
    user.save()
    assert client.get(reverse("dashboard")).status_code == 302


@pytest.mark.parametrize("value", ["\\000aaaaaaaaaaaaaaa", "aaaaaaaaaaaa\\000", "aaaa\\377aaaaaaaa", "short", "a" * 5000])
def test_cookie_that_is_no_session_key_is_no_session(client: Client, value: str) -> None:
    # Quoted, a cookie may spell any character by its octal number.
    response = client.get(reverse("dashboard"), HTTP_COOKIE=f'sessionid="{value}"')
    assert (response.status_code, response["Location"].split("?")[0]) == (302, reverse("account_login"))

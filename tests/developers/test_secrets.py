"""No secret anywhere but on the page that shows it once: every kind is made, used, misused and looked for."""

import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.db import OperationalError, connection
from django.test import Client
from rest_framework.test import APIClient

from developers.models import AccessToken, ApiKey, App, FirstPartyToken, RefreshToken
from developers.secrets import Prefix, digest_of, new_secret
from developers.usage.buffer import usage_buffer
from marketplace.accounts.models import User
from marketplace.core.access import CredentialKind
from tests.admin.pages import address
from tests.callers import signed_in
from tests.factories import PASSWORD, AppFactory, UserFactory

from .cases import console_token, page_token, token_of

pytestmark = pytest.mark.django_db
SECRET = re.compile(r"cam_[a-z]+_[0-9A-Za-z]{38}")
# SQLite's indexes of words keep no rows that could be read; the text that they are made from is in catalog_searchdocument.
INDEXES_WITHOUT_ROWS = {"catalog_searchfts"}


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """What every logger says, the quiet ones too, with the trace, and before secrets are redacted."""
    # Under DEBUG it repeats every statement with its values, whatever a caller sent as content.
    caplog.set_level(logging.INFO, "django.db.backends")
    caplog.set_level(logging.DEBUG)
    for name in ("django", "django.request", "django.server", "developers", "marketplace"):
        logger = logging.getLogger(name)
        # Ahead of the console's, which redacts.
        monkeypatch.setattr(logger, "handlers", [caplog.handler, *logger.handlers])
        caplog.set_level(logging.DEBUG, name)
    return caplog


def shown_once(page: Any) -> str:
    """Return the secret that a page shows."""
    found = set(SECRET.findall(page.content.decode()))
    assert len(found) == 1, page.content.decode()
    return str(found.pop())


def every_kind(user: User, app: App, browser: Client) -> dict[str, str]:
    """Make a credential of every kind; those that a person makes, through the pages."""
    key = browser.post(f"/dashboard/apps/{app.pk}/keys/new", {"name": "laptop", "password": PASSWORD}, follow=True)
    scopes = ["account:read", "vendor:manage"]
    personal = browser.post("/dashboard/tokens/new", {"name": "laptop", "scopes": scopes, "lifetime": "30"}, follow=True)
    secrets = {"api_key": shown_once(key), "personal": shown_once(personal)}
    for kind in ("oauth", "mcp"):
        token, secrets[kind] = token_of(kind, user)
        if kind == "oauth":
            secrets["refresh"] = new_secret(Prefix.REFRESH_TOKEN)
            assert token.application is not None
            RefreshToken.objects.create(
                user=user, application=token.application, access_token=token, token="", token_checksum=digest_of(secrets["refresh"])
            )
    secrets["first_party"], secrets["console"] = page_token(user)[1], console_token(app)[1]
    assert set(secrets) == {kind.value for kind in CredentialKind} | {"refresh"}
    return secrets


def headers_with(secret: str) -> dict[str, str]:
    is_key = secret.startswith(Prefix.API_KEY) or FirstPartyToken.objects.filter(digest=digest_of(secret), app__isnull=False).exists()
    return {"x-api-key": secret} if is_key else {"authorization": f"Bearer {secret}"}


def misuse(secret: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield the answers to good, refused, malformed and crashing calls with a secret in header and body."""
    client = APIClient(headers=headers_with(secret), raise_request_exception=False)
    yield client.get("/api/v1/wallet")
    yield client.get("/api/v1/library")
    yield client.get("/api/v1/assets/none/manifest")
    yield client.get("/api/v1/vendor/assets")
    yield client.get("/api/v1/nowhere")
    yield client.post("/api/v1/wallet/spend", {"assetId": secret}, format="json")
    yield client.post("/api/v1/vendor/apply", {"storeName": secret, "storeSlug": secret}, format="json")
    yield client.generic("POST", "/api/v1/wallet/spend", f'{{"assetId": "{secret}', content_type="application/json")
    yield client.generic("POST", "/api/v1/wallet/spend", secret, content_type="text/plain")
    yield APIClient(headers={"x-api-key": secret, "authorization": f"Bearer {secret}"}).get("/api/v1/wallet")
    yield APIClient(headers={"authorization": f"Basic {secret}"}).get("/api/v1/wallet")
    for where, error in (
        ("wallet.api.views.wallet.wallet_of", RuntimeError("crash")),
        ("developers.authentication._record_use", RuntimeError("crash")),
        ("developers.authentication._record_use", OperationalError("gone")),
        ("developers.usage.middleware.call_of", RuntimeError("crash")),
    ):
        with monkeypatch.context() as broken:
            broken.setattr(where, lambda *_args, error=error: (_ for _ in ()).throw(error))
            yield client.get("/api/v1/wallet")


def cells() -> Iterator[str]:
    """Yield everything that stands in the database, sessions decoded."""
    with connection.cursor() as cursor:
        for table in set(connection.introspection.table_names(cursor)) - INDEXES_WITHOUT_ROWS:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 - a table's own name
            for row in cursor.fetchall():
                for cell in row:
                    yield cell.decode("latin-1") if isinstance(cell, bytes) else str(cell)
    for session in Session.objects.all():
        yield str(session.get_decoded())


def admin_pages() -> Iterator[str]:
    """Yield the list and the page of every credential, app and user in the admin, as rendered."""
    admin = signed_in(UserFactory(is_staff=True, is_superuser=True))
    for model in (ApiKey, AccessToken, App, User):
        yield admin.get(address(model, "changelist")).content.decode()
        for row in model._default_manager.all():
            yield admin.get(address(model, "change", row.pk)).content.decode()


def leaks(secrets: dict[str, str], texts: Iterator[str] | list[str]) -> list[tuple[str, str]]:
    """Return each place with a secret in it, or with its random part."""
    return [
        (kind, text[:300]) for text in texts for kind, secret in secrets.items() if secret in text or secret.rpartition("_")[2][:32] in text
    ]


@pytest.fixture
def secrets(settings: Any) -> dict[str, str]:
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, 1_000_000)
    user = UserFactory()
    return every_kind(user, AppFactory(user=user), signed_in(user))


@pytest.mark.parametrize("debug", [False, True], ids=["production", "debug"])
def test_no_secret_is_in_a_response_or_a_log_whatever_happens(
    secrets: dict[str, str], heard: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, settings: Any, *, debug: bool
) -> None:
    settings.DEBUG = debug
    statuses = set()
    for secret in secrets.values():
        for response in misuse(secret, monkeypatch):
            statuses.add(response.status_code)
            assert leaks(secrets, [response.content.decode(), str(dict(response.items()))]) == []
    assert {200, 400, 401, 403, 404, 500, 503} <= statuses
    usage_buffer.flush()
    assert heard.text
    assert leaks(secrets, [heard.text]) == []
    assert leaks(secrets, cells()) == []


def test_no_secret_is_in_the_database_mails_admin_or_dashboard_even_after_a_leak(
    secrets: dict[str, str], heard: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    key = ApiKey.objects.get()
    with django_capture_on_commit_callbacks(execute=True):
        found = [{"value": secret, "url": "https://paste.example/1"} for secret in secrets.values()]
        APIClient().post("/api/v1/leaked-credentials", {"credentials": [*found, {"value": secrets["mcp"], "url": 1}]}, format="json")
        answer = APIClient().post("/api/v1/leaked-credentials", {"credentials": found}, format="json")
    assert answer.json() == {"received": len(secrets)}
    assert len(mail.outbox) >= len(secrets)
    assert heard.text
    assert leaks(secrets, [heard.text]) == []
    assert leaks(secrets, [str(message.message()) + message.body for message in mail.outbox]) == []
    assert leaks(secrets, cells()) == []
    assert leaks(secrets, admin_pages()) == []
    browser, pages = signed_in(key.app.developer), ("", "/apps", f"/apps/{key.app_id}", "/tokens")
    assert leaks(secrets, [browser.get(f"/dashboard{page}").content.decode() for page in pages]) == []
    # The search itself finds one that was stored.
    ApiKey.objects.update(name=secrets["api_key"])
    assert {kind for kind, _ in leaks(secrets, cells())} == {"api_key"}
    assert leaks(secrets, admin_pages())

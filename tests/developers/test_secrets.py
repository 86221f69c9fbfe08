"""No secret anywhere but on the page that shows it once: every kind is made, used, misused and looked for."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.db import OperationalError, connection
from rest_framework.test import APIClient

from developers.models import ApiKey, RefreshToken
from developers.secrets import Prefix, digest_of, new_secret
from developers.usage.buffer import usage_buffer
from marketplace.core.access import CredentialKind

from .conditions import Held, hold

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unlimited")]
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


def misuse(held: Held, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield the answers to good, refused, malformed and crashing calls with a secret in header and body."""
    client, secret = APIClient(headers=held.headers, raise_request_exception=False), held.secret
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


def leaks(credentials: list[Held], texts: Iterable[str]) -> list[tuple[str, str]]:
    """Return each place with a secret in it, or with its random part."""
    return [(held.kind, text[:300]) for text in texts for held in credentials if held.secret.rpartition("_")[2][:32] in text]


@pytest.fixture
def credentials() -> list[Held]:
    """A credential of every kind, and a refresh token."""
    held = {kind: hold(kind) for kind in CredentialKind}
    oauth, secret = held[CredentialKind.OAUTH], new_secret(Prefix.REFRESH_TOKEN)
    row: dict[str, Any] = {"user": oauth.user, "application": oauth.app, "access_token": oauth.row}
    RefreshToken.objects.create(token="", token_checksum=digest_of(secret), **row)
    return [*held.values(), replace(oauth, secret=secret)]


@pytest.mark.parametrize("debug", [False, True], ids=["production", "debug"])
def test_no_secret_is_in_a_response_or_a_log_whatever_happens(
    credentials: list[Held], heard: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, settings: Any, *, debug: bool
) -> None:
    settings.DEBUG = debug
    statuses = set()
    for held in credentials:
        for response in misuse(held, monkeypatch):
            statuses.add(response.status_code)
            assert leaks(credentials, [response.content.decode(), str(dict(response.items()))]) == []
    assert {200, 400, 401, 403, 404, 500, 503} <= statuses
    usage_buffer.flush()
    assert heard.text
    assert leaks(credentials, [heard.text]) == []
    assert leaks(credentials, cells()) == []


def test_no_secret_is_in_the_database_or_mails_even_after_a_leak(
    credentials: list[Held], heard: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        found = [{"value": held.secret, "url": "https://paste.example/1"} for held in credentials]
        APIClient().post("/api/v1/leaked-credentials", {"credentials": [*found, found[0] | {"url": 1}]}, format="json")
        answer = APIClient().post("/api/v1/leaked-credentials", {"credentials": found}, format="json")
    assert answer.json() == {"received": len(credentials)}
    assert len(mail.outbox) >= len(credentials)
    assert heard.text
    assert leaks(credentials, [heard.text]) == []
    assert leaks(credentials, [str(message.message()) + message.body for message in mail.outbox]) == []
    assert leaks(credentials, cells()) == []
    # The search itself finds one that was stored.
    ApiKey.objects.update(name=credentials[-1].secret)
    assert leaks(credentials, cells()) != []

"""Reports of leaked credentials: no oracle, everything live revoked, owners told without the secret."""

import uuid
from typing import Any

import pytest
from django.core import mail
from django.db import OperationalError
from django.utils import timezone
from rest_framework.test import APIClient

from developers import bounds as developers_bounds
from developers.models import ApiKey, App, FirstPartyToken, RefreshToken
from developers.secrets import Prefix, digest_of, new_secret
from developers.services import leaks
from developers.services.credentials import issue_api_key, revoke_api_key
from marketplace.accounts.services import rename_user
from marketplace.core import bounds
from marketplace.core.access import CredentialKind
from marketplace.core.models import AuditEntry
from tests.factories import AppFactory

from .cases import page_token, token_of
from .conditions import hold

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]
WHERE = "https://paste.example/1"


def report(*found: Any, **extra: Any) -> Any:
    credentials = [{"value": item, "url": WHERE} if isinstance(item, str) else item for item in found]
    return APIClient().post("/api/v1/leaked-credentials", {"credentials": credentials}, format="json", **extra)


@pytest.mark.parametrize(
    "malformed",
    [
        {"url": WHERE},
        {"value": "a\nb"},
        {"value": "x" * (developers_bounds.SECRET_CHARS + 1)},
        {"value": "x", "url": "javascript:alert(1)"},
        {"value": "x", "url": "https://x.example/" + "a" * bounds.URL_CHARS},
        {"value": "x", "token": "x"},
    ],
)
def test_leak_report_with_a_malformed_credential_is_a_400(malformed: dict[str, str]) -> None:
    response = report("x", malformed)
    assert (response.status_code, response.json()["code"]) == (400, "invalid_input")


def test_too_many_reports_from_an_address_are_429(settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"leak_reports": 2}
    assert [report("x").status_code for _ in range(3)] == [200, 200, 429]
    assert report("x", REMOTE_ADDR="192.0.2.7").status_code == 200


def test_leak_reports_of_unknown_ended_and_valid_secrets_get_the_same_response() -> None:
    app = AppFactory()
    real = issue_api_key(app=app, name="a", actor=app.user)[1]
    ended, over = issue_api_key(app=app, name="b", actor=app.user)
    revoke_api_key(key=ended, actor=None)
    expired, past = page_token(app.developer)
    FirstPartyToken.objects.filter(pk=expired.pk).update(expires_at=timezone.now())
    answers = [report(secret) for secret in (real, over, past, *map(new_secret, Prefix), "hunter2", real, token_of("personal")[1])]
    assert {(answer.content, answer["Cache-Control"]) for answer in answers} == {(b'{"received":1}', "no-store")}
    assert report("a", "a", {"value": "b"}).json() == {"received": 3}
    assert FirstPartyToken.objects.get() == expired


@pytest.mark.parametrize("kind", CredentialKind)
def test_leaked_credential_is_revoked_and_user_and_developer_are_mailed_once(
    kind: CredentialKind, django_capture_on_commit_callbacks: Any
) -> None:
    held, client = hold(kind), APIClient()
    client.credentials(**{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in held.headers.items()})
    assert (client.get("/api/v1/me").status_code == 200) is (kind != CredentialKind.MCP)
    with django_capture_on_commit_callbacks(execute=True):
        for found in ([held.secret, held.secret], [held.secret]):
            report(*found)
    assert client.get("/api/v1/me").status_code == 401
    entry = AuditEntry.objects.get(action__endswith=".revoke")
    assert (entry.actor, entry.reason) == (None, f"Reported as leaked, found at {WHERE}")
    people = {held.user.email} | ({held.app.developer.email} if held.app else set())
    assert sorted(message.to[0] for message in mail.outbox) == sorted(people)
    # Each says which one it is; those of a page have no name, and that of OAuth is called by its kind.
    named = "OAuth token (…" if kind == CredentialKind.OAUTH else getattr(held.row, "hint", "")
    assert all(named in message.body for message in mail.outbox)
    # The words of a stranger have no place in a mail of ours: an address there would be followed.
    assert all(held.secret not in message.body and "paste.example" not in message.body for message in mail.outbox)


def test_leaked_refresh_token_even_a_used_one_revokes_its_family_and_is_mailed_once(django_capture_on_commit_callbacks: Any) -> None:
    (stranger, secret), (token, _) = token_of("oauth"), token_of("oauth")
    assert token.application is not None
    family, old = uuid.uuid4(), new_secret(Prefix.REFRESH_TOKEN)
    others = {"user": stranger.user, "application": stranger.application, "token": "", "token_family": uuid.uuid4()}
    RefreshToken.objects.create(token_checksum=digest_of(new_secret(Prefix.REFRESH_TOKEN)), access_token=stranger, **others)
    row = {"user": token.user, "application": token.application, "token": "", "token_family": family}
    RefreshToken.objects.create(token_checksum=digest_of(old), revoked=timezone.now(), **row)
    renewal = RefreshToken.objects.create(token_checksum=digest_of(new_secret(Prefix.REFRESH_TOKEN)), access_token=token, **row)
    with django_capture_on_commit_callbacks(execute=True):
        report(old)
        report(old)
    for ended in (token, renewal, stranger):
        ended.refresh_from_db()
    assert (token.is_active, renewal.revoked is None, stranger.is_active) == (False, False, True)
    assert sorted(message.to[0] for message in mail.outbox) == sorted([token.user.email, token.application.developer.email])
    entry = AuditEntry.objects.get(action="token_family.revoke")
    assert (entry.reason, entry.data["tokens"]) == (f"Reported as leaked, found at {WHERE}", 1)
    # A client with a metadata document has no developer.
    assert stranger.application is not None
    App.objects.filter(pk=stranger.application.pk).update(user=None, registration_source="cimd")
    with django_capture_on_commit_callbacks(execute=True):
        assert report(secret).status_code == 200
    assert mail.outbox[-1].to == [stranger.user.email]


def test_failed_revocation_of_a_leaked_key_leaves_the_others_and_can_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    app = AppFactory()
    keys = [issue_api_key(app=app, name=str(number), actor=app.user) for number in range(3)]
    revoke = revoke_api_key

    def stuck(*, key: Any, **rest: Any) -> bool:
        if key.pk == keys[1][0].pk:
            raise OperationalError
        return revoke(key=key, **rest)

    monkeypatch.setattr(leaks, "revoke_api_key", stuck)
    response = report(*[secret for _, secret in keys])
    assert (response.status_code, response.json()["code"]) == (503, "dependency_unavailable")
    assert [key.revoked_at is None for key in ApiKey.objects.order_by("id")] == [False, True, False]
    monkeypatch.undo()
    assert report(*[secret for _, secret in keys]).status_code == 200
    assert not ApiKey.objects.filter(revoked_at=None).exists()
    assert AuditEntry.objects.filter(action="apikey.revoke").count() == 3


def test_owner_of_many_leaked_secrets_gets_a_few_mails_a_day(django_capture_on_commit_callbacks: Any) -> None:
    app, other = AppFactory(), AppFactory()
    secrets = [issue_api_key(app=app, name=str(number), actor=app.user)[1] for number in range(developers_bounds.LEAK_MAILS_A_DAY + 2)]
    rename_user(user=app.user, name="Jo", actor=app.user)
    with django_capture_on_commit_callbacks(execute=True):
        report(*secrets)
        report(issue_api_key(app=other, name="x", actor=other.user)[1])
    assert not ApiKey.objects.filter(revoked_at=None).exists()
    mine = [message.body for message in mail.outbox if message.to == [app.user.email]]
    assert len(mine) == developers_bounds.LEAK_MAILS_A_DAY
    assert ["no further email" in body for body in mine] == [False] * (len(mine) - 1) + [True]
    assert [message.to for message in mail.outbox][-1] == [other.user.email]

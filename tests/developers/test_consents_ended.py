"""Consents that an admin ends in a user's stead."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from developers.authentication import principal_of_bearer
from developers.models import AccessToken, App, RefreshToken
from developers.secrets import Prefix, digest_of, new_secret
from developers.services.consents import revoke_consent, withdraw_consent
from developers.services.credentials import issue_mcp_token
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidCredential, InvalidInput, InvalidTransition
from tests.admin.subjects import consent
from tests.factories import UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]


def test_ending_a_consent_with_a_reason_revokes_its_tokens_mails_the_user_and_cannot_be_repeated(
    django_capture_on_commit_callbacks: Any,
) -> None:
    given, admin = consent(), UserFactory()
    secret = new_secret(Prefix.ACCESS_TOKEN)
    soon = timezone.now() + timedelta(hours=1)
    token = AccessToken.objects.create(
        user=given.user, application=given.app, kind="oauth", token_checksum=digest_of(secret), scope=given.scope, expires=soon
    )
    refresh = RefreshToken.objects.create(user=given.user, application=given.app, token_checksum="r", access_token=token)
    mail.outbox.clear()
    with pytest.raises(InvalidInput):
        revoke_consent(consent=given, reason=" ", actor=admin)
    principal_of_bearer(f"Bearer {secret}")
    with django_capture_on_commit_callbacks(execute=True):
        revoke_consent(consent=given, reason="It sold addresses", actor=admin)
    with pytest.raises(InvalidCredential):
        principal_of_bearer(f"Bearer {secret}")
    refresh.refresh_from_db()
    assert refresh.revoked is not None
    [message] = mail.outbox
    assert message.to == [given.user.email]
    assert given.app.name in message.subject
    assert "It sold addresses" in str(message.body)
    entry = history_of(given)[0]
    assert (entry.action, entry.actor, entry.reason, entry.data["tokens"]) == ("consent.withdraw", admin, "It sold addresses", 1)
    with pytest.raises(InvalidTransition):
        revoke_consent(consent=given, reason="Again", actor=admin)


def test_mcp_token_made_by_hand_outlives_the_developers_own_connection() -> None:
    given = consent()
    App.objects.filter(pk=given.app.pk).update(user=given.user, granted_scopes="catalog:read")
    app = App.objects.get(pk=given.app.pk)
    _, secret = issue_mcp_token(app=app, name="desk", expires_at=timezone.now() + timedelta(days=1), actor=given.user)
    withdraw_consent(user=given.user, app=app, actor=given.user)
    assert principal_of_bearer(f"Bearer {secret}").app == app

"""Keys that nobody uses: their owners get an email once."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from developers.models import ApiKey, App
from developers.services.credentials import issue_api_key, revoke_api_key
from developers.services.dormancy import mail_dormant_key
from marketplace.core.audit import history_of
from tests.admin.pages import address, text_of
from tests.callers import said, signed_in
from tests.factories import AppFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]
LONG_AGO = timedelta(days=91)


def key(**changes: Any) -> ApiKey:
    app = AppFactory()
    made, _ = issue_api_key(app=app, name="laptop", actor=app.user)
    ApiKey.objects.filter(pk=made.pk).update(**({"created_at": timezone.now() - LONG_AGO} | changes))
    made.refresh_from_db()
    return made


flag = partial(said, "mail_dormant_keys")


def test_used_new_expired_and_revoked_keys_are_not_dormant(django_capture_on_commit_callbacks: Any) -> None:
    key(last_used_at=timezone.now() - timedelta(days=89))
    key(created_at=timezone.now() - timedelta(days=89))
    key(expires_at=timezone.now() - timedelta(days=1))
    revoke_api_key(key=key(), actor=None)
    with django_capture_on_commit_callbacks(execute=True):
        assert flag() == "Sent 0 mails.\n"
    assert mail.outbox == []


def test_owner_is_mailed_once_until_the_dormant_key_is_used_again_and_never_by_a_dry_run(
    django_capture_on_commit_callbacks: Any,
) -> None:
    idle = key()
    with django_capture_on_commit_callbacks(execute=True):
        assert flag(dry_run=True).startswith(f"{idle.app.developer.email}: {idle.app.name}, key laptop")
        assert flag(dry_run=True).endswith("Would send 1 mails.\n")
    assert mail.outbox == []
    with django_capture_on_commit_callbacks(execute=True):
        assert (flag(), flag()) == ("Sent 1 mails.\n", "Sent 0 mails.\n")
    assert [message.to for message in mail.outbox] == [[idle.app.developer.email]]
    assert idle.last_four in mail.outbox[0].body
    assert history_of(idle).filter(action="apikey.mail_dormant").count() == 1
    # Told 200 days ago, used 100 days ago.
    idle.dormancy_notice.sent_at = timezone.now() - timedelta(days=200)
    idle.dormancy_notice.save()
    ApiKey.objects.filter(pk=idle.pk).update(last_used_at=timezone.now() - timedelta(days=100))
    assert (flag(), flag()) == ("Sent 1 mails.\n", "Sent 0 mails.\n")


def test_idle_key_is_flagged_to_owner_and_admin() -> None:
    idle = key()
    assert "Dormant" in text_of(signed_in(idle.app.developer).get(f"/dashboard/apps/{idle.app.pk}"))
    admin = signed_in(UserFactory(is_staff=True, is_superuser=True))
    assert "active, unused for 90 days" in text_of(admin.get(address(App, "change", idle.app.pk)))


def test_key_used_since_it_was_listed_as_dormant_is_not_mailed_about() -> None:
    idle, _still_idle = key(), key()
    ApiKey.objects.filter(pk=idle.pk).update(last_used_at=timezone.now())
    assert mail_dormant_key(key=idle, actor=None) is False

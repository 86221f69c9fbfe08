"""Tests of what staff change about accounts, as services: the admin's forms are tried in tests/admin."""

from functools import partial
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group
from django.core import mail as outbox
from django.db import IntegrityError

from developers.models import App
from developers.services.apps import suspend_app
from marketplace.accounts import services
from marketplace.accounts.models import Tier, User
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidInput, InvalidTransition
from marketplace.core.models import AuditEntry
from tests.factories import AppFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]

CHANGES = {
    "set_tier": partial(services.set_tier, tier=Tier.PRO),
    "deactivate": services.deactivate_user,
    "reactivate": services.reactivate_user,
    "set_staff": partial(services.set_staff, groups=[]),
    "remove_staff": services.remove_staff,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_change_of_an_account_without_a_reason_is_refused(change: partial[object]) -> None:
    with pytest.raises(InvalidInput):
        change(user=UserFactory(is_staff=True), reason="  ", actor=UserFactory(is_superuser=True))
    assert not AuditEntry.objects.exists()


def test_groups_of_a_staff_member_replace_earlier_ones_and_the_audit_log_names_both() -> None:
    user, earlier, later = UserFactory(is_staff=True), Group.objects.create(name="Reviewers"), Group.objects.create(name="Cashiers")
    user.groups.add(earlier)
    services.set_staff(user=user, groups=[later], reason="Moved", actor=UserFactory(is_superuser=True))
    assert user.groups.get() == later
    assert history_of(user).get().data == {"before": ["Reviewers"], "after": ["Cashiers"]}


def test_superuser_who_is_removed_from_staff_keeps_no_permission_and_can_be_deleted() -> None:
    former, root = UserFactory(is_staff=True, is_superuser=True), UserFactory(is_staff=True, is_superuser=True)
    services.remove_staff(user=former, reason="Left", actor=root)
    assert not User.objects.get(pk=former.pk).has_perm("accounts.grant_staff_user")
    assert services.delete_account(user=former, reason="Left", actor=root).deleted


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_deleted_account_is_not_changed_any_more(change: partial[object]) -> None:
    user = services.delete_account(user=UserFactory(), reason="Asked for", actor=None)
    with pytest.raises(InvalidTransition):
        change(user=user, reason="By mistake", actor=UserFactory(is_superuser=True))
    user.refresh_from_db()
    assert (user.tier, user.is_active, user.is_staff) == (Tier.FREE, False, False)


def test_superuser_is_not_made_with_an_address_that_somebody_else_has_confirmed() -> None:
    EmailAddress.objects.create(user=UserFactory(), email="second@example.com", verified=True)
    with pytest.raises(IntegrityError):
        User.objects.create_superuser("second@example.com", "a long enough phrase")
    assert not User.objects.filter(is_superuser=True).exists()


def test_deleted_account_gets_no_mail(django_capture_on_commit_callbacks: Any) -> None:
    app = AppFactory()
    with django_capture_on_commit_callbacks(execute=True):
        services.delete_account(user=app.user, reason="Asked for", actor=None)
        suspend_app(app=App.objects.get(pk=app.pk), reason="Abandoned", actor=UserFactory())
    # The last one says that it is deleted.
    assert [message.to for message in outbox.outbox] == [[app.user.email]]

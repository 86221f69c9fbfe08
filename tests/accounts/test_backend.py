"""Who is signed in and what they may do."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission

from marketplace.accounts.models import User
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def permission(label: str) -> Permission:
    app_label, codename = label.split(".")
    return Permission.objects.get(content_type__app_label=app_label, codename=codename)


def test_password_is_looked_at_once(monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    looked: list[str] = []
    check = User.check_password

    def look(user: User, raw: str) -> bool:
        looked.append(raw)
        return check(user, raw)

    monkeypatch.setattr(User, "check_password", look)
    UserFactory(email="asha@example.com")
    client.post("/account/login/", {"login": "asha@example.com", "password": "not the password"})
    assert looked == ["not the password"]


def test_what_is_taken_away_is_gone_with_the_next_request(client: Any, settings: Any) -> None:
    settings.ADMIN_REQUIRES_SECOND_FACTOR = False
    user, group = UserFactory(is_staff=True), Group.objects.create(name="Viewers")
    group.permissions.add(permission("accounts.view_user"))
    user.groups.add(group)
    client.force_login(user)
    users = "/admin/accounts/user/"
    assert client.get(users).status_code == 200
    group.permissions.clear()
    assert client.get(users).status_code == 403
    user.user_permissions.add(permission("accounts.view_user"))
    assert client.get(users).status_code == 200
    # Permissions stay with who is no longer staff, but the admin does not.
    User.objects.filter(pk=user.pk).update(is_staff=False)
    assert client.get(users, follow=True).status_code == 403
    User.objects.filter(pk=user.pk).update(is_staff=True, is_active=False)
    assert client.get(users).status_code == 302

"""Who is signed in and what they may do: read once, and never more than they were given."""

from typing import Any
from unittest.mock import patch

import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.contrib.auth.models import AnonymousUser, Group, Permission

from marketplace.accounts.backends import AccountBackend
from marketplace.accounts.models import User
from marketplace.core.ids import new_id
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def permission(label: str) -> Permission:
    app_label, codename = label.split(".")
    return Permission.objects.get(content_type__app_label=app_label, codename=codename)


def signed_in(user: User) -> User:
    found = AccountBackend().get_user(user.pk)
    assert found is not None
    return found


def test_permissions_of_the_user_and_of_groups_are_read_in_one_query(django_assert_num_queries: Any) -> None:
    user, group = UserFactory(is_staff=True), Group.objects.create(name="Editors")
    user.user_permissions.add(permission("accounts.view_user"), permission("developers.decide_app"))
    group.permissions.add(permission("catalog.review_listing"), permission("accounts.view_user"))
    user.groups.add(group)
    with django_assert_num_queries(2):
        viewer = signed_in(user)
        assert viewer.has_perm("accounts.view_user")
        assert viewer.has_perm("catalog.review_listing")
        assert viewer.has_module_perms("developers")
        assert not viewer.has_perm("accounts.erase_user")
        assert viewer.get_all_permissions() == {"accounts.view_user", "developers.decide_app", "catalog.review_listing"}
    with django_assert_num_queries(2):
        assert User.objects.get(pk=user.pk).get_all_permissions() == viewer.get_all_permissions()


def test_permissions_are_nobodys_when_deactivated_and_everyones_for_a_superuser(django_assert_num_queries: Any) -> None:
    shut = UserFactory(is_staff=True, is_active=False)
    shut.user_permissions.add(permission("accounts.view_user"))
    with django_assert_num_queries(0):
        assert AccountBackend().get_all_permissions(shut) == set()
        assert AccountBackend().get_all_permissions(AnonymousUser()) == set()
        assert UserFactory.build(is_superuser=True).has_perm("accounts.erase_user")
    root = signed_in(UserFactory(is_superuser=True, is_staff=True))
    assert "accounts.erase_user" in root.get_all_permissions()
    # Nothing here is given for single rows.
    assert not signed_in(UserFactory(is_staff=True)).has_perm("accounts.view_user", root)


def test_user_is_loaded_with_the_second_factor_in_one_query(django_assert_num_queries: Any) -> None:
    user = UserFactory()
    assert not signed_in(user).has_second_factor
    TOTP.activate(user, generate_totp_secret())
    with django_assert_num_queries(1):
        assert signed_in(user).has_second_factor
    assert User.objects.get(pk=user.pk).has_second_factor


def test_password_is_checked_once_at_a_sign_in(client: Any) -> None:
    UserFactory(email="asha@example.com")
    with patch.object(User, "check_password", autospec=True, side_effect=User.check_password) as check:
        client.post("/account/login/", {"login": "asha@example.com", "password": "not the password"})
    check.assert_called_once()


def test_withdrawn_permission_is_gone_at_the_next_request(client: Any, settings: Any) -> None:
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
    for nobody in (user.pk, new_id()):
        assert AccountBackend().get_user(nobody) is None

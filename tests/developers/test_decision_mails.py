"""Whoever a decision is about reads of it in a mail, with the reason."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from developers.services.apps import narrow_scopes, reinstate_app, suspend_app
from developers.services.credentials import issue_api_key, issue_mcp_token, issue_personal_token, revoke_api_key, revoke_token
from marketplace.accounts.models import User
from marketplace.accounts.services import deactivate_user, reactivate_user
from marketplace.core.scopes import Scope
from tests.factories import AppFactory, UserFactory

pytestmark = pytest.mark.django_db

REASON = "It was <used> & shared"


def end_key(user: User, admin: User) -> None:
    key, _ = issue_api_key(app=AppFactory(user=user), name="server", actor=user)
    revoke_api_key(key=key, actor=admin, reason=REASON)


def end_token(user: User, admin: User) -> None:
    soon = timezone.now() + timedelta(days=1)
    token, _ = issue_personal_token(user=user, name="laptop", scopes=frozenset({Scope.ACCOUNT_READ}), expires_at=soon, actor=user)
    revoke_token(token=token, actor=admin, reason=REASON)


def end_tool_token(user: User, admin: User) -> None:
    app = AppFactory(user=user, granted_scopes="catalog:read")
    token, _ = issue_mcp_token(app=app, name="desk", expires_at=timezone.now() + timedelta(days=1), actor=user)
    revoke_token(token=token, actor=admin, reason=REASON)


def narrow(user: User, admin: User) -> None:
    narrow_scopes(app=AppFactory(user=user), revoke={Scope.WALLET_SPEND: REASON}, actor=admin)


def suspend(user: User, admin: User) -> None:
    suspend_app(app=AppFactory(user=user), reason=REASON, actor=admin)


def shut(user: User, admin: User) -> None:
    deactivate_user(user=user, reason=REASON, actor=admin)


def opened(user: User, admin: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)
    reactivate_user(user=user, reason=REASON, actor=admin)


@pytest.mark.parametrize("decide", [end_key, end_token, end_tool_token, narrow, suspend, shut, opened])
def test_user_is_told_once_and_why(decide: Callable[[User, User], None], django_capture_on_commit_callbacks: Any) -> None:
    user, admin = UserFactory(), UserFactory()
    with django_capture_on_commit_callbacks(execute=True):
        decide(user, admin)
    [message] = mail.outbox
    assert message.to == [user.email]
    assert REASON in str(message.body)


def test_reinstatement_is_mailed(developer: User, reviewer: User, django_capture_on_commit_callbacks: Any) -> None:
    app = AppFactory(user=developer, status="Suspended")
    with django_capture_on_commit_callbacks(execute=True):
        reinstate_app(app=app, reason=REASON, actor=reviewer)
    [message] = [message for message in mail.outbox if REASON in str(message.body)]
    assert message.to == [developer.email]


def test_what_one_does_oneself_is_not_mailed(django_capture_on_commit_callbacks: Any) -> None:
    user = UserFactory()
    with django_capture_on_commit_callbacks(execute=True):
        end_key(user, user)
        end_token(user, user)
    assert mail.outbox == []

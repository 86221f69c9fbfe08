"""Whoever a decision is about reads of it in a mail, with the reason."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from developers.models import DeveloperApplication
from developers.services.applications import (
    approve_application,
    reject_application,
    request_more_info,
    submit_application,
    withdraw_approval,
)
from developers.services.apps import reinstate_app, suspend_app
from developers.services.credentials import (
    issue_api_key,
    issue_personal_token,
    limit_api_key,
    revoke_api_key,
    revoke_token,
)
from developers.services.scopes import narrow_scopes
from developers.services.spending import LimitValues, remove_app_spending_limit, set_app_spending_limit
from marketplace.accounts.models import User
from marketplace.accounts.services import deactivate_user, reactivate_user
from marketplace.core.money import Currency
from marketplace.core.scopes import Scope
from tests.factories import AppFactory, UserFactory

pytestmark = pytest.mark.django_db

REASON = "It was <used> & shared"
APP_LIMIT = LimitValues(Currency.USD, per_purchase_minor=12_50, total_minor=1_000_00)


def applied(user: User) -> DeveloperApplication:
    return submit_application(user=user, what="A font picker", why="It reads the catalog", actor=user)


def approve(user: User, admin: User) -> None:
    approve_application(application=applied(user), reason=REASON, actor=admin)


def reject(user: User, admin: User) -> None:
    reject_application(application=applied(user), reason=REASON, actor=admin)


def ask(user: User, admin: User) -> None:
    request_more_info(application=applied(user), question=REASON, actor=admin)


def withdraw(user: User, admin: User) -> None:
    withdraw_approval(application=approve_application(application=applied(user), reason="Fine", actor=admin), reason=REASON, actor=admin)


def reinstate(user: User, admin: User) -> None:
    approve_application(application=applied(user), reason="Fine", actor=admin)
    reinstate_app(app=AppFactory(user=user, status="Suspended"), reason=REASON, actor=admin)


def end_key(user: User, admin: User) -> None:
    key, _ = issue_api_key(app=AppFactory(user=user), name="server", actor=user)
    revoke_api_key(key=key, actor=admin, reason=REASON)


def end_token(user: User, admin: User) -> None:
    soon = timezone.now() + timedelta(days=1)
    token, _ = issue_personal_token(user=user, name="laptop", scopes=frozenset({Scope.ACCOUNT_READ}), expires_at=soon, actor=user)
    revoke_token(token=token, actor=admin, reason=REASON)


def narrow(user: User, admin: User) -> None:
    narrow_scopes(app=AppFactory(user=user), withdrawn={Scope.WALLET_SPEND: REASON}, actor=admin)


def limit_key(user: User, admin: User) -> None:
    key, _ = issue_api_key(app=AppFactory(user=user), name="server", actor=user)
    limit_api_key(key=key, rate_limit=500, reason=REASON, actor=admin)


def set_limit(user: User, admin: User) -> None:
    set_app_spending_limit(app=AppFactory(user=user), limit_values=APP_LIMIT, reason=REASON, actor=admin)


def suspend(user: User, admin: User) -> None:
    suspend_app(app=AppFactory(user=user), reason=REASON, actor=admin)


def shut(user: User, admin: User) -> None:
    deactivate_user(user=user, reason=REASON, actor=admin)


def opened(user: User, admin: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)
    reactivate_user(user=user, reason=REASON, actor=admin)


OF_APPLICATIONS = (approve, reject, ask, withdraw)
OTHERS = (end_key, end_token, limit_key, set_limit, narrow, suspend, reinstate, shut, opened)


@pytest.mark.parametrize("decide", OF_APPLICATIONS + OTHERS)
def test_decision_of_staff_is_mailed_once_with_its_reason(
    decide: Callable[[User, User], None], django_capture_on_commit_callbacks: Any
) -> None:
    user, admin = UserFactory(), UserFactory()
    with django_capture_on_commit_callbacks(execute=True):
        decide(user, admin)
    assert [message.to for message in mail.outbox if REASON in str(message.body)] == [[user.email]]


@pytest.mark.parametrize(("figure", "words"), [(500, "500 calls a minute. The"), (None, "60 calls a minute, the default. The")])
def test_mail_tells_what_a_key_may_call(figure: int | None, words: str, django_capture_on_commit_callbacks: Any) -> None:
    app = AppFactory()
    key, _ = issue_api_key(app=app, name="server", actor=app.user)
    with django_capture_on_commit_callbacks(execute=True):
        limit_api_key(key=key, rate_limit=figure, reason=REASON, actor=UserFactory())
    assert words in str(mail.outbox[0].body)


def test_mails_tell_of_an_app_limit_and_of_its_end(django_capture_on_commit_callbacks: Any) -> None:
    app, admin = AppFactory(), UserFactory()
    with django_capture_on_commit_callbacks(execute=True):
        set_app_spending_limit(app=app, limit_values=APP_LIMIT, reason=REASON, actor=admin)
        remove_app_spending_limit(app=app, currency=Currency.USD, reason="Proved itself", actor=admin)
    app_limit, lifted = (str(message.body) for message in mail.outbox)
    assert "- $12.50 a purchase\n- $1,000.00 in all" in app_limit
    assert "a day" not in app_limit
    assert "Only the limits set by the wallets' owners now apply" in lifted
    assert "Proved itself" in lifted


def test_revoking_ones_own_credentials_is_not_mailed(django_capture_on_commit_callbacks: Any) -> None:
    user = UserFactory()
    with django_capture_on_commit_callbacks(execute=True):
        end_key(user, user)
        end_token(user, user)
    assert mail.outbox == []

"""Whoever a decision is about reads of it in a mail, with the reason."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail

from developers.models import ApiKey, DeveloperApplication
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
from tests.callers import personal_token
from tests.factories import AppFactory, UserFactory

pytestmark = pytest.mark.django_db

REASON = "It was <used> & shared"
APP_LIMIT = LimitValues(Currency.USD, per_purchase_minor=12_50, total_minor=1_000_00)


def applied(user: User) -> DeveloperApplication:
    return submit_application(user=user, what="A font picker", why="It reads the catalog", actor=user)


def key_of(user: User) -> ApiKey:
    return issue_api_key(app=AppFactory(user=user), name="server", actor=user)[0]


def lift_limit(user: User, admin: User) -> None:
    app = AppFactory(user=user)
    set_app_spending_limit(app=app, limit_values=APP_LIMIT, reason="Untried", actor=admin)
    remove_app_spending_limit(app=app, currency=Currency.USD, reason=REASON, actor=admin)


def end_token(user: User, admin: User) -> None:
    token, _ = personal_token(user, frozenset({Scope.ACCOUNT_READ}))
    revoke_token(token=token, actor=admin, reason=REASON)


def withdraw(user: User, admin: User) -> None:
    withdraw_approval(application=approve_application(application=applied(user), reason="Fine", actor=admin), reason=REASON, actor=admin)


def reinstate(user: User, admin: User) -> None:
    approve_application(application=applied(user), reason="Fine", actor=admin)
    reinstate_app(app=AppFactory(user=user, status="Suspended"), reason=REASON, actor=admin)


def reactivate(user: User, admin: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)
    reactivate_user(user=user, reason=REASON, actor=admin)


# By what the subject says.
DECISIONS: dict[str, Callable[[User, User], object]] = {
    "application is approved": lambda user, admin: approve_application(application=applied(user), reason=REASON, actor=admin),
    "application is not approved": lambda user, admin: reject_application(application=applied(user), reason=REASON, actor=admin),
    "A question about": lambda user, admin: request_more_info(application=applied(user), reason=REASON, actor=admin),
    "as a developer is withdrawn": withdraw,
    "API key": lambda user, admin: revoke_api_key(key=key_of(user), reason=REASON, actor=admin),
    "token": end_token,
    "calls a minute": lambda user, admin: limit_api_key(key=key_of(user), rate_limit=500, reason=REASON, actor=admin),
    "Spending limit of": lambda user, admin: set_app_spending_limit(
        app=AppFactory(user=user), limit_values=APP_LIMIT, reason=REASON, actor=admin
    ),
    "was removed": lift_limit,
    "were withdrawn": lambda user, admin: narrow_scopes(app=AppFactory(user=user), scopes={Scope.WALLET_SPEND}, reason=REASON, actor=admin),
    "is suspended": lambda user, admin: suspend_app(app=AppFactory(user=user), reason=REASON, actor=admin),
    "is reinstated": reinstate,
    "has been deactivated": lambda user, admin: deactivate_user(user=user, reason=REASON, actor=admin),
    "has been reactivated": reactivate,
}


@pytest.mark.parametrize("subject", DECISIONS)
def test_decision_of_staff_is_mailed_once_with_its_reason(subject: str, django_capture_on_commit_callbacks: Any) -> None:
    user, admin = UserFactory(), UserFactory()
    with django_capture_on_commit_callbacks(execute=True):
        DECISIONS[subject](user, admin)
    [message] = [message for message in mail.outbox if REASON in str(message.body)]
    assert (message.to, subject in message.subject) == ([user.email], True)


def test_revoking_ones_own_credentials_is_not_mailed(django_capture_on_commit_callbacks: Any) -> None:
    user = UserFactory()
    with django_capture_on_commit_callbacks(execute=True):
        revoke_api_key(key=key_of(user), actor=user)
        end_token(user, user)
    assert mail.outbox == []

"""Limits and rotations at once: the bounds hold, and nothing is made twice."""

from datetime import timedelta

import pytest

from developers.errors import LastSpendingLimit
from developers.models import ApiKey, SpendingLimit
from developers.services.credentials import issue_api_key, issue_personal_token
from developers.services.rotation import rotate_api_key
from developers.services.spending import LimitValues, remove_spending_limit, set_app_spending_limit, set_spending_limit
from marketplace.core.errors import InvalidTransition
from marketplace.core.money import Currency
from marketplace.core.scopes import Scope
from tests.factories import AppFactory, UserFactory
from tests.races import one_stands, refusals_at_once

from .cases import in_days

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


def test_concurrently_set_limits_of_one_app_are_one_row() -> None:
    app = AppFactory()
    admins = [UserFactory() for _ in range(4)]
    limits = [LimitValues(Currency.USD, total_minor=number + 1) for number in range(4)]
    outcomes = refusals_at_once(
        *[
            lambda limit_values=limit_values: set_spending_limit(owner=app.user, spender=app, limit_values=limit_values, actor=app.user)
            for limit_values in limits
        ],
        *[
            lambda limit_values=limit_values, admin=admin: set_app_spending_limit(
                app=app, limit_values=limit_values, reason="Careful", actor=admin
            )
            for limit_values, admin in zip(limits, admins, strict=True)
        ],
    )
    assert set(outcomes) == {None}, outcomes
    assert SpendingLimit.objects.filter(owner=app.user).count() == SpendingLimit.objects.filter(owner=None).count() == 1


def test_last_two_limits_of_a_token_are_not_both_removed() -> None:
    user = UserFactory()
    issue_personal_token(
        user=user,
        name="agent",
        scopes=frozenset({Scope.WALLET_SPEND}),
        expires_at=in_days(1),
        actor=user,
        password_confirmed=True,
        limits=[LimitValues(Currency.USD, total_minor=1), LimitValues(Currency.INR, total_minor=1)],
    )
    outcomes = refusals_at_once(
        *[lambda limit=limit: remove_spending_limit(limit=limit, actor=user) for limit in SpendingLimit.objects.all()]
    )
    assert one_stands(outcomes, LastSpendingLimit), outcomes
    assert SpendingLimit.objects.count() == 1


def test_key_without_overlap_has_one_successor() -> None:
    app = AppFactory()
    key, _ = issue_api_key(app=app, name="server", actor=app.user)
    outcomes = refusals_at_once(*[lambda: rotate_api_key(key=key, overlap=timedelta(0), actor=app.user)] * 4)
    assert one_stands(outcomes, InvalidTransition), outcomes
    assert ApiKey.objects.count() == 2

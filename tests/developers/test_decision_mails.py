"""Whoever a decision is about reads of it in a mail, with the reason."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.core import mail

from developers.services.applications import approve_application, reject_application, request_more_info, withdraw_approval
from developers.services.apps import reinstate_app, suspend_app
from developers.services.credentials import limit_api_key, revoke_api_key, revoke_token
from developers.services.scopes import narrow_scopes
from developers.services.spending import LimitValues, remove_app_spending_limit, set_app_spending_limit
from marketplace.accounts.services import deactivate_user, reactivate_user
from marketplace.core.money import Currency
from marketplace.core.scopes import Scope
from tests.admin import subjects
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

REASON = "It was <used> & shared"
LIMIT = LimitValues(Currency.USD, per_purchase_minor=12_50, total_minor=1_000_00)
# What the subject says, the service, what it calls its row, and what makes one.
DECISIONS: list[tuple[str, Callable[..., object], str, Callable[[], Any]]] = [
    ("application is approved", approve_application, "application", subjects.application),
    ("application is not approved", reject_application, "application", subjects.application),
    ("A question about", request_more_info, "application", subjects.application),
    ("as a developer is withdrawn", withdraw_approval, "application", subjects.developer),
    ("API key", revoke_api_key, "key", subjects.api_key),
    ("token", revoke_token, "token", subjects.token),
    ("calls a minute", partial(limit_api_key, rate_limit=500), "key", subjects.api_key),
    ("Spending limit of", partial(set_app_spending_limit, limit_values=LIMIT), "app", subjects.approved_app),
    ("was removed", partial(remove_app_spending_limit, currency=Currency.USD), "app", subjects.capped_app),
    ("were withdrawn", partial(narrow_scopes, scopes={Scope.WALLET_SPEND}), "app", subjects.approved_app),
    ("is suspended", suspend_app, "app", subjects.approved_app),
    ("is reinstated", reinstate_app, "app", subjects.suspended_app),
    ("has been deactivated", deactivate_user, "user", UserFactory),
    ("has been reactivated", reactivate_user, "user", subjects.shut_account),
]


@pytest.mark.parametrize(("subject", "decide", "noun", "make"), DECISIONS, ids=[subject for subject, *_ in DECISIONS])
def test_decision_of_staff_is_mailed_once_with_its_reason(
    subject: str, decide: Callable[..., object], noun: str, make: Callable[[], Any], django_capture_on_commit_callbacks: Any
) -> None:
    row = make()
    with django_capture_on_commit_callbacks(execute=True):
        decide(**{noun: row}, reason=REASON, actor=UserFactory())
    [message] = [message for message in mail.outbox if REASON in str(message.body)]
    assert (message.to, subject in message.subject) == ([subjects.owner_of(row).email], True)


@pytest.mark.parametrize(("figure", "words"), [(500, "500 calls a minute. The"), (None, "60 calls a minute, the default. The")])
def test_mail_tells_what_a_key_may_call(figure: int | None, words: str, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        limit_api_key(key=subjects.api_key(), rate_limit=figure, reason=REASON, actor=UserFactory())
    assert words in str(mail.outbox[0].body)


def test_mail_tells_what_an_app_may_spend(django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        set_app_spending_limit(app=subjects.approved_app(), limit_values=LIMIT, reason=REASON, actor=UserFactory())
    assert "\n- $12.50 a purchase\n- $1,000.00 in all\n" in str(mail.outbox[-1].body)


def test_revoking_ones_own_credentials_is_not_mailed(django_capture_on_commit_callbacks: Any) -> None:
    key, token = subjects.api_key(), subjects.token()
    with django_capture_on_commit_callbacks(execute=True):
        revoke_api_key(key=key, actor=key.app.developer)
        revoke_token(token=token, actor=token.user, reason=REASON)
    assert mail.outbox == []

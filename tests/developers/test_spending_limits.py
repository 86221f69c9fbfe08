"""Spending limits: whose they are, what they may say, what bounds a caller."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from developers import bounds
from developers.authentication import principal_of_bearer, principal_of_key
from developers.errors import LastSpendingLimit, SpendingLimitRequired
from developers.models import AccessToken, SpendingLimit
from developers.principals import Principal
from developers.selectors import needs_spending_limit, owner_spending_limits, spending_limits_for
from developers.services.consents import withdraw_consent
from developers.services.credentials import issue_api_key
from developers.services.spending import (
    LimitValues,
    remove_app_spending_limit,
    remove_spending_limit,
    replace_spending_limits,
    set_app_spending_limit,
    set_spending_limit,
)
from marketplace.accounts.models import User
from marketplace.core.access import CredentialKind
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidInput, NotFound
from marketplace.core.models import AuditEntry
from marketplace.core.money import Currency
from marketplace.core.scopes import Scope
from tests.callers import personal_token
from tests.factories import AppFactory, UserFactory, connect_app

from .cases import token_of

pytestmark = [pytest.mark.django_db, pytest.mark.database]

USD = LimitValues(Currency.USD, per_purchase_minor=2_000, per_day_minor=5_000, total_minor=50_000)
INR = LimitValues(Currency.INR, total_minor=100_000, categories=("presets", "fonts"))
SPEND = frozenset({Scope.WALLET_SPEND})
Queries = Callable[[int], AbstractContextManager[object]]


@pytest.fixture
def user(db: None) -> User:
    return UserFactory()


personal = partial(personal_token, scopes=SPEND, limits=[USD])


@pytest.mark.parametrize(
    ("limit_values", "field"),
    [
        (LimitValues(Currency.USD), "per_purchase_minor"),
        (LimitValues(Currency.EUR, total_minor=1), "currency"),
        (LimitValues(Currency.USD, per_purchase_minor=0), "per_purchase_minor"),
        (LimitValues(Currency.USD, per_day_minor=-1), "per_day_minor"),
        (LimitValues(Currency.USD, total_minor=bounds.MAX_SPENDING_LIMIT_MINOR + 1), "total_minor"),
        (LimitValues(Currency.USD, total_minor=1, categories=["x"] * 21), "categories"),
        (LimitValues(Currency.USD, total_minor=1, categories=["Not A Slug"]), "categories"),
        (LimitValues(Currency.USD, total_minor=1, categories=["x" * 81]), "categories"),
    ],
)
def test_invalid_spending_limit_is_refused_with_its_field(user: User, limit_values: LimitValues, field: str) -> None:
    app = AppFactory(user=user)
    with pytest.raises(InvalidInput) as refusal:
        set_spending_limit(owner=user, spender=app, limit_values=limit_values, actor=user)
    assert refusal.value.members["errors"][0]["pointer"] == f"#/{field}"
    with pytest.raises(InvalidInput):
        set_app_spending_limit(app=app, limit_values=limit_values, reason="Careful", actor=UserFactory())
    assert not SpendingLimit.objects.exists()


def test_spending_limit_of_a_credential_that_cannot_spend_is_refused(user: User) -> None:
    stranger = UserFactory()
    app, (token, _) = AppFactory(), personal(user)
    with pytest.raises(NotFound):
        set_spending_limit(owner=stranger, spender=token, limit_values=USD, actor=stranger)
    with pytest.raises(NotFound):
        set_spending_limit(owner=user, spender=app, limit_values=USD, actor=user)
    connect_app(user, app, SPEND)
    withdraw_consent(user=user, app=app, actor=user)
    with pytest.raises(NotFound):
        set_spending_limit(owner=user, spender=app, limit_values=USD, actor=user)


def test_replaced_spending_limit_is_audited_with_old_and_new_values_and_an_unchanged_one_is_not(user: User) -> None:
    token, _ = personal(user)
    first, before = token.spending_limits.get(), AuditEntry.objects.count()
    set_spending_limit(owner=user, spender=token, limit_values=USD, actor=user)
    assert AuditEntry.objects.count() == before
    limit_values = LimitValues(Currency.USD, total_minor=7, categories=["presets", "fonts", "presets"])
    second = set_spending_limit(owner=user, spender=token, limit_values=limit_values, actor=user)
    assert first.pk == second.pk
    assert (second.per_purchase_minor, second.per_day_minor, second.total_minor) == (None, None, 7)
    entry = history_of(token)[0]
    assert (entry.action, entry.actor) == ("spending_limit.set", user)
    assert entry.data["before"]["per_day_minor"] == 5_000
    after = {"per_purchase_minor": None, "per_day_minor": None, "total_minor": 7, "categories": ["fonts", "presets"]}
    assert entry.data["after"] == after


def test_token_that_can_spend_needs_a_spending_limit(user: User) -> None:
    with pytest.raises(SpendingLimitRequired):
        personal(user, limits=())
    with pytest.raises(InvalidInput):
        personal(user, limits=[LimitValues(Currency.USD)])
    assert not AccessToken.objects.exists()


def test_limits_of_a_token_that_cannot_spend_are_not_kept(user: User) -> None:
    personal(user, scopes=frozenset({Scope.ACCOUNT_READ}))
    assert not SpendingLimit.objects.exists()


def test_spending_limits_of_a_token_are_replaced_together(user: User) -> None:
    token, _ = personal(user)
    replace_spending_limits(owner=user, spender=token, limits=[INR], actor=user)
    assert [limit.currency for limit in owner_spending_limits(user, token)] == ["INR"]
    with pytest.raises(LastSpendingLimit):
        replace_spending_limits(owner=user, spender=token, limits=[], actor=user)
    with pytest.raises(NotFound):
        replace_spending_limits(owner=UserFactory(), spender=token, limits=[], actor=user)
    app = AppFactory(user=user)
    replace_spending_limits(owner=user, spender=app, limits=[USD, INR], actor=user)
    replace_spending_limits(owner=user, spender=app, limits=[], actor=user)
    assert not owner_spending_limits(user, app).exists()


def test_only_limit_of_a_spending_token_stays(user: User) -> None:
    token, _ = personal(user)
    personal(user)
    limit = token.spending_limits.get()
    with pytest.raises(LastSpendingLimit):
        remove_spending_limit(limit=limit, actor=user)
    set_spending_limit(owner=user, spender=token, limit_values=INR, actor=user)
    remove_spending_limit(limit=limit, actor=user)
    assert history_of(token)[0].action == "spending_limit.remove"
    with pytest.raises(NotFound):
        remove_spending_limit(limit=SpendingLimit(pk=limit.pk), actor=user)


def test_limit_of_someone_else_and_an_app_limit_cannot_be_removed(user: User) -> None:
    app = AppFactory(user=user)
    limit = set_spending_limit(owner=user, spender=app, limit_values=USD, actor=user)
    app_limit = set_app_spending_limit(app=app, limit_values=USD, reason="Careful", actor=UserFactory())
    for taken, actor in ((limit, UserFactory()), (app_limit, user)):
        with pytest.raises(NotFound):
            remove_spending_limit(limit=taken, actor=actor)
    assert SpendingLimit.objects.count() == 2


def test_app_limit_is_set_with_a_reason_and_lifted_once_with_audit_rows() -> None:
    app, admin = AppFactory(), UserFactory()
    with pytest.raises(InvalidInput):
        set_app_spending_limit(app=app, limit_values=USD, reason=" ", actor=admin)
    set_app_spending_limit(app=app, limit_values=USD, reason="New and untried", actor=admin)
    remove_app_spending_limit(app=app, currency=Currency.USD, reason="Proved itself", actor=admin)
    with pytest.raises(NotFound):
        remove_app_spending_limit(app=app, currency=Currency.USD, reason="Again", actor=admin)
    entries = AuditEntry.objects.filter(action__startswith="app_spending_limit").order_by("id")
    assert [(entry.action, entry.reason) for entry in entries] == [
        ("app_spending_limit.set", "New and untried"),
        ("app_spending_limit.remove", "Proved itself"),
    ]


def test_personal_token_is_limited_by_its_own_spending_limits_in_one_query(user: User, django_assert_num_queries: Queries) -> None:
    (token, secret), _ = personal(user), personal(user)
    principal = principal_of_bearer(f"Bearer {secret}")
    with django_assert_num_queries(1):
        limits = spending_limits_for(principal)
    assert {limit.token_id for limit in limits} == {token.pk}
    assert needs_spending_limit(principal)


def test_app_is_limited_by_the_owner_of_the_wallet_and_by_staff(user: User, django_assert_num_queries: Queries) -> None:
    app, someone = AppFactory(), UserFactory()
    for person in (user, someone):
        connect_app(person, app, SPEND)
    own = set_spending_limit(owner=user, spender=app, limit_values=USD, actor=user)
    set_spending_limit(owner=someone, spender=app, limit_values=USD, actor=someone)
    app_limit = set_app_spending_limit(app=app, limit_values=USD, reason="Careful", actor=UserFactory())
    set_app_spending_limit(app=AppFactory(), limit_values=USD, reason="Another app", actor=UserFactory())
    token, _ = token_of("oauth", user)
    principal = Principal(user=user, app=app, scopes=SPEND, kind=CredentialKind.OAUTH, credential=token)
    with django_assert_num_queries(1):
        limits = spending_limits_for(principal)
    assert set(limits) == {own, app_limit}
    assert needs_spending_limit(principal)


def test_key_of_ones_own_app_needs_no_limit_but_keeps_those_there_are(user: User) -> None:
    app = AppFactory(user=user)
    principal = principal_of_key(issue_api_key(app=app, name="server", actor=user)[1])
    assert spending_limits_for(principal) == []
    assert not needs_spending_limit(principal)
    limits = {
        set_spending_limit(owner=user, spender=app, limit_values=INR, actor=user),
        set_app_spending_limit(app=app, limit_values=USD, reason="Careful", actor=UserFactory()),
    }
    assert set(spending_limits_for(principal)) == limits


def test_database_refuses_an_inconsistent_spending_limit(user: User, subtests: pytest.Subtests) -> None:
    token, _ = personal(user)
    SpendingLimit.objects.all().delete()
    good: dict[str, Any] = {"owner": user, "app": AppFactory(), "currency": "USD", "total_minor": 1, "set_by": user}
    faults: list[dict[str, Any]] = [
        {"app": None},
        {"token": token},
        {"owner": None, "app": None, "token": token},
        {"currency": "EUR"},
        {"total_minor": None},
        {"total_minor": 0},
        {"per_day_minor": 0},
        {"per_purchase_minor": 0},
    ]
    for fault in faults:
        with subtests.test(str(fault)), pytest.raises(IntegrityError), transaction.atomic():
            SpendingLimit.objects.create(**good | fault)
    SpendingLimit.objects.create(**good)


def test_database_keeps_one_row_of_an_app_a_token_and_an_app_limit_for_each_currency(user: User) -> None:
    app, (token, _) = AppFactory(), personal(user)
    SpendingLimit.objects.filter(token=token).delete()
    subjects: list[dict[str, Any]] = [{"owner": user, "app": app}, {"owner": user, "token": token}, {"owner": None, "app": app}]
    for subject in subjects:
        for currency in ("USD", "INR"):
            SpendingLimit.objects.create(currency=currency, total_minor=1, set_by=user, **subject)
        with pytest.raises(IntegrityError), transaction.atomic():
            SpendingLimit.objects.create(currency="USD", total_minor=2, set_by=user, **subject)

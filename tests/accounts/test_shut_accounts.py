"""A shut account: sessions end for good, keys and tokens rest until it is open again."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from developers.services.credentials import issue_api_key, issue_personal_token
from marketplace.accounts.models import Tier, User
from marketplace.accounts.services import deactivate_user, reactivate_user, set_tier
from marketplace.core.scopes import Scope
from tests.factories import AppFactory, UserFactory

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


@pytest.fixture
def user(db: None) -> User:
    return UserFactory()


@pytest.fixture
def session(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def shut(user: User) -> None:
    deactivate_user(user=user, reason="Abuse", actor=UserFactory())


def opened(user: User) -> None:
    reactivate_user(user=user, reason="A mistake", actor=UserFactory())


def signed_in(client: Client) -> bool:
    return client.get(reverse("dashboard")).status_code == 200


@pytest.mark.parametrize("visits_meanwhile", [True, False])
def test_session_from_before_a_deactivation_stays_ended(user: User, session: Client, *, visits_meanwhile: bool) -> None:
    assert signed_in(session)
    shut(user)
    if visits_meanwhile:
        assert not signed_in(session)
    opened(user)
    assert not signed_in(session)
    user.refresh_from_db()
    assert session.login(email=user.email, password=PASSWORD)
    assert signed_in(session)


def test_changes_other_than_the_password_keep_the_session(user: User, session: Client) -> None:
    set_tier(user=user, tier=Tier.PRO, reason="Paid", actor=UserFactory())
    assert signed_in(session)


def test_deactivating_an_account_keeps_the_sessions_of_others(user: User, session: Client) -> None:
    shut(UserFactory())
    assert signed_in(session)


def test_new_password_ends_other_sessions_of_the_user(user: User, session: Client) -> None:
    assert signed_in(session)
    user.set_password("another long phrase")
    user.save()
    assert not signed_in(session)


@pytest.mark.parametrize("kind", ["key", "token"])
def test_keys_and_tokens_of_a_deactivated_account_are_refused_until_it_is_reactivated(user: User, kind: str) -> None:
    makers: dict[str, Callable[[], dict[str, str]]] = {
        "key": lambda: {"x-api-key": issue_api_key(app=AppFactory(user=user), name="server", actor=user)[1]},
        "token": lambda: {"authorization": f"Bearer {personal(user)}"},
    }
    client = APIClient(headers=makers[kind]())
    assert client.get("/api/v1/wallet").status_code == 200
    shut(user)
    response = client.get("/api/v1/wallet")
    assert (response.status_code, response.json()["code"]) == (401, "invalid_credential")
    opened(user)
    assert client.get("/api/v1/wallet").status_code == 200


def personal(user: User) -> str:
    """Return the secret of a personal token."""
    scopes, soon = frozenset({Scope.ACCOUNT_READ}), timezone.now() + timedelta(days=1)
    return issue_personal_token(user=user, name="laptop", scopes=scopes, expires_at=soon, actor=user)[1]

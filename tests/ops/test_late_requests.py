"""A request that was let in just before its account was deleted is refused, and leaves nothing of the person."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from allauth.account.managers import EmailAddressManager
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.mfa.models import Authenticator
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.services.submission import submit_listing, unpublish_listing
from developers.services.clients import set_redirect_uris
from developers.services.credentials import issue_api_key, issue_mcp_token, issue_token_without_app
from developers.services.first_party import issue_page_token
from developers.services.scopes import request_scopes
from developers.services.spending import set_spending_limit
from developers.services.webhooks import create_endpoint
from library.licensees import Licensee
from library.services.favourites import add_favourite
from marketplace.accounts.backends import AccountBackend
from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.errors import NotFound
from marketplace.core.models import AuditEntry
from marketplace.core.scopes import Scope
from tests.callers import signed_in
from tests.catalog.cases import PASSED
from tests.factories import PASSWORD, PLENTY, AppFactory, StoreFactory, UserFactory
from tests.races import at_once
from tests.shop import bought, on_sale
from vendors.services.discounts import add_discount
from wallet.services.preferences import set_currency_preference

pytestmark = [pytest.mark.django_db, pytest.mark.database]

READ = frozenset({Scope.CATALOG_READ})


@pytest.fixture
def user() -> User:
    user: User = UserFactory(email="asha@example.com")
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def deleted(user: User) -> None:
    delete_account(user=user, reason="Asked for.", actor=None)


def free(**fields: Any) -> Any:
    return on_sale(price_inr_minor=0, base_price_minor=0, **fields)


def of_app(service: Callable[..., Any], **given: Any) -> Callable[[User], Callable[[], Any]]:
    return lambda user: partial(service, app=AppFactory(user=user, granted_scopes=Scope.CATALOG_READ), actor=user, **given)


def of_sold_listing(service: Callable[..., Any], **given: Any) -> Callable[[User], Callable[[], Any]]:
    """Return how a vendor changes a listing that stays when the account is deleted."""

    def late(user: User) -> Callable[[], Any]:
        listing = free(store=StoreFactory(owner=user))
        bought(listing)
        return partial(service, listing=unpublish_listing(listing=listing, actor=user), actor=user, **given)

    return late


def page_token(user: User) -> Callable[[], Any]:
    session = SessionStore()
    session.create()
    return partial(issue_page_token, session_key=str(session.session_key), scopes=READ, actor=user)


def token(user: User) -> Callable[[], Any]:
    ends = timezone.now() + timedelta(days=1)
    return partial(issue_token_without_app, user=user, name="Asha's laptop", scopes=READ, expires_at=ends, actor=user)


@pytest.mark.parametrize(
    "late",
    [
        lambda user: partial(add_favourite, listing=on_sale(), actor=user),
        lambda user: partial(set_currency_preference, user=user, currency="USD", actor=user),
        lambda user: partial(set_spending_limit, owner=user, spender=AppFactory(user=user), limit_values=PLENTY[0], actor=user),
        lambda user: partial(bought, free(), user, licensee=Licensee("Ravi", "ravi@example.com")),
        lambda user: Authenticator(user=user, type=Authenticator.Type.TOTP, data={}).save,
        token,
        page_token,
        of_app(issue_api_key, name="Asha's server"),
        of_app(issue_mcp_token, name="Asha's server", expires_at=timezone.now() + timedelta(days=1), password_confirmed=True),
        of_app(set_redirect_uris, uris=["https://asha.example/"]),
        of_app(request_scopes, scopes={Scope.LIBRARY_READ: "For Asha"}),
        of_app(create_endpoint, url="https://asha.example/", events=["asset.published"]),
        of_sold_listing(submit_listing, checks=PASSED),
        of_sold_listing(add_discount, percent=10, ends_at=timezone.now() + timedelta(days=1), code="ASHA"),
    ],
)
def test_request_of_an_account_that_was_deleted_meanwhile_is_refused(user: User, late: Callable[[User], Callable[[], Any]]) -> None:
    request = late(user)
    deleted(user)
    recorded = AuditEntry.objects.count()
    with pytest.raises(NotFound):
        request()
    assert AuditEntry.objects.count() == recorded


def opened(user: User, client: Client) -> Any:
    # It adds the address that the account was made with, if it is missing.
    EmailAddress.objects.filter(user=user).delete()
    return client.get(reverse("account_email"))


def added(user: User, client: Client) -> Any:
    return client.post(reverse("account_email"), {"email": "new@example.com", "action_add": ""})


def made_primary(user: User, client: Client) -> Any:
    EmailAddress.objects.create(user=user, email="second@example.com", verified=True)
    return client.post(reverse("account_email"), {"email": "second@example.com", "action_primary": ""})


def confirmed(user: User, client: Client) -> Any:
    address = EmailAddress.objects.create(user=user, email="second@example.com")
    EmailAddress.objects.filter(user=user, primary=True).delete()
    return client.post(reverse("account_confirm_email", args=[EmailConfirmationHMAC.create(address).key]))


def signed_in_elsewhere(user: User, client: Client) -> Any:
    return Client().post(reverse("account_login"), {"login": user.email, "password": PASSWORD})


ADDRESS_CHANGES = [
    # The last that is read before something is saved.
    (opened, AccountBackend, "get_user"),
    (added, AccountBackend, "get_user"),
    (made_primary, EmailAddressManager, "get_for_user"),
    (confirmed, EmailConfirmationHMAC, "from_key"),
    (signed_in_elsewhere, User, "check_password"),
]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("change", "reader", "name"), ADDRESS_CHANGES)
def test_address_that_is_changed_while_the_account_is_deleted_does_not_stay_or_return(
    user: User, change: Callable[[User, Client], Any], reader: type[Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, read = signed_in(user, confirmed=True), getattr(reader, name)

    def read_just_before(*given: Any, **named: Any) -> Any:
        monkeypatch.undo()
        found = read(*given, **named)
        at_once(partial(deleted, user))
        return found

    monkeypatch.setattr(reader, name, staticmethod(read_just_before) if name == "from_key" else read_just_before)
    assert change(user, client).status_code == 404
    user.refresh_from_db()
    assert user.deleted
    assert not EmailAddress.objects.exists()


@pytest.mark.parametrize("change", [made_primary, confirmed])
def test_change_of_an_address_that_fails_half_way_changes_nothing(
    user: User, change: Callable[[User, Client], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, saved = signed_in(user, confirmed=True), set[str]()

    def fail(*_given: Any, **_named: Any) -> None:
        saved.update(EmailAddress.objects.filter(primary=True).values_list("email", flat=True))
        raise RuntimeError

    monkeypatch.setattr(User, "save", fail)
    with pytest.raises(RuntimeError):
        change(user, client)
    assert saved == {"second@example.com"}
    assert not EmailAddress.objects.filter(primary=True, email="second@example.com").exists()

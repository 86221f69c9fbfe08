"""A shut account: sessions end for good, keys and tokens rest until it is open again."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from developers.services.credentials import issue_api_key
from marketplace.accounts.models import Tier, User
from marketplace.accounts.services import deactivate_user, delete_account, reactivate_user, set_tier
from marketplace.core.errors import NotFound
from tests.callers import bearer, personal_token
from tests.callers import signed_in as browser_of
from tests.factories import PASSWORD, AppFactory, UserFactory
from tests.shop import bought, funded, on_sale
from tests.wallet.approval_cases import bounded, requested_approval
from tests.wallet.invoice_cases import BERLIN, billed
from tests.wallet.refund_request_cases import requested_refund
from tests.wallet.top_up_cases import requested_top_up
from tests.wallet.wallet_payout_cases import requested_payout
from wallet.services.approvals import approve_purchase
from wallet.services.billing import change_logo
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import make_quote

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(db: None) -> User:
    return UserFactory()


def shut(user: User) -> None:
    deactivate_user(user=user, reason="Abuse", actor=UserFactory())


def deleted(user: User) -> None:
    delete_account(user=user, reason="Abuse", actor=UserFactory())


def opened(user: User) -> None:
    reactivate_user(user=user, reason="A mistake", actor=UserFactory())


def signed_in(client: Client) -> bool:
    return client.get(reverse("dashboard")).status_code == 200


@pytest.mark.parametrize("visits_meanwhile", [True, False])
def test_session_from_before_a_deactivation_stays_ended(user: User, *, visits_meanwhile: bool) -> None:
    session = browser_of(user)
    assert signed_in(session)
    shut(user)
    if visits_meanwhile:
        assert not signed_in(session)
    opened(user)
    assert not signed_in(session)
    user.refresh_from_db()
    assert session.login(email=user.email, password=PASSWORD)
    assert signed_in(session)


def test_new_password_ends_the_sessions_of_the_user_but_no_other_change_does(user: User) -> None:
    session = browser_of(user)
    set_tier(user=user, tier=Tier.PRO, reason="Paid", actor=UserFactory())
    shut(UserFactory())
    assert signed_in(session)
    user.refresh_from_db()
    user.set_password("another long phrase")
    user.save()
    assert not signed_in(session)


@pytest.mark.parametrize("end", [shut, deleted])
def test_password_that_is_being_changed_while_staff_end_the_account_does_not_bring_it_back(
    user: User, end: Callable[[User], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, set_password, address = browser_of(user), User.set_password, user.email

    def hash_slowly(hashing: User, password: str) -> None:
        monkeypatch.setattr(User, "set_password", set_password)
        end(user)
        hashing.set_password(password)

    monkeypatch.setattr(User, "set_password", hash_slowly)
    words = {"oldpassword": PASSWORD, "password1": "another long phrase", "password2": "another long phrase"}
    session.post(reverse("account_change_password"), words)
    user.refresh_from_db()
    assert not user.is_active
    assert (user.check_password("another long phrase"), user.email == address) == ((True, True) if end is shut else (False, False))


def test_request_that_a_deactivation_overtook_is_refused(subtests: pytest.Subtests) -> None:
    user = funded(inr=100_000)
    principal, purchase, order = bounded(user), PurchaseRequest(str(on_sale().pk), "INR"), bought(on_sale(), user)
    approval = requested_approval(principal)
    shut(user)
    requests: dict[str, Callable[[], object]] = {
        "a quote": lambda: make_quote(buyer=user, purchase=purchase),
        "an approval": lambda: requested_approval(principal, key="another"),
        "a decision": lambda: approve_purchase(approval=approval, actor=user),
        "billing details": lambda: billed(user, BERLIN),
        "a logo": lambda: change_logo(user=user, image=b"", actor=user),
        "a refund": lambda: requested_refund(order),
        "a top-up": lambda: requested_top_up(user),
        "a payout": lambda: requested_payout(user, 1),
    }
    for name, request in requests.items():
        with subtests.test(name), pytest.raises(NotFound):
            request()


def test_keys_and_tokens_of_a_deactivated_account_are_refused_until_it_is_reactivated(user: User) -> None:
    key = {"x-api-key": issue_api_key(app=AppFactory(user=user), name="server", actor=user)[1]}
    clients = [APIClient(headers=headers) for headers in (key, bearer(personal_token(user)[1]))]
    for change, status in ((None, 200), (shut, 401), (opened, 200)):
        if change is not None:
            change(user)
        assert [client.get("/api/v1/wallet").status_code for client in clients] == [status, status]

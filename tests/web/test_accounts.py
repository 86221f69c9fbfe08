"""Signing up, in and out, and a forgotten password, as a person does it."""

import re
from typing import Any
from unittest.mock import patch

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.contrib.auth.hashers import get_hasher
from django.core import mail
from django.test import Client
from django.urls import reverse

from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from tests.callers import is_signed_in, signed_in
from tests.eager import sent_mails
from tests.factories import PASSWORD as FACTORY_PASSWORD
from tests.factories import UserFactory

from .markup import read

pytestmark = pytest.mark.django_db

EMAIL = "asha@example.com"
PASSWORD = "a long enough phrase"
SIGN_UP = {"email": EMAIL, "password1": PASSWORD, "password2": PASSWORD}


def _link_in(message: mail.EmailMessage) -> str:
    found = re.search(r"http://testserver(/\S+)", str(message.body))
    assert found
    return found[1]


@pytest.mark.parametrize(
    "bad",
    [
        {"email": '"\x02x"@example.com'},
        # One character longer than we can keep; cut, it would be another address.
        {"email": "a" * 243 + "@example.com"},
        # The address that an account gets when it is deleted, which could not be deleted then.
        {"email": "01a22774277a729e9dc36a772c31413c@Deleted.invalid"},
        {"password1": "short1", "password2": "short1"},
    ],
)
def test_sign_up_with_bad_input_makes_no_account(client: Client, bad: dict[str, str]) -> None:
    response = client.post(reverse("account_signup"), SIGN_UP | bad)
    assert response.context["form"].errors
    assert not User.objects.exists()
    assert not sent_mails()


def test_sign_up_is_confirmed_by_mail_and_ends_signed_in(client: Client) -> None:
    response = client.post(reverse("account_signup"), SIGN_UP)
    assert response["Location"] == reverse("account_email_verification_sent")
    [message] = sent_mails()
    assert message.to == [EMAIL]
    link = _link_in(message)
    client.get(link)
    assert not is_signed_in(client)
    assert client.post(link)["Location"] == "/dashboard"
    assert is_signed_in(client)


def test_sign_up_with_a_known_address_tells_the_owner_only(client: Client) -> None:
    UserFactory(email=EMAIL)
    response = client.post(reverse("account_signup"), SIGN_UP | {"email": EMAIL.upper()})
    assert response["Location"] == reverse("account_email_verification_sent")
    assert User.objects.count() == 1
    [message] = sent_mails()
    assert message.to == [EMAIL]
    assert "has an account already" in str(message.body)


def test_confirmation_link_that_is_not_good_says_so(client: Client) -> None:
    assert "no longer valid" in read(client.get(reverse("account_confirm_email", args=["made-up"])))


@pytest.mark.parametrize("path", ["account_signup", "account_login"])
def test_known_and_unknown_addresses_are_hashed_the_same_number_of_times(client: Client, path: str) -> None:
    """Hashing takes longest by far: done for the one and not for the other, it would tell who has an account."""
    UserFactory(email=EMAIL, password=PASSWORD)
    hasher, counts = type(get_hasher()), []
    for email in (EMAIL, "nobody@example.com"):
        with patch.object(hasher, "encode", autospec=True, side_effect=hasher.encode) as encode:
            client.post(reverse(path), SIGN_UP | {"email": email, "login": email, "password": "wrong"})
        counts.append(encode.call_count)
    assert counts[0] == counts[1] > 0


def test_too_many_sign_ins_are_stopped(client: Client) -> None:
    UserFactory(email=EMAIL, password=PASSWORD)
    for _ in range(6):
        client.post(reverse("account_login"), {"login": EMAIL, "password": "wrong"})
    response = client.post(reverse("account_login"), {"login": EMAIL, "password": PASSWORD})
    assert "Too many" in response.content.decode()
    assert not is_signed_in(client)


def _try_to_sign_up(client: Client, address: str = "127.0.0.1", **headers: str) -> int:
    return client.post(reverse("account_signup"), {}, headers=headers, REMOTE_ADDR=address).status_code


def test_too_many_sign_ups_are_stopped_with_a_page(client: Client) -> None:
    assert [_try_to_sign_up(client) for _ in range(20)] == [200] * 20
    response = client.post(reverse("account_signup"), {})
    assert response.status_code == 429
    assert "Too many attempts" in response.content.decode()


@pytest.mark.slow
def test_attempts_are_counted_by_the_callers_own_address(client: Client, settings: Any) -> None:
    forged = [_try_to_sign_up(client, x_forwarded_for=f"198.51.100.{number}") for number in range(21)]
    assert forged[-1] == 429
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    assert _try_to_sign_up(client, x_forwarded_for="203.0.113.9") == 200


@pytest.mark.parametrize(
    ("following", "lands"),
    [("/dashboard/apps", "/dashboard/apps"), ("//evil.example", "/dashboard")],
)
def test_sign_in_redirects_only_within_this_site(client: Client, owner: User, following: str, lands: str) -> None:
    sent = {"login": owner.email, "password": FACTORY_PASSWORD, "next": following}
    assert client.post(reverse("account_login"), sent)["Location"] == lands


def test_forgotten_password_is_replaced_through_the_mail(client: Client) -> None:
    user = UserFactory(email=EMAIL)
    response = client.post(reverse("account_reset_password"), {"email": EMAIL})
    assert response["Location"] == reverse("account_reset_password_done")
    link = _link_in(sent_mails()[0])
    page = client.get(link, follow=True)
    client.post(page.redirect_chain[-1][0], {"password1": PASSWORD, "password2": PASSWORD})
    user.refresh_from_db()
    assert user.check_password(PASSWORD)
    assert "no longer valid" in Client().get(link, follow=True).content.decode()


def test_password_reset_of_an_unknown_address_has_the_same_response(client: Client) -> None:
    response = client.post(reverse("account_reset_password"), {"email": "nobody@example.com"})
    assert response["Location"] == reverse("account_reset_password_done")


@pytest.fixture
def owner() -> User:
    user: User = UserFactory(email=EMAIL)
    for address, primary in ((EMAIL, True), ("second@example.com", False)):
        EmailAddress.objects.update_or_create(user=user, email=address, defaults={"verified": True, "primary": primary})
    return user


def addresses_of(user: User) -> list[tuple[str, bool]]:
    return list(EmailAddress.objects.filter(user=user).order_by("pk").values_list("email", "primary"))


ADDRESS_CHANGES = [
    ({"email": "thief@example.com", "action_add": ""}, "thief@example.com"),
    ({"email": "second@example.com", "action_primary": ""}, "second@example.com"),
    ({"email": "second@example.com", "action_remove": ""}, "second@example.com"),
]


@pytest.mark.parametrize(("change", "named"), ADDRESS_CHANGES, ids=str)
def test_change_of_an_address_asks_for_the_password_and_is_mailed_to_the_primary_one(
    owner: User, change: dict[str, str], named: str
) -> None:
    client = signed_in(owner)
    before = addresses_of(owner)
    asked = client.post(reverse("account_email"), change)["Location"]
    assert asked.startswith(reverse("account_reauthenticate"))
    client.post(asked, {"password": "wrong"})
    assert (addresses_of(owner), sent_mails()) == (before, [])
    client.post(asked, {"password": FACTORY_PASSWORD, "next": reverse("account_email")})
    assert addresses_of(owner) != before
    [message] = [each for each in sent_mails() if each.to == [EMAIL]]
    assert named in str(message.body)
    assert reverse("account_reset_password") in str(message.body)


def test_fourth_address_is_refused(owner: User) -> None:
    client = signed_in(owner, confirmed=True)
    add = {"email": "third@example.com", "action_add": ""}
    assert client.post(reverse("account_email"), add).status_code == 302
    refused = client.post(reverse("account_email"), add | {"email": "fourth@example.com"})
    assert refused.context["form"].errors
    assert len(addresses_of(owner)) == 3


def test_mail_of_an_added_address_does_not_tell_that_it_has_an_account(owner: User) -> None:
    UserFactory(email="other@example.com")
    EmailAddress.objects.get(user=owner, primary=False).delete()
    client = signed_in(owner, confirmed=True)
    client.post(reverse("account_email"), {"email": "other@example.com", "action_add": ""})
    client.post(reverse("account_email"), {"email": "free@example.com", "action_add": ""})
    assert [each.subject for each in sent_mails() if each.to == [EMAIL]] == ["An address was added to your account"] * 2


def test_address_with_which_another_account_was_made_is_not_confirmed_until_that_account_is_deleted(client: Client, owner: User) -> None:
    third = "third@example.com"
    Client().post(reverse("account_signup"), SIGN_UP | {"email": third})
    other = User.objects.get(email=third)
    client.post(reverse("account_login"), {"login": owner.email, "password": FACTORY_PASSWORD})
    added = EmailAddress.objects.create(user=owner, email=third)
    link = reverse("account_confirm_email", args=[EmailConfirmationHMAC.create(added).key])
    assert f"Another account was made with {third}" in read(client.post(link, follow=True))
    delete_account(user=other, reason="Asked for.", actor=None)
    assert "Another account" not in read(client.post(link, follow=True))
    client.post(reverse("account_reauthenticate"), {"password": FACTORY_PASSWORD})
    client.post(reverse("account_email"), {"email": third, "action_primary": ""})
    owner.refresh_from_db()
    assert owner.email == third

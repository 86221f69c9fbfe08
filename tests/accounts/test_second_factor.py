"""What codes are computed from is encrypted in the database, and codes are refused when it cannot be read."""

from collections.abc import Callable
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from bs4 import BeautifulSoup
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from marketplace.accounts.models import User
from marketplace.accounts.second_factor import ENCRYPTED
from marketplace.accounts.services import remove_second_factor
from marketplace.core.errors import InvalidTransition, PermissionDenied, SelfReview
from tests.callers import is_signed_in
from tests.eager import sent_mails
from tests.factories import PASSWORD, UserFactory

pytestmark = pytest.mark.django_db

SEED = "0123456789abcdef" * 5
# The half minute that it is.
NOW = 60_000_000
WRONG = "no code"


@pytest.fixture(autouse=True)
def _no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(totp, "yield_hotp_counters_from_time", lambda: iter([NOW]))


@pytest.fixture
def user() -> User:
    user = UserFactory()
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


@pytest.fixture
def secret(user: User, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(RecoveryCodes, "generate_seed", lambda *_: SEED)
    secret = str(totp.generate_totp_secret())
    totp.TOTP.activate(user, secret)
    RecoveryCodes.activate(user)
    return secret


def app_code(secret: str) -> str:
    return str(totp.format_hotp_value(totp.hotp_value(secret, NOW)))


def recovery_code(user: User) -> str:
    return str(factor_of(user, "recovery_codes").wrap().get_unused_codes()[0])


def factor_of(user: User, kind: str) -> Any:
    return Authenticator.objects.get(user=user, type=kind)


def sign_in(client: Client, user: User, code: str) -> Any:
    client.post(reverse("account_login"), {"login": user.email, "password": PASSWORD})
    return client.post(reverse("mfa_authenticate"), {"code": code})


def keep_as(user: User, change: Callable[[str], str]) -> None:
    """Change what the database has of both factors."""
    for kind, name in (("totp", "secret"), ("recovery_codes", "seed")):
        factor = factor_of(user, kind)
        factor.data[name] = change(factor.data[name])
        factor.save()


def tamper(kept: str) -> str:
    return kept[:-10] + ("B" if kept[-10] == "A" else "A") + kept[-9:]


def kept() -> str:
    return str(list(Authenticator.objects.values_list("data", flat=True)))


def test_database_has_neither_secret_nor_seed(secret: str) -> None:
    assert Authenticator.objects.count() == 2
    assert secret not in kept()
    assert SEED not in kept()


@pytest.mark.parametrize("kept_as", ["encrypted", "unencrypted"])
def test_codes_sign_in_whether_stored_encrypted_or_unencrypted(client: Client, user: User, secret: str, kept_as: str) -> None:
    if kept_as == "unencrypted":
        Authenticator.objects.filter(user=user, type="totp").update(data={"secret": secret})
        Authenticator.objects.filter(user=user, type="recovery_codes").update(data={"seed": SEED, "used_mask": 0})
    for right in (app_code(secret), recovery_code(user)):
        sign_in(client, user, WRONG)
        assert not is_signed_in(client)
        sign_in(client, user, right)
        assert is_signed_in(client)
        client.logout()
    sign_in(client, user, right)
    assert not is_signed_in(client), "a recovery code works once"


def test_tampered_two_factor_secret_prevents_the_sign_in_with_a_message(client: Client, user: User, secret: str) -> None:
    keep_as(user, tamper)
    response = sign_in(client, user, app_code(secret))
    assert (response.status_code, response["Location"]) == (302, reverse("mfa_authenticate"))
    assert "Contact the operators of this site" in BeautifulSoup(client.get(response["Location"]).content, "html.parser").text
    assert not is_signed_in(client)


def test_user_whose_codes_are_unreadable_is_told_to_set_them_up_again(client: Client, user: User, secret: str) -> None:
    sign_in(client, user, app_code(secret))
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    keep_as(user, tamper)
    index = client.get(reverse("mfa_index"))
    assert index.status_code == 200
    assert "0 codes left" in index.content.decode()
    for name in ("mfa_view_recovery_codes", "mfa_download_recovery_codes", "mfa_generate_recovery_codes"):
        response = client.get(reverse(name), follow=True)
        assert response.redirect_chain == [(reverse("mfa_index"), 302)], name
        assert response.content.decode().count("then set it up again") == 1, name
    client.post(reverse("mfa_deactivate_totp"))
    assert not Authenticator.objects.exists()


def test_two_factor_secrets_survive_a_change_of_the_secret_key_and_plain_ones_are_encrypted(
    client: Client, user: User, secret: str, settings: Any
) -> None:
    other = UserFactory()
    totp.TOTP.activate(other, secret)
    Authenticator.objects.filter(user=other).update(data={"secret": secret})
    earlier, settings.SECRET_KEY = settings.SECRET_KEY, "another-key-" * 5
    with pytest.raises(CommandError, match=rf"^The second factors of 1 users cannot be decrypted: {user.pk}\.$"):
        call_command("reencrypt_secrets")
    settings.SECRET_KEY_FALLBACKS = [earlier]
    call_command("reencrypt_secrets")
    settings.SECRET_KEY_FALLBACKS = []
    assert secret not in kept()
    assert factor_of(other, "totp").data["secret"].startswith(ENCRYPTED)
    sign_in(client, user, app_code(secret))
    assert is_signed_in(client)


def test_reencrypting_keeps_which_recovery_codes_were_used(client: Client, user: User, secret: str) -> None:
    code = recovery_code(user)
    sign_in(client, user, code)
    assert is_signed_in(client)
    client.logout()
    call_command("reencrypt_secrets")
    sign_in(client, user, code)
    assert not is_signed_in(client)


def test_setting_up_the_app_ends_the_sessions_that_began_without_it(user: User) -> None:
    here, elsewhere = Client(), Client()
    for client in (here, elsewhere):
        client.post(reverse("account_login"), {"login": user.email, "password": PASSWORD})
        assert client.get(reverse("account")).status_code == 200
    here.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    page = BeautifulSoup(here.get(reverse("mfa_activate_totp")).content, "html.parser")
    shown = page.select("#authenticator_secret")[0].text
    assert here.post(reverse("mfa_activate_totp"), {"code": app_code(shown)}).status_code == 302
    assert here.get(reverse("account")).status_code == 200
    assert elsewhere.get(reverse("account")).status_code == 302


def test_second_factor_that_staff_turned_off_is_gone_with_the_sessions_and_the_user_is_told(
    client: Client, user: User, secret: str
) -> None:
    sign_in(client, user, app_code(secret))
    with pytest.raises(SelfReview):
        remove_second_factor(user=user, reason="Lost the phone.", actor=user)
    remove_second_factor(user=user, reason="Lost the phone.", actor=UserFactory(is_staff=True))
    assert client.get(reverse("account")).status_code == 302
    client.post(reverse("account_login"), {"login": user.email, "password": PASSWORD})
    assert is_signed_in(client)
    assert "Lost the phone." in sent_mails()[-1].body
    with pytest.raises(InvalidTransition):
        remove_second_factor(user=user, reason="Again.", actor=UserFactory(is_staff=True))


def test_only_a_superuser_turns_off_the_second_factor_of_staff(user: User, secret: str) -> None:
    for field in ("is_staff", "is_superuser"):
        User.objects.filter(pk=user.pk).update(**{"is_staff": False, "is_superuser": False, field: True})
        with pytest.raises(PermissionDenied):
            remove_second_factor(user=user, reason="Lost the phone.", actor=UserFactory(is_staff=True))
    assert Authenticator.objects.filter(user=user).exists()
    remove_second_factor(user=user, reason="Lost the phone.", actor=UserFactory(is_staff=True, is_superuser=True))
    assert not Authenticator.objects.filter(user=user).exists()

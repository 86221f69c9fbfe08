"""The markup of what is no page of its own: a form that came back, steps of a sign-in. Every page is in `test_every_page.py`."""

from collections.abc import Callable

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from marketplace.accounts.models import User
from tests.factories import PASSWORD, UserFactory

from .markup import faults_of

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_pages_of_two_factor_sign_in_have_valid_markup(client: Client) -> None:
    user = UserFactory(email="asha@example.com")
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    sign_in = {"login": user.email, "password": PASSWORD}
    client.post(reverse("account_login"), sign_in)
    asked_again = client.get(reverse("mfa_activate_totp"), follow=True)
    assert faults_of(asked_again.content) == []
    client.post(asked_again.redirect_chain[-1][0], {"password": PASSWORD})
    page = client.get(reverse("mfa_activate_totp"))
    assert faults_of(page.content) == []
    code = format_hotp_value(hotp_value(page.context["form"].secret, next(yield_hotp_counters_from_time())))
    assert client.post(reverse("mfa_activate_totp"), {"code": code}).status_code == 302
    for name in ("mfa_index", "mfa_view_recovery_codes", "mfa_generate_recovery_codes", "mfa_deactivate_totp"):
        assert faults_of(client.get(reverse(name)).content) == [], name
    client.post(reverse("account_logout"))
    response = client.post(reverse("account_login"), sign_in)
    assert response["Location"] == reverse("mfa_authenticate")
    assert faults_of(client.get(reverse("mfa_authenticate")).content) == []
    assert faults_of(client.post(reverse("mfa_authenticate"), {"code": "000000"}).content) == []


def test_fields_with_errors_are_marked_for_screen_readers(browse: Callable[..., Client], developer: User) -> None:
    response = browse(developer).post(reverse("app-create"), {"scopes": ["catalog:read"], "name": "A"})
    assert faults_of(response.content) == []
    page = BeautifulSoup(response.content, "html.parser")
    for name in ("purpose", "reason_catalog_read"):
        field = page.select_one(f'[name="{name}"]')
        assert field is not None
        assert field["aria-invalid"] == "true"
        assert f"id_{name}_error" in field["aria-describedby"]

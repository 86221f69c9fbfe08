"""The overview: one's own things at a glance."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from developers.services.applications import submit_application
from marketplace.accounts.models import User
from tests.factories import AppFactory, UserFactory
from tests.shop import bought, funded, on_sale
from vendors.services.profiles import apply, suspend_vendor

pytestmark = pytest.mark.django_db


def test_dashboard_of_a_new_user_shows_the_next_steps(browse: Callable[..., Client]) -> None:
    text = browse().get(reverse("dashboard")).content.decode()
    for words in ("₹0.00", "$0.00", "Apply", "No app yet", "have a store yet", "Your library is empty"):
        assert words in text


@pytest.mark.slow
def test_balances_and_newest_library_items_are_shown(browse: Callable[..., Client]) -> None:
    buyer = funded(inr=20_000_000, usd=1_050, name="Asha")
    for number in range(6):
        bought(on_sale(title=f"Font {number}"), buyer)
    text = browse(buyer).get(reverse("dashboard")).content.decode()
    assert "Hello, Asha" in text
    assert "₹1,97,006.00" in text
    assert "$10.50" in text
    assert "Font 0" not in text
    assert text.index("Font 5") < text.index("Font 1")


def test_states_of_application_and_apps_are_shown(browse: Callable[..., Client], developer: User) -> None:
    AppFactory(user=developer, name="Suspended one", status="Suspended")
    text = browse(developer).get(reverse("dashboard")).content.decode()
    assert "You are an approved developer" in text
    assert "Suspended one" in text
    applicant = UserFactory()
    submit_application(user=applicant, what="A bot", why="Search", actor=applicant)
    assert "In review" in browse(applicant).get(reverse("dashboard")).content.decode()


def test_store_is_shown_with_its_state(browse: Callable[..., Client], developer: User, reviewer: User) -> None:
    profile = apply(user=developer, store_name="Type & Co", store_slug="type-co", actor=developer)
    client = browse(developer)
    text = client.get(reverse("dashboard")).content.decode()
    assert "Type &amp; Co" in text
    suspend_vendor(profile=profile, reason="Copied work", actor=reviewer)
    assert "Your store is not open" in client.get(reverse("dashboard")).content.decode()

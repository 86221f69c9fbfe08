"""Times, money and states in words."""

from datetime import datetime, timedelta, timezone

import pytest
from django.utils import timezone as clock

from developers.models.applications import ApplicationStatus
from developers.models.apps import AppStatus
from marketplace.core.scopes import Scope
from marketplace.ui.formatting import money, relative_time, status_colour, when
from marketplace.web.templatetags.wording import scope_label
from vendors.models import VendorStatus


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (0, "USD", "$0.00"),
        (99_999_999, "EUR", "€999,999.99"),
        (99_999, "INR", "₹999.99"),
        (100_000, "INR", "₹1,000.00"),
        (12_345_678_900, "INR", "₹12,34,56,789.00"),
        (-150, "USD", "\u2212$1.50"),
        (None, "USD", "—"),
    ],
)
def test_money_is_formatted_by_the_convention_of_its_currency(minor: int | None, currency: str, text: str) -> None:
    assert money(minor, currency) == text


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=30), "in a moment"),
        (timedelta(minutes=-1, seconds=-5), "1 minute ago"),
        (timedelta(days=-1, hours=-1), "1 day ago"),
        (timedelta(days=30, seconds=-2), "in 30 days"),
        (timedelta(days=90), "in 3 months"),
    ],
)
def test_relative_time_is_in_its_largest_unit(ahead: timedelta, words: str) -> None:
    assert relative_time(clock.now() + ahead) == words


def test_time_element_has_the_exact_time() -> None:
    india = timezone(timedelta(hours=5, minutes=30))
    html = when(datetime(2024, 3, 5, 18, 30, 9, tzinfo=india))
    assert '<time datetime="2024-03-05T13:00:09Z" title="5 March 2024, 13:00 UTC">' in html
    assert when(None) == ""


def test_every_scope_has_a_label_and_every_status_a_colour() -> None:
    assert all(scope_label(scope.value) for scope in Scope)
    for states in (ApplicationStatus, AppStatus, VendorStatus):
        assert all(status_colour(state) in {"good", "wait", "bad"} for state in states.values)
    assert status_colour("Something new") == "plain"

"""A reviewer in a real browser: decisions by keyboard only, a decision without scripts, pages by axe."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from catalog.models import ListingReview, RejectionReason
from developers.models import DeveloperApplication
from marketplace.accounts.models import User
from marketplace.review.models import SavedReply
from tests.admin import subjects
from tests.admin.pages import address
from tests.factories import PreviewFactory, UserFactory
from tests.screenshots.driving import overflows, watched
from tests.web.world import store_preview

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOME = reverse("admin:index")


@pytest.fixture(autouse=True)
def _reasons(transactional_db: None) -> None:
    """Offer reasons, which a flush may have taken."""
    for use in ("application.approve", "application.reject", "application.ask"):
        SavedReply.objects.get_or_create(use=use, text="As we said.")
    RejectionReason.objects.get_or_create(code="preview_poor", defaults={"message": "It is blurred.", "hint": "Sharpen it."})


@pytest.fixture
def reviewer() -> User:
    return UserFactory(email="reviewer@example.com", is_staff=True, is_superuser=True)


@pytest.fixture
def window(window: Callable[..., Page], reviewer: User) -> Callable[..., Page]:
    """Open windows of the reviewer: `window("phone")`, `window("desktop", scheme="dark", java_script=False)`."""
    return partial(window, user=reviewer)


def _send(page: Page) -> None:
    """Send the form that one is in, and wait for the next page."""
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")


def test_reviewer_decides_one_after_the_other_by_keyboard_only(window: Callable[..., Page], live_server: Any) -> None:
    listings = [subjects.review() for _ in range(2)]
    applications = [subjects.application() for _ in range(3)]
    page = window("phone")
    visit = watched(page, live_server.url)
    page.goto(live_server.url + HOME)
    page.get_by_role("button", name="Start reviewing: Listings to review").focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    for number, review in enumerate(listings):
        page.get_by_text("You have been reviewing it since").wait_for()
        if number % 2:
            page.keyboard.press("r")
            page.keyboard.press("Space")
        else:
            page.keyboard.press("a")
        _send(page)
        review.refresh_from_db()
        assert review.status == ("Rejected" if number % 2 else "Approved")
    page.get_by_text("Nothing else in this list is open to you").wait_for()
    page.goto(live_server.url + HOME)
    page.get_by_role("button", name="Start reviewing: Developer applications").focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    for number, case in enumerate(applications):
        page.get_by_text("You have been reviewing it since").wait_for()
        page.keyboard.press("arm"[number % 3])
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")
        # Letters are letters here: none of them is a key.
        page.keyboard.type("a reason, never a claim")
        _send(page)
        case.refresh_from_db()
        assert case.status == ("Approved", "Rejected", "MoreInfoNeeded")[number % 3]
    assert not overflows(page)
    assert (visit.elsewhere, visit.faults) == ([], [])


def test_keyboard_shortcuts_claim_go_to_the_next_and_previous_case_and_show_help(window: Callable[..., Page], live_server: Any) -> None:
    first, second = subjects.application(), subjects.application()
    page = window("desktop")
    page.goto(live_server.url + address(DeveloperApplication, "change", first.pk))
    for key, expected in (("c", "You have claimed it."), ("n", str(second.user)), ("p", str(first.user))):
        with page.expect_navigation():
            page.keyboard.press(key)
        page.get_by_text(expected).first.wait_for()
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keyboard shortcuts").is_visible()
    page.get_by_label("Enable single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    assert page.url.startswith(live_server.url + address(DeveloperApplication, "change", first.pk))
    page.keyboard.press("?")
    page.get_by_label("Enable single-key shortcuts").check()
    page.keyboard.press("Escape")
    with page.expect_navigation():
        page.keyboard.press("b")
    assert page.url.startswith(live_server.url + address(DeveloperApplication, "changelist"))


def test_pictures_are_opened_by_key_in_the_page_and_no_other_key_acts_meanwhile(window: Callable[..., Page], live_server: Any) -> None:
    review = subjects.review()
    first, second = (
        PreviewFactory(listing=review.listing, content_type="image/png", slot=slot, details={"width": 64, "height": 64}) for slot in (0, 1)
    )
    for preview in (first, second):
        store_preview(preview)
    page = window("desktop")
    visit = watched(page, live_server.url)
    page.goto(live_server.url + address(ListingReview, "change", review.pk))
    place = page.url
    page.keyboard.press("v")
    shown = page.get_by_role("dialog", name=f"Pictures of {review.listing.title}").get_by_role("img")
    expect(shown).to_have_attribute("src", first.url)
    page.keyboard.press("ArrowRight")
    expect(shown).to_have_attribute("src", second.url)
    page.keyboard.press("b")
    page.keyboard.press("Escape")
    expect(shown).to_be_hidden()
    assert (page.url, visit.faults) == (place, [])


def test_reviewer_without_scripts_starts_decides_and_goes_on(window: Callable[..., Page], live_server: Any) -> None:
    first, second = subjects.application(), subjects.application()
    page = window("desktop", java_script=False)
    page.goto(live_server.url + HOME)
    page.get_by_role("button", name="Start reviewing: Developer applications").click()
    page.get_by_label("Saved reply").first.select_option(index=1)
    page.get_by_role("button", name="Approve, then the next").click()
    page.get_by_text("The application was approved.").wait_for()
    assert second.user.email in page.inner_text("body")
    first.refresh_from_db()
    assert first.status == "Approved"
    page.get_by_label("Saved reply").nth(1).select_option(index=1)
    page.get_by_role("button", name="Reject", exact=True).click()
    page.get_by_text("The application was rejected.").wait_for()
    second.refresh_from_db()
    assert second.status == "Rejected"
    page.get_by_label("Search users").fill(second.user.email)
    page.get_by_label("Search users").press("Enter")
    page.get_by_role("heading", name="Users").wait_for()
    assert not overflows(page)


def test_menu_filters_and_account_open_on_a_phone_without_scripts(window: Callable[..., Page], live_server: Any) -> None:
    subjects.application()
    page = window("phone", java_script=False)
    page.goto(live_server.url + HOME)
    assert not page.get_by_role("navigation", name="Admin").is_visible()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("navigation", name="Admin").get_by_role("link", name="Developer applications").click()
    page.get_by_role("heading", name="Developer applications").wait_for()
    page.locator("summary", has_text="Status").click()
    page.get_by_role("link", name="Approved", exact=True).click()
    page.get_by_text("No matches.").wait_for()
    assert not overflows(page)
    page.get_by_role("button", name="Account").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{live_server.url}/")


def test_menu_on_a_phone_is_opened_used_and_left_by_keyboard(window: Callable[..., Page], live_server: Any) -> None:
    page = window("phone")
    page.goto(live_server.url + HOME)
    menu, opener = page.get_by_role("navigation", name="Admin"), page.get_by_role("button", name="Menu")
    opener.focus()
    page.keyboard.press("Enter")
    menu.wait_for()
    for _ in range(3):
        page.keyboard.press("Tab")
    assert menu.evaluate("(menu) => menu.contains(document.activeElement)")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Escape")
    menu.wait_for(state="hidden")
    assert opener.evaluate("(button) => button === document.activeElement")

"""A vendor in a real browser, on a phone and at a desk, with scripts and without: from a draft to the first sale day."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from catalog.models import Listing
from catalog.models.reviews import ReviewStatus
from catalog.services.review import approve_listing, reject_listing
from marketplace.accounts.models import User
from tests.files import makers
from tests.screenshots.driving import overflows, still, violations

from .conftest import Opened

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def section(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Listing").get_by_role("link", name=name).click()
    page.wait_for_url(f"**/{name.lower()}" if name != "Overview" else "**/listings/*")


def save(page: Page) -> None:
    """Save the section, and see that it was."""
    assert not overflows(page)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved.").wait_for()


def test_vendor_without_scripts_completes_a_draft_and_publishes_after_mending(opened: Opened, listing: Listing, editor: User) -> None:
    page, visit = opened(listing.store.owner, f"/dashboard/studio/listings/{listing.slug}", "phone", java_script=False)
    assert page.get_by_text("To do", exact=True).count() == 2
    section(page, "Prices")
    page.get_by_label("Rupees").fill("499.50")
    page.get_by_label("Discount in percent").fill("50")
    save(page)
    section(page, "Licences")
    page.get_by_label("Only these licences").check()
    page.get_by_label("Extended").uncheck()
    save(page)

    section(page, "Files")
    for place, name, content in (("file", "Aurora.zip", makers.archive(a_otf="x")), ("picture-0", "cover.png", makers.picture())):
        form = page.locator(f"form[data-place={place}]")
        form.locator("input[type=file]").set_input_files({"name": name, "mimeType": "", "buffer": content})
        form.get_by_role("button", name="Upload", exact=True).click()
        expect(page.locator(f"#{place} .note-success")).to_be_visible()
    page.locator("#next").get_by_role("button", name="Send for review").click()
    page.get_by_text("Your listing is in review").wait_for()
    review = listing.reviews.get(status=ReviewStatus.PENDING)
    reject_listing(review=review, findings=[{"code": "description_thin"}], note="Nearly.", actor=editor)
    page.reload()
    assert not overflows(page)
    page.get_by_role("link", name="Fix it in Description").click()
    page.get_by_label("Description").fill("Twelve styles.")
    save(page)
    section(page, "Overview")
    page.get_by_role("button", name="Send for review").click()
    page.get_by_text("Your listing is in review").wait_for()
    approve_listing(review=listing.reviews.get(status=ReviewStatus.PENDING), actor=editor)
    page.reload()
    page.get_by_role("link", name="View it as a buyer").click()
    page.get_by_role("heading", name="Aurora Sans", level=1).wait_for()

    listing.refresh_from_db()
    assert (listing.status, listing.discount_bp) == ("Published", 5_000)
    assert (listing.price_inr_minor, listing.allowed_license_slugs) == (49_950, ["personal", "commercial"])
    assert (visit.elsewhere, visit.faults) == ([], [])


def test_slug_and_price_split_are_shown_while_typing(opened: Opened, listing: Listing) -> None:
    page, visit = opened(listing.store.owner, "/dashboard/studio/listing-new", "phone")
    page.get_by_label("Title").press_sequentially("Höhenluft")
    page.get_by_text("/assets/hohenluft is available.").wait_for()
    page.get_by_label("Address").fill("aurora-sans")
    page.get_by_text("It is taken.").wait_for()
    page.close()
    page, visit = opened(listing.store.owner, f"/dashboard/studio/listings/{listing.slug}/prices", "phone")
    page.get_by_label("US dollars").fill("50")
    page.get_by_text("not saved yet").wait_for()
    # Of the extended licence, five times the price.
    assert page.get_by_text("$200.00").is_visible()
    assert visit.faults == []


def test_error_appears_when_a_field_is_left(opened: Opened, listing: Listing) -> None:
    page, visit = opened(listing.store.owner, f"/dashboard/studio/listings/{listing.slug}/details", "phone", scheme="dark")
    video, files = page.get_by_label("Video"), page.get_by_label("File type")
    video.fill("http://a.example/v")
    # Leaving it is enough, and who types on is not interrupted.
    files.focus()
    page.locator("#id_video_url_error").get_by_text("An https address is required.").wait_for()
    expect(video).to_have_attribute("aria-invalid", "true")
    expect(video).to_have_attribute("aria-describedby", "id_video_url_helptext id_video_url_error")
    expect(files).to_be_focused()
    assert (violations(page), overflows(page)) == ([], False)
    assert visit.faults == []


def test_unsaved_form_is_not_lost_by_following_a_link(opened: Opened, listing: Listing) -> None:
    page, _ = opened(listing.store.owner, f"/dashboard/studio/listings/{listing.slug}/details")
    asked: list[str] = []

    def stay(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.get_by_label("Title").press("End")
    page.get_by_label("Title").press_sequentially(" Pro")
    with page.expect_event("dialog"):
        page.get_by_role("link", name="Prices").click(no_wait_after=True)
    expect(page.get_by_label("Title")).to_have_value("Aurora Sans Pro")
    assert asked == ["beforeunload"]


def test_form_whose_request_was_stopped_can_be_sent_again(opened: Opened, listing: Listing) -> None:
    page, _ = opened(listing.store.owner, f"/dashboard/studio/listings/{listing.slug}/details")
    sent: list[Any] = []

    def hold_the_first(route: Any) -> None:
        if route.request.method == "POST":
            sent.append(route)
        if len(sent) != 1:
            route.continue_()

    page.route("**/details", hold_the_first)
    # After some seconds one may send it again in any case.
    still(page)
    page.get_by_label("Title").fill("Aurora Serif")
    with page.expect_request(lambda request: request.method == "POST"):
        page.keyboard.press("Control+s")
    # Nothing is sent twice while it is on its way.
    page.keyboard.press("Control+s")
    page.wait_for_timeout(200)
    assert len(sent) == 1
    page.keyboard.press("Escape")
    page.keyboard.press("Control+s")
    page.get_by_text("Saved.").wait_for()
    assert len(sent) == 2
    listing.refresh_from_db()
    assert listing.title == "Aurora Serif"

"""A vendor with the keyboard alone: from the application to the review."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from catalog.models import Deliverable, Listing, Preview
from marketplace.accounts.models import User
from tests.factories import UserFactory
from tests.files import makers
from tests.keyboard import choose, fill, follow, reach, tick
from tests.screenshots.driving import overflows
from vendors.models import VendorProfile
from vendors.services.profiles import approve_vendor

from .conftest import Opened

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def section(page: Page, name: str) -> None:
    follow(page, name)
    page.wait_for_url(f"**/{name.lower()}" if name != "Overview" else "**/listings/*")


def test_listing_goes_from_the_application_to_the_review_with_the_keyboard_alone(opened: Opened, editor: User, tmp_path: Path) -> None:
    archive, image = tmp_path / "Aurora.zip", tmp_path / "cover.png"
    archive.write_bytes(makers.archive(a_otf="x"))
    image.write_bytes(makers.picture())
    page, visit = opened(UserFactory(), "/dashboard")
    follow(page, "Open a store")
    fill(page, "store_name", "Quiet Foundry")
    follow(page, "Apply")
    page.get_by_text("Your application is being reviewed").wait_for()
    approve_vendor(profile=VendorProfile.objects.get(), reason="Known", actor=editor)

    page.reload()
    follow(page, "New listing")
    fill(page, "title", "Aurora Sans")
    reach(page, "category", "name")
    page.keyboard.type("Fonts")
    fill(page, "short_description", "A warm grotesque.")
    fill(page, "base_price_minor", "19.99")
    follow(page, "Create draft")
    page.get_by_role("heading", name="It is a draft").wait_for()

    section(page, "Files")
    choose(page, "file-input", archive)
    expect(page.locator("#file .note-success")).to_contain_text("Aurora.zip")
    choose(page, "pictures-input", image)
    expect(page.locator("#upload-news")).to_contain_text("cover.png was uploaded")
    section(page, "Prices")
    fill(page, "price_eur_minor", "18")
    follow(page, "Save")
    page.get_by_text("Saved.").wait_for()
    section(page, "Licences")
    reach(page, "every", "value")
    page.keyboard.press("ArrowDown")
    tick(page, "extended")
    follow(page, "Save")
    page.get_by_text("Saved.").wait_for()
    section(page, "Manifest")
    follow(page, "Generate")
    page.get_by_text("The manifest was generated").wait_for()
    section(page, "Overview")
    follow(page, "Send for review")
    page.get_by_text("Your listing is in review").wait_for()

    listing = Listing.objects.get()
    assert (listing.status, listing.base_price_minor, listing.price_eur_minor) == ("PendingReview", 1_999, 1_800)
    assert listing.allowed_license_slugs == ["personal", "commercial"]
    assert (Deliverable.objects.count(), Preview.objects.count()) == (1, 1)
    assert not overflows(page)
    assert (visit.elsewhere, visit.faults) == ([], [])

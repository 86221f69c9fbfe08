"""A buyer in a real browser, on a phone and at a desk, with scripts and without: look, try, buy, download."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail
from playwright.sync_api import Page, expect

from catalog.models import Deliverable, Listing, Preview
from marketplace.accounts.models import User
from marketplace.core.money import Currency
from marketplace.storage import default_storage
from tests.factories import UserFactory
from tests.files.makers import font as font_file
from tests.files.makers import picture
from tests.keyboard import fill, follow, reach
from tests.screenshots.driving import overflows, still, watched
from tests.shop import archive, on_sale
from wallet.models import Order
from wallet.services.funding import credit_wallet

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def font() -> Listing:
    """A font for sale with a picture and a specimen that are really stored."""
    listing = on_sale(archive(), title="Halden Grotesk", slug="halden-grotesk", tags=["sans"], price_eur_minor=2700)
    on_sale(title="Another Presence", slug="another")
    details = {
        "axes": [{"tag": "wght", "min": 300, "default": 400, "max": 900}],
        "familyNames": ["Halden"],
        "style": "Regular",
        "glyphCount": 3,
    }
    _stored(
        Preview(listing=listing, kind="Gallery", content_type="image/png", details={"width": 600, "height": 400}), picture(size=(600, 400))
    )
    _stored(
        Preview(listing=listing, kind="FontSpecimen", content_type="font/woff2", details=details),
        font_file((("wght", 300, 400, 900, "Weight"),), "woff2"),
    )
    return listing


def _stored(preview: Preview, content: bytes) -> None:
    preview.object_key, preview.size, preview.sha256 = f"previews/{preview.pk}", len(content), "a" * 64
    preview.save()
    default_storage.save_bytes(preview.object_key, content)


def test_results_follow_the_typing_and_the_address_holds_all_of_it(window: Callable[..., Page], live_server: Any, font: Listing) -> None:
    page = window("desktop")
    visit = watched(page, live_server.url)
    page.goto(f"{live_server.url}/browse")
    titles = page.locator(".assets h3")
    assert titles.count() == 2
    page.get_by_label("Search the catalog").press_sequentially("halden")
    # Whoever types slowly sees matches for less before.
    page.get_by_text("1 match for “halden”").wait_for()
    assert titles.all_inner_texts() == ["Halden Grotesk"]
    expect(page).to_have_url(f"{live_server.url}/browse?currency=USD&q=halden")
    page.get_by_label("Prices in").select_option("INR")
    page.get_by_text("₹499.00").wait_for()
    expect(page).to_have_url(f"{live_server.url}/browse?currency=INR&q=halden")
    page.reload()
    assert titles.all_inner_texts() == ["Halden Grotesk"]
    page.get_by_label("Search the catalog").fill("")
    page.get_by_text("2 assets").wait_for()
    assert (visit.elsewhere, visit.faults) == ([], [])


def test_start_page_suggests_while_one_types(window: Callable[..., Page], live_server: Any, font: Listing) -> None:
    page = window("phone")
    page.goto(live_server.url)
    page.get_by_label("Search the catalog").press_sequentially("hal")
    page.locator("#found").get_by_role("link", name="Halden Grotesk").click()
    page.get_by_role("heading", name="Halden Grotesk", level=1).wait_for()


def test_type_tester_shows_the_specimen_and_never_the_file(window: Callable[..., Page], live_server: Any, font: Listing) -> None:
    page = window("desktop")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{live_server.url}/assets/{font.slug}")
    page.wait_for_function("document.fonts.check('20px specimen')")
    text = page.get_by_label("Your text in Halden Grotesk")
    text.fill("Hamburg")
    page.get_by_label(re.compile("^Weight")).fill("750")
    page.get_by_label(re.compile("^Size")).fill("96")
    page.get_by_text("OpenType features").click()
    page.get_by_label("Ligatures", exact=True).uncheck()
    assert text.evaluate("(each) => getComputedStyle(each).fontVariationSettings") == '"wght" 750'
    assert text.evaluate("(each) => getComputedStyle(each).fontSize") == "96px"
    assert '"liga" 0' in text.evaluate("(each) => getComputedStyle(each).fontFeatureSettings")
    specimen = Preview.objects.get(kind="FontSpecimen")
    assert [address for address in asked if "/api/" in address and str(specimen.pk) in address]
    assert str(Deliverable.objects.get(listing=font).pk) not in " ".join(asked)


@pytest.mark.parametrize(("size", "java_script"), [("desktop", True), ("phone", False)])
def test_keyboard_alone_goes_from_sign_up_to_the_download(
    window: Callable[..., Page],
    live_server: Any,
    font: Listing,
    size: str,
    java_script: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    page = window(size, java_script=java_script)
    page.goto(live_server.url)
    follow(page, "Sign up")
    for name in ("email", "password1", "password2"):
        fill(page, name, "asha@example.com" if name == "email" else "a long enough phrase")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Check your email").wait_for()
    link = re.search(r"http://\S+", str(mail.outbox[0].body))
    assert link
    page.goto(link[0])
    follow(page, "Confirm")
    page.get_by_role("heading", name="Hello, asha").wait_for()
    credit_wallet(
        user=User.objects.get(email="asha@example.com"),
        currency=Currency.INR,
        amount_minor=100_000,
        reason="Paid in",
        actor=UserFactory(is_staff=True),
    )

    follow(page, "Browse")
    fill(page, "q", "haldne")
    if not java_script:
        with page.expect_navigation():
            page.keyboard.press("Enter")
    page.get_by_text("1 match for “haldne”").wait_for()
    follow(page, "Halden Grotesk")
    reach(page, "personal", "value")
    page.keyboard.press("ArrowDown")
    follow(page, "Continue to buy")
    follow(page, "Pay ₹998.00")
    page.get_by_text("Halden Grotesk is yours.").wait_for()
    assert Order.objects.get().license_slug == "commercial"

    follow(page, "Library")
    follow(page, "Halden Grotesk")
    reach(page, "Download the newest")
    with page.expect_download() as begun:
        page.keyboard.press("Enter")
        if not java_script:
            page.get_by_role("link", name="Download halden-grotesk-package.zip").wait_for()
            reach(page, "Download halden-grotesk-package.zip")
            page.keyboard.press("Enter")
    assert begun.value.suggested_filename == "halden-grotesk-package.zip"


def test_overlong_words_are_wrapped_on_a_phone(window: Callable[..., Page], live_server: Any) -> None:
    listing = on_sale(title="W" * 118, short_description="x" * 200, tags=["y" * 40], file_type="z" * 200, supported_platforms="p" * 200)
    page = window("phone")
    for address in ("/browse", f"/browse?q={'w' * 150}", f"/browse?tag={'y' * 40}&platform={'W' * 180}", f"/assets/{listing.slug}"):
        page.goto(live_server.url + address)
        assert not overflows(page), address


def test_chosen_colour_scheme_is_kept(window: Callable[..., Page], live_server: Any) -> None:
    page = window("phone", scheme="light")
    page.goto(f"{live_server.url}/docs")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark colours").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Dark colours").click()
    assert page.evaluate(ground) == light


def test_chosen_language_is_kept_and_code_is_copied(window: Callable[..., Page], live_server: Any) -> None:
    page = window("desktop")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{live_server.url}/docs/quick-start")
    page.get_by_text("Python", exact=True).first.click()
    page.goto(f"{live_server.url}/docs/authentication")
    block = page.locator(".tab:visible .code").first
    assert "import os, requests" in block.inner_text()
    block.hover()
    block.get_by_role("button", name="Copy the code").click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('import os, requests'))")


def test_button_that_copies_says_what_it_does_again(window: Callable[..., Page], live_server: Any) -> None:
    page = window("desktop")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{live_server.url}/docs/authentication")
    button = page.locator(".tab:visible [data-copy]").first
    reach(page, "Copy")
    still(page)
    page.keyboard.press("Enter")
    expect(button).to_have_text("Copied")
    # Pressed again meanwhile, it must not keep what stands there; another text shows when the second press is done.
    button.evaluate("(button) => { button.textContent = 'Pressed'; }")
    page.keyboard.press("Enter")
    expect(button).to_have_text("Copied")
    page.clock.run_for(2_500)
    expect(button).to_have_text("Copy")

"""A buyer in a real browser, on a phone and at a desk, with scripts and without: look, try, buy, download."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.core import mail
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from catalog.models import Deliverable, Listing, Preview
from marketplace.accounts.models import User
from marketplace.core.money import Currency
from marketplace.storage import default_storage
from tests.factories import UserFactory
from tests.files.makers import font as font_file
from tests.files.makers import picture
from tests.screenshots.driving import MOST_BYTES, SCHEMES, SIZES, Scheme, context, overflows, patient, still, violations, watched
from tests.shop import archive, funded, on_sale
from wallet.models import Order
from wallet.services.funding import credit_wallet

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def window(chromium: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Open windows: `window("phone")`, `window("desktop", scheme="dark", java_script=False, user=buyer)`."""
    opened: list[BrowserContext] = []

    def make(size: str, *, scheme: Scheme = "light", java_script: bool = True) -> BrowserContext:
        opened.append(context(chromium, size, scheme, java_script=java_script))
        return opened[-1]

    yield make
    for each in opened:
        each.close()
    connections.close_all()


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


@pytest.fixture
def buyer() -> User:
    return funded(inr=100_000)


def sign_in(window: BrowserContext, address: str, user: User) -> None:
    """Give the window the session of someone who signed in."""
    client = Client()
    client.force_login(user)
    window.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": client.cookies["sessionid"].value, "url": address}])


@pytest.mark.parametrize(("size", "java_script"), [("phone", True), ("phone", False), ("desktop", True)])
def test_buyer_searches_buys_and_downloads(
    window: Callable[..., BrowserContext],
    live_server: Any,
    settings: Any,
    font: Listing,
    buyer: User,
    size: str,
    java_script: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    settings.BASE_URL = live_server.url
    opened = window(size, java_script=java_script)
    sign_in(opened, live_server.url, buyer)
    page = opened.new_page()
    visit = watched(page, live_server.url)
    page.goto(live_server.url)
    page.get_by_label("Search the catalog").fill("haldne")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**/browse?**")
    page.get_by_role("link", name="Halden Grotesk").click()
    page.get_by_role("heading", name="Halden Grotesk", level=1).wait_for()
    assert not overflows(page)
    page.get_by_role("radio", name="Commercial").check()
    page.get_by_role("button", name="Continue to buy").click()
    page.get_by_role("heading", name="Buy Halden Grotesk?").wait_for()
    assert page.get_by_text("Balance afterwards").is_visible()
    assert not overflows(page)
    page.get_by_role("button", name="Pay ₹998.00").click()
    page.get_by_text("Halden Grotesk is yours.").wait_for()
    page.get_by_role("link", name="Go to the download").click()
    with page.expect_download() as begun:
        page.get_by_role("button", name="Download the newest").click()
        if not java_script:
            page.get_by_role("link", name="Download halden-grotesk").click()
    assert begun.value.suggested_filename == "halden-grotesk-package.zip"
    assert Order.objects.get().license_slug == "commercial"
    assert (visit.elsewhere, visit.faults) == ([], [])


def test_results_follow_the_typing_and_the_address_holds_all_of_it(
    window: Callable[..., BrowserContext], live_server: Any, font: Listing
) -> None:
    page = window("desktop").new_page()
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


def test_start_page_suggests_while_one_types(window: Callable[..., BrowserContext], live_server: Any, font: Listing) -> None:
    page = window("phone").new_page()
    page.goto(live_server.url)
    page.get_by_label("Search the catalog").press_sequentially("hal")
    page.locator("#found").get_by_role("link", name="Halden Grotesk").click()
    page.get_by_role("heading", name="Halden Grotesk", level=1).wait_for()


def test_type_tester_shows_the_specimen_and_never_the_file(window: Callable[..., BrowserContext], live_server: Any, font: Listing) -> None:
    page = window("desktop").new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{live_server.url}/assets/{font.slug}")
    page.wait_for_function("document.fonts.check('20px specimen')")
    text = page.get_by_label("Your text in Halden Grotesk")
    text.fill("Hamburg")
    page.get_by_label(re.compile("^Weight")).fill("750")
    page.get_by_label(re.compile("^Size")).fill("96")
    page.get_by_text("OpenType features").click()
    page.get_by_label("Ligatures").uncheck()
    assert text.evaluate("(each) => getComputedStyle(each).fontVariationSettings") == '"wght" 750'
    assert text.evaluate("(each) => getComputedStyle(each).fontSize") == "96px"
    assert '"liga" 0' in text.evaluate("(each) => getComputedStyle(each).fontFeatureSettings")
    specimen = Preview.objects.get(kind="FontSpecimen")
    assert [address for address in asked if "/api/" in address and str(specimen.pk) in address]
    assert str(Deliverable.objects.get(listing=font).pk) not in " ".join(asked)


@pytest.mark.parametrize(("size", "java_script"), [("desktop", True), ("phone", False)])
def test_keyboard_alone_goes_from_sign_up_to_the_download(
    window: Callable[..., BrowserContext],
    live_server: Any,
    settings: Any,
    font: Listing,
    size: str,
    java_script: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    settings.BASE_URL = live_server.url
    page = window(size, java_script=java_script).new_page()
    page.goto(live_server.url)
    _choose(page, "Sign up")
    for label in ("Email", "Password", "Password (again)"):
        _tab_to(page, page.get_by_label(label, exact=True))
        page.keyboard.type("asha@example.com" if label == "Email" else "a long enough phrase")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Check your mail").wait_for()
    link = re.search(r"http://\S+", str(mail.outbox[0].body))
    assert link
    page.goto(link[0])
    _choose(page, "Confirm")
    page.get_by_role("heading", name="Hello, asha").wait_for()
    credit_wallet(
        user=User.objects.get(email="asha@example.com"),
        currency=Currency.INR,
        amount_minor=100_000,
        reason="Paid in",
        actor=UserFactory(is_staff=True),
    )

    _choose(page, "Browse")
    _tab_to(page, page.get_by_label("Search the catalog"))
    page.keyboard.type("haldne")
    if not java_script:
        with page.expect_navigation():
            page.keyboard.press("Enter")
    page.get_by_text("1 match for “haldne”").wait_for()
    _choose(page, "Halden Grotesk")
    _tab_to(page, page.get_by_role("radio", name="Personal"))
    page.keyboard.press("ArrowDown")
    _choose(page, "Continue to buy")
    _choose(page, "Pay ₹998.00")
    page.get_by_text("Halden Grotesk is yours.").wait_for()
    assert Order.objects.get().license_slug == "commercial"

    _choose(page, "Library")
    _choose(page, "Halden Grotesk")
    _tab_to(page, page.get_by_role("button", name="Download the newest"))
    with page.expect_download() as begun:
        page.keyboard.press("Enter")
        if not java_script:
            _go_to(page, "Download halden-grotesk-package.zip")
            page.keyboard.press("Enter")
    assert begun.value.suggested_filename == "halden-grotesk-package.zip"


def _choose(page: Page, words: str) -> None:
    """Go to a link or a button that says these words, press Enter, and wait for the page that it leads to."""
    _go_to(page, words)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def _go_to(page: Page, words: str) -> None:
    """Go to a link or a button that says these words."""
    target = page.locator("a, button").filter(has_text=re.compile(rf"^\s*{re.escape(words)}\s*$")).first
    target.wait_for()
    _tab_to(page, target)


def _tab_to(page: Page, target: Locator) -> None:
    """Press Tab until it has the focus, and see that the focus can be seen: on itself or on what stands for it."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if target.evaluate("(each) => each === document.activeElement"):
            seen = "(each) => [each, each.closest('.asset, .check')].some((one) => one && getComputedStyle(one).outlineStyle === 'solid')"
            assert target.evaluate(seen), target
            return
    raise AssertionError(f"the keyboard does not reach {target}")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_nothing_stands_in_anyones_way_and_pages_are_light(
    window: Callable[..., BrowserContext], live_server: Any, font: Listing, buyer: User, scheme: Scheme
) -> None:
    """The pages people come to first; `python -m tests.screenshots` looks at all of them."""
    for size in SIZES:
        opened = window(size, scheme=scheme)
        for address in ("/", "/browse", f"/assets/{font.slug}", "/docs/quick-start"):
            page = opened.new_page()
            visit = watched(page, live_server.url)
            page.goto(live_server.url + address)
            page.wait_for_load_state("networkidle")
            assert violations(page) == [], (size, address)
            assert not overflows(page), (size, address)
            assert (visit.elsewhere, visit.faults) == ([], []), (size, address)
            assert visit.weight <= MOST_BYTES, (size, address)
            page.close()


def test_words_longer_than_a_phone_is_wide_are_broken(window: Callable[..., BrowserContext], live_server: Any) -> None:
    listing = on_sale(title="W" * 118, short_description="x" * 200, tags=["y" * 40], file_type="z" * 200, supported_platforms="p" * 200)
    page = window("phone").new_page()
    for address in ("/browse", f"/browse?q={'w' * 150}", f"/browse?tag={'y' * 40}&platform={'W' * 180}", f"/assets/{listing.slug}"):
        page.goto(live_server.url + address)
        assert not overflows(page), address


def test_chosen_colours_are_kept(window: Callable[..., BrowserContext], live_server: Any) -> None:
    page = window("phone", scheme="light").new_page()
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


def test_chosen_language_is_kept_and_code_is_copied(window: Callable[..., BrowserContext], live_server: Any) -> None:
    opened = window("desktop")
    opened.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened.new_page()
    page.goto(f"{live_server.url}/docs/quick-start")
    page.get_by_text("Python", exact=True).first.click()
    page.goto(f"{live_server.url}/docs/authentication")
    block = page.locator(".tab:visible .code").first
    assert "import os, requests" in block.inner_text()
    block.hover()
    block.get_by_role("button", name="Copy the code").click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('import os, requests'))")


def test_button_that_copies_is_seen_by_touch_and_by_keyboard_and_says_what_it_does_again(
    chromium: Browser, window: Callable[..., BrowserContext], live_server: Any
) -> None:
    address = f"{live_server.url}/docs/authentication"
    opacity = "(button) => getComputedStyle(button).opacity"
    with patient(chromium.new_context(viewport=SIZES["phone"], has_touch=True, is_mobile=True)) as phone:
        page = phone.new_page()
        page.goto(address)
        assert page.locator(".tab:visible [data-copy]").first.evaluate(opacity) == "1"
    opened = window("desktop")
    opened.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened.new_page()
    page.goto(address)
    button = page.locator(".tab:visible [data-copy]").first
    assert button.evaluate(opacity) == "0"
    _tab_to(page, button)
    assert button.evaluate(opacity) == "1"
    still(page)
    page.keyboard.press("Enter")
    expect(button).to_have_text("Copied")
    # Pressed again meanwhile, it must not keep what stands there; another text shows when the second press is done.
    button.evaluate("(button) => { button.textContent = 'Pressed'; }")
    page.keyboard.press("Enter")
    expect(button).to_have_text("Copied")
    page.clock.run_for(2_500)
    expect(button).to_have_text("Copy")

"""The pages that are visited, each as someone, in the order that makes them: what is bought on the way is in the library after."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page

from .second_factor import to_codes, to_ended

FONT = "kestrel-variable"
SOUND = "basement-drum-loops"
BOUGHT = "halden-grotesk"
# Where the password is asked for once more.
AGAIN = "/account/reauthenticate/"
SALES = {
    "sales": "sales",
    "sales-year": "sales?last=12m",
    "sales-listings": "sales/listings",
    "sales-statement": "sales/statement",
    "payouts": "payouts",
}


@dataclass(frozen=True)
class Stop:
    """A page: how it is called, who looks at it, and its path or what leads to it."""

    name: str
    who: str
    path: str = ""
    lead: Callable[[Page, str], None] | None = None


def _follow(path: str, selector: str, further: str = "") -> Callable[[Page, str], None]:
    """Return what opens the address behind a link of another page."""

    def lead(page: Page, base_url: str) -> None:
        page.goto(base_url + path)
        page.goto(base_url + str(page.locator(selector).first.get_attribute("href")) + further)

    return lead


def _to_checkout(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}/assets/{BOUGHT}")
    if page.get_by_role("button", name="Continue to buy").count():
        page.locator("input[name=license]:not(:disabled)").first.check()
        page.get_by_role("button", name="Continue to buy").click()


def _to_download(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}/dashboard/library")
    # The address stays; the download itself is not what the picture is of.
    page.route("**/api/v1/downloads/**", lambda route: route.abort())
    page.get_by_role("button", name="Download").first.click()


def _in_studio(section: str = "", status: str = "Published") -> Callable[[Page, str], None]:
    """Return what opens a section of the vendor's newest listing of a status."""

    def lead(page: Page, base_url: str) -> None:
        page.goto(f"{base_url}/dashboard/studio?status={status}")
        address = page.locator(".table .name a").first.get_attribute("href")
        page.goto(f"{base_url}{address}{section}")

    return lead


def _to_draft(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}/dashboard/studio/listing-new")
    page.get_by_label("Title").fill("Fjord Display")
    page.get_by_label("Category").select_option(label="Fonts")
    page.get_by_label("In one sentence").fill("A cool serif for covers and posters.")
    page.get_by_label("Price in US dollars").fill("29")
    # Sent again, it leads to the draft that is there.
    page.get_by_role("button", name="Make the draft").click()
    page.get_by_role("heading", name="It is a draft").wait_for()


def _to_refused_prices(page: Page, base_url: str) -> None:
    _in_studio("/prices", "Draft")(page, base_url)
    page.get_by_label("US dollars").fill("-3")
    page.get_by_label("Discount in percent").fill("120")
    page.locator("form[data-guard]").evaluate("(form) => { form.noValidate = true; }")
    page.get_by_role("button", name="Save").click()
    page.locator(".errorlist").first.wait_for()


def studio_stops() -> list[Stop]:
    """Return the pages of someone who sells, or wants to."""
    sections = ("details", "prices", "licences", "files", "manifest", "reviews", "unpublish")
    return [
        Stop("studio-apply", "buyer", "/dashboard/studio/apply"),
        Stop("studio-draft", "vendor", lead=_to_draft),
        Stop("studio", "vendor", "/dashboard/studio"),
        Stop("studio-nothing", "vendor", "/dashboard/studio?q=zzqqxx"),
        Stop("studio-new", "vendor", "/dashboard/studio/listing-new"),
        Stop("studio-store", "vendor", "/dashboard/studio/store"),
        Stop("studio-refused", "vendor", lead=_to_refused_prices),
        Stop("studio-listing", "vendor", lead=_in_studio()),
        *(Stop(f"studio-{section}", "vendor", lead=_in_studio(f"/{section}")) for section in sections),
        Stop("studio-files-font", "vendor", f"/dashboard/studio/listings/{FONT}/files"),
    ]


def _to_answer(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}/dashboard/console/listLibrary")
    page.get_by_role("button", name="Run").click()
    page.locator("#answer-body").wait_for()


def _panel_open(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}/browse?category=fonts&license=commercial&minPrice=20&maxPrice=120&currency=USD&sort=price_asc")
    label = page.get_by_text("Filters and order")
    if label.is_visible():
        label.click()


def _to_suggestions(page: Page, base_url: str) -> None:
    page.goto(base_url)
    page.get_by_label("Search the catalog").press_sequentially("gro")
    page.locator(".suggestions a").first.wait_for()


def _filled(path: str, button: str, **fields: str) -> Callable[[Page, str], None]:
    """Return what sends a form with these words under its labels, as it is."""

    def lead(page: Page, base_url: str) -> None:
        page.goto(base_url + path)
        for label, words in fields.items():
            page.get_by_label(label.replace("_", " "), exact=True).fill(words)
        page.get_by_role("button", name=button, exact=True).click()
        page.wait_for_load_state("networkidle")

    return lead


def _to_lost_cookie(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}/account/login/")
    page.context.clear_cookies()
    _send(page)


def _to_wrong_method(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}/account/login/")
    page.evaluate("document.querySelector('main form').action = '/docs'")
    _send(page)


def _send(page: Page) -> None:
    page.get_by_label("Email").fill("someone@demo.example")
    page.get_by_label("Password").fill("a password of theirs")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_load_state("networkidle")


def public_stops(docs: list[str]) -> list[Stop]:
    """Return the pages that anyone may see."""
    paths = {
        "landing": "/",
        "browse": "/browse",
        "browse-category": "/browse?category=fonts&sort=price_asc",
        "browse-search": "/browse?q=grotsek",
        "browse-nothing": "/browse?q=zzqqxx",
        "browse-nothing-filtered": "/browse?category=fonts&minPrice=900",
        "browse-refused": "/browse?minPrice=cheap",
        "browse-second": "/browse?page=2&currency=INR",
        "browse-tag": "/browse?tag=lottie&sort=newest&currency=USD",
        "listing-font": f"/assets/{FONT}",
        "listing-sound": f"/assets/{SOUND}",
        "listing-motion": "/assets/pulse-lower-thirds",
        "listing-template": "/assets/launch-landing-page",
        "listing-look": "/assets/nordic-winter-tones",
        "listing-skill": "/assets/contract-clause-finder",
        "listing-free": "/assets/commons-sans",
        "docs": "/docs",
        **{f"docs-{slug}": f"/docs/{slug}" for slug in docs},
        "reference": "/api/v1/docs",
        "reference-operation": "/docs/api/searchAssets",
        "problems": "/problems",
        "problem": "/problems/insufficient_scope",
        "not-found": "/nothing/is/here",
        "sign-in": "/account/login/",
        "sign-up": "/account/signup/",
        "password-reset": "/account/password/reset/",
        "password-reset-sent": "/account/password/reset/done/",
        "mail-sent": "/account/confirm-email/",
        "mail-link-old": "/account/confirm-email/nothing/",
    }
    stops = [Stop(name, "", path) for name, path in paths.items()]
    return [
        *stops,
        Stop("store", "", lead=_follow(f"/assets/{FONT}", "a[href^='/stores/']")),
        Stop("browse-filtered", "", lead=_panel_open),
        Stop("suggestions", "", lead=_to_suggestions),
        Stop("sign-in-refused", "", lead=_filled("/account/login/", "Sign in", Email="buyer@demo.example", Password="not theirs")),
        Stop(
            "sign-up-refused",
            "",
            lead=_filled(
                "/account/signup/", "Sign up", **{"Email": "new@demo.example", "Password": "12345678", "Password (again)": "1234"}
            ),
        ),
        Stop("lost-cookie", "", lead=_to_lost_cookie),
        Stop("wrong-method", "", lead=_to_wrong_method),
    ]


def signed_in_stops() -> list[Stop]:
    """Return the pages of people with an account."""
    buyer = {
        "dashboard-new": "/dashboard",
        "developer-apply": "/dashboard/developer",
        "apps-not-verified": "/dashboard/apps",
        "spending": "/dashboard/spending",
        "connections": "/dashboard/connections",
        "account": "/account/email/",
        "account-password": "/account/password/change/",
        "account-own": "/dashboard/account",
        "account-delete": "/dashboard/account/delete",
    }
    developer = {
        "dashboard": "/dashboard",
        "developer": "/dashboard/developer",
        "apps": "/dashboard/apps",
        "app-new": "/dashboard/apps/new",
        "console": "/dashboard/console",
        "console-call": "/dashboard/console/searchAssets",
        "tokens": "/dashboard/tokens",
        "token-new": "/dashboard/tokens/new",
        "library-empty": "/dashboard/library",
        "token-usage": "/dashboard/tokens/usage?last=24h",
        "sales-no-vendor": "/dashboard/studio/sales",
    }
    return [
        Stop("checkout", "buyer", lead=_to_checkout),
        *(Stop(name, "buyer", path) for name, path in buyer.items()),
        Stop("wallet", "buyer", "/dashboard/wallet"),
        Stop("library", "buyer", "/dashboard/library"),
        Stop("library-item", "buyer", lead=_follow("/dashboard/library", ".owned h2 a")),
        Stop("order", "buyer", lead=_follow("/dashboard/wallet", ".table .name a")),
        Stop("download", "buyer", lead=_to_download),
        Stop("listing-owned", "buyer", f"/assets/{BOUGHT}"),
        Stop("wallet-empty", "admin", "/dashboard/wallet"),
        Stop("checkout-poor", "admin", lead=_to_checkout),
        Stop("second-factor", "otherVendor", "/account/2fa/"),
        Stop("second-factor-set-up", "otherVendor", "/account/2fa/totp/activate/"),
        Stop("second-factor-codes", "otherVendor", lead=to_codes),
        Stop("second-factor-on", "otherVendor", "/account/2fa/"),
        Stop("second-factor-new-codes", "otherVendor", "/account/2fa/recovery-codes/generate/"),
        Stop("second-factor-turn-off", "otherVendor", "/account/2fa/totp/deactivate/"),
        Stop("second-factor-ended", "otherVendor", lead=to_ended),
        Stop("account-again", "otherVendor", AGAIN),
        Stop("sign-out", "otherVendor", "/account/logout/"),
        *(Stop(name, "developer", path) for name, path in developer.items()),
        Stop("app", "developer", lead=_follow("/dashboard/apps", ".card-link a")),
        Stop("app-usage", "developer", lead=_follow("/dashboard/apps", ".card-link a", "/usage?last=24h")),
        *studio_stops(),
        Stop("console-answer", "developer", lead=_to_answer),
        *(Stop(name, "vendor", f"/dashboard/studio/{path}") for name, path in SALES.items()),
        Stop("admin", "admin", "/admin/"),
        Stop("admin-search", "admin", "/admin/search?q=example"),
        Stop("admin-listings", "admin", "/admin/catalog/listing/"),
        Stop("admin-queue", "admin", "/admin/catalog/listingreview/?status__exact=all"),
        Stop(
            "admin-review", "admin", lead=_follow("/admin/catalog/listingreview/?status__exact=all", "#result_list tbody a[href*=change]")
        ),
        Stop("admin-vendor", "admin", lead=_follow("/admin/vendors/vendorprofile/", "#result_list tbody a[href*=change]")),
        Stop("token-revoke", "vendor", lead=_follow("/dashboard/tokens", ".table .end a:last-child")),
    ]

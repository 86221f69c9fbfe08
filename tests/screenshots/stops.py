"""The pages that are visited, each as someone, in the order that makes them: what is bought on the way is in the library after."""

from collections.abc import Callable

from playwright.sync_api import Page

from .making import FONT, developer_stops, studio_stops
from .second_factor import to_codes, to_ended
from .stop import Stop, at, follow, refused

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


def _panel_open(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}/browse?category=fonts&license=commercial&minPrice=20&maxPrice=120&currency=USD&sort=price_asc")
    label = page.get_by_text("Filter and sort")
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


def _to_admin_menu(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}/admin/accounts/user/")
    page.locator("summary").first.click()
    if page.get_by_role("button", name="Menu").is_visible():
        page.get_by_role("button", name="Menu").click()


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
        Stop("store", "", lead=follow(f"/assets/{FONT}", "a[href^='/stores/']")),
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
        Stop("wallet-payout-new", "buyer", "/dashboard/wallet/payouts/new"),
        Stop(
            "wallet-payout-new-refused", "buyer", lead=refused(at("/dashboard/wallet/payouts/new"), {"amount": "9000000", "password": "x"})
        ),
        Stop("wallet-payout", "developer", lead=follow("/dashboard/wallet", ".items a")),
        Stop("wallet-waiting", "developer", "/dashboard/wallet"),
        Stop("account-delete-money", "developer", "/dashboard/account/delete"),
        Stop("library", "buyer", "/dashboard/library"),
        Stop("library-item", "buyer", lead=follow("/dashboard/library", ".owned h2 a")),
        Stop("order", "buyer", lead=follow("/dashboard/wallet", ".table .name a")),
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
        *developer_stops(),
        *studio_stops(),
        *(Stop(name, "vendor", f"/dashboard/studio/{path}") for name, path in SALES.items()),
        Stop("admin", "admin", "/admin/"),
        Stop("admin-search", "admin", "/admin/search?q=halden"),
        Stop("admin-listings", "admin", "/admin/catalog/listing/"),
        Stop("admin-queue", "admin", "/admin/catalog/listingreview/?status__exact=all"),
        Stop("admin-review", "admin", lead=follow("/admin/catalog/listingreview/?status__exact=all", "#result_list tbody a[href*=change]")),
        Stop("admin-refund", "admin", lead=follow("/admin/wallet/order/", "#result_list tbody th a", "../refund/")),
        Stop("admin-wallet-payouts", "admin", "/admin/wallet/walletpayout/"),
        Stop("admin-wallet-payout", "admin", lead=follow("/admin/wallet/walletpayout/", "#result_list tbody a[href*=change]")),
        Stop(
            "admin-wallet-payout-pay", "admin", lead=follow("/admin/wallet/walletpayout/", "#result_list tbody a[href*=change]", "../pay/")
        ),
        Stop("admin-app", "admin", lead=follow("/admin/developers/app/", "#result_list tbody th a")),
        Stop("admin-user", "admin", lead=follow("/admin/accounts/user/", "#result_list tbody th a")),
        Stop("admin-category", "admin", lead=follow("/admin/catalog/category/", "#result_list tbody th a")),
        Stop("admin-group", "admin", "/admin/auth/group/add/"),
        Stop("admin-menu", "admin", lead=_to_admin_menu),
        Stop("admin-vendor", "admin", lead=follow("/admin/vendors/vendorprofile/", "#result_list tbody a[href*=change]")),
        Stop("token-revoke", "vendor", lead=follow("/dashboard/tokens", ".table .end a:last-child")),
    ]

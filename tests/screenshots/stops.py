"""The pages that are visited, each as someone, in the order that makes them: what is bought on the way is in the library after."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page

FONT = "kestrel-variable"
SOUND = "basement-drum-loops"
BOUGHT = "halden-grotesk"


@dataclass(frozen=True)
class Stop:
    """A page: how it is called, who looks at it, and its path or what leads to it."""

    name: str
    who: str
    path: str = ""
    lead: Callable[[Page, str], None] | None = None


def _follow(path: str, selector: str) -> Callable[[Page, str], None]:
    """Return what opens the address behind a link of another page."""

    def lead(page: Page, base_url: str) -> None:
        page.goto(base_url + path)
        page.goto(base_url + str(page.locator(selector).first.get_attribute("href")))

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


def public_stops(docs: list[str]) -> list[Stop]:
    """Return the pages that anyone may see."""
    paths = {
        "landing": "/",
        "browse": "/browse",
        "browse-category": "/browse?category=fonts&sort=price_asc",
        "browse-search": "/browse?q=grotsek",
        "browse-nothing": "/browse?q=zzqqxx",
        "listing-font": f"/assets/{FONT}",
        "listing-sound": f"/assets/{SOUND}",
        "docs": "/docs",
        **{f"docs-{slug}": f"/docs/{slug}" for slug in docs},
        "reference": "/api/v1/docs",
        "problems": "/problems",
        "problem": "/problems/insufficient_scope",
        "not-found": "/nothing/is/here",
        "sign-in": "/account/login/",
        "sign-up": "/account/signup/",
        "password-reset": "/account/password/reset/",
    }
    stops = [Stop(name, "", path) for name, path in paths.items()]
    return [*stops, Stop("store", "", lead=_follow(f"/assets/{FONT}", "a[href^='/stores/']"))]


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
    }
    developer = {
        "dashboard": "/dashboard",
        "developer": "/dashboard/developer",
        "apps": "/dashboard/apps",
        "app-new": "/dashboard/apps/new",
        "tokens": "/dashboard/tokens",
        "token-new": "/dashboard/tokens/new",
        "library-empty": "/dashboard/library",
    }
    return [
        Stop("checkout", "buyer", lead=_to_checkout),
        *(Stop(name, "buyer", path) for name, path in buyer.items()),
        Stop("wallet", "buyer", "/dashboard/wallet"),
        Stop("library", "buyer", "/dashboard/library"),
        Stop("library-item", "buyer", lead=_follow("/dashboard/library", ".owned h2 a")),
        Stop("order", "buyer", lead=_follow("/dashboard/wallet", ".table .name a")),
        Stop("download", "buyer", lead=_to_download),
        *(Stop(name, "developer", path) for name, path in developer.items()),
        Stop("app", "developer", lead=_follow("/dashboard/apps", ".card-link a")),
        Stop("token-revoke", "vendor", lead=_follow("/dashboard/tokens", ".table .end a:last-child")),
    ]

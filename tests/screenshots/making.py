"""The pages of those who build and sell: what they work with, forms that came back, uploads on their way, what is still empty."""

from collections.abc import Callable
from urllib.parse import urlencode

from playwright.sync_api import FilePayload, Page

from .stop import Stop, at, follow, refused

FONT = "kestrel-variable"
# Of `scenes`, which sets Django up to be imported.
REJECTED = "harbour-slab"


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
    page.get_by_label("Summary").fill("A cool serif for covers and posters.")
    page.get_by_label("Price in US dollars").fill("29")
    # Sent again, it leads to the draft that is there.
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("heading", name="It is a draft").wait_for()


def _to_upload(page: Page, base_url: str) -> None:
    _in_studio("/files", "Draft")(page, base_url)
    page.wait_for_load_state("networkidle")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 200_000}
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", slow)
    file = FilePayload(name="Fjord-Display.zip", mimeType="application/zip", buffer=bytes(6_000_000))
    page.get_by_label("Upload the file").set_input_files(file)
    page.wait_for_function("() => document.querySelector('.under-way progress')?.value > 10")


def _of_app(section: str) -> Callable[[Page, str], None]:
    """Return what opens a page of the developer's app."""
    return follow("/dashboard/apps", ".card-link a", section)


def _to_webhook(page: Page, base_url: str) -> None:
    _of_app("/webhooks")(page, base_url)
    page.locator(".table .name a").first.click()
    page.get_by_role("heading", name="Deliveries").wait_for()


def _to_mistake_that_is_told(page: Page, base_url: str) -> None:
    _of_app("/webhooks/new")(page, base_url)
    page.get_by_label("Address").fill("http://app.example/hook")
    page.get_by_label("Address").press("Tab")
    page.locator(".errorlist").wait_for()


def _to_consent(page: Page, base_url: str) -> None:
    _of_app("")(page, base_url)
    asked = {
        "response_type": "code",
        "client_id": page.locator("p", has_text="Client id:").locator("code").inner_text(),
        "redirect_uri": "https://app.example/callback",
        "scope": "library:read wallet:spend",
        "code_challenge": "c" * 43,
        "code_challenge_method": "S256",
    }
    page.goto(f"{base_url}/oauth/authorize?{urlencode(asked)}")


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
        Stop("studio-refused", "vendor", lead=refused(_in_studio("/prices", "Draft"), {"base_price_minor": "-3", "discount_bp": "120"})),
        Stop("studio-rejected", "vendor", f"/dashboard/studio/listings/{REJECTED}"),
        Stop("studio-licences-some", "vendor", f"/dashboard/studio/listings/{REJECTED}/licences"),
        Stop("studio-upload", "vendor", lead=_to_upload),
        Stop("studio-empty", "newStore", "/dashboard/studio"),
        Stop("sales-nothing", "newStore", "/dashboard/studio/sales"),
        Stop("studio-waiting", "waitingStore", "/dashboard/studio"),
        Stop("studio-listing", "vendor", lead=_in_studio()),
        Stop("studio-delete", "vendor", lead=_in_studio("/delete", "Draft")),
        *(Stop(f"studio-{section}", "vendor", lead=_in_studio(f"/{section}")) for section in sections),
        Stop("studio-files-font", "vendor", f"/dashboard/studio/listings/{FONT}/files"),
    ]


def _to_answer(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}/dashboard/console/listLibrary")
    page.get_by_role("button", name="Run").click()
    page.locator("#answer-body").wait_for()


def developer_stops() -> list[Stop]:
    """Return the pages of an app, and the forms of a developer that came back."""
    sections = {"app-usage": "/usage?last=24h", "app-scopes": "/scopes", "app-redirects": "/redirects", "webhooks": "/webhooks"}
    return [
        Stop("app", "developer", lead=_of_app("")),
        *(Stop(name, "developer", lead=_of_app(section)) for name, section in sections.items()),
        Stop("webhook", "developer", lead=_to_webhook),
        Stop("webhook-told", "developer", lead=_to_mistake_that_is_told),
        Stop("key-new", "developer", lead=_of_app("/keys/new")),
        Stop("app-refused", "developer", lead=refused(at("/dashboard/apps/new"), {"name": "Picker"})),
        Stop("token-refused", "developer", lead=refused(at("/dashboard/tokens/new"), {"name": ""})),
        Stop("developer-refused", "buyer", lead=refused(at("/dashboard/developer"), {"what": "A picker", "website": "not an address"})),
        Stop("spending-token", "buyer", lead=follow("/dashboard/spending", ".table .end a")),
        Stop("consent", "developer", lead=_to_consent),
        Stop("console-answer", "developer", lead=_to_answer),
    ]

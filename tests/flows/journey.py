"""The steps of the journey of the specification: what each person does in the browser, and each program by the API."""

import hashlib
import io
import zipfile
from typing import Any

from ..files import makers
from ..waiting import PATIENCE_SECONDS
from . import materials
from .person import Person
from .server import Site

READ, DOWNLOAD, BUY, MANIFEST = "library:read", "library:download", "wallet:spend", "catalog:read"
ASKED = (MANIFEST, READ, DOWNLOAD, "account:read", BUY)
GRANTED = (MANIFEST, READ, DOWNLOAD, BUY)
README = "Install the fonts you need.\nRoboto is under the Apache licence.\n"


class Caller:
    """A program that calls the API with one credential."""

    def __init__(self, server: Site, **headers: str) -> None:
        self.base = f"{server.base_url}/api/v1/"
        self.session = server.session()
        self.session.headers.update({name.replace("_", "-"): value for name, value in headers.items()})

    def ask(self, method: str, path: str, *, status: int = 200, **parts: Any) -> dict[str, Any]:
        response = self.session.request(method, self.base + path, timeout=PATIENCE_SECONDS, **parts)
        assert response.status_code == status, f"{method} {path}: {response.status_code} {response.text}"
        answer: dict[str, Any] = response.json()
        return answer


def developer_gets_a_key(server: Site, admin: Person) -> Caller:
    developer = Person(server, "dev@example.com", "a developer's phrase")
    developer.sign_up()
    developer.follow("/dashboard/developer")
    developer.submit({"what": "A font browser", "why": "It reads manifests and buys fonts."}, form="main form")
    admin.decide("developers/developerapplication/", "dev@example.com", "approve", {"reason": "A real product."})
    assert "approved" in server.mail_to("dev@example.com", "application").lower()

    developer.open("/dashboard/apps/new")
    wanted = {f"reason_{scope.replace(':', '_')}": f"The browser needs {scope}." for scope in ASKED}
    developer.submit({"name": "Fontster", "purpose": "Browse and buy fonts", "scopes": list(ASKED)} | wanted, form="main form")
    decisions = {f"decision:{scope}": "grant" if scope in GRANTED else "refuse" for scope in ASKED}
    notes = {"note:account:read": "Not needed to buy.", "note": "Granted without the balance."}
    admin.decide("developers/scopereview/", "Fontster", "decide-scopes", decisions | notes)

    developer.open("/dashboard/apps")
    developer.follow(r"/dashboard/apps/[0-9a-f-]{36}$")
    assert "Not needed to buy." in developer.words
    developer.follow("/keys/new")
    developer.submit({"name": "production", "password": developer.password}, form="main form")
    key = developer.secret()
    developer.open("/dashboard/apps")
    developer.follow(r"/dashboard/apps/[0-9a-f-]{36}$")
    assert key not in developer.page.prettify()
    return Caller(server, X_Api_Key=key)


def vendor_gets_a_store(server: Site, admin: Person) -> Caller:
    vendor = Person(server, "foundry@example.com", "a vendor's long phrase")
    vendor.sign_up()
    vendor.open("/dashboard/tokens/new")
    vendor.submit({"name": "studio", "scopes": ["vendor:manage"], "lifetime": "30"}, form="main form")
    caller = Caller(server, Authorization=f"Bearer {vendor.secret()}")
    assert caller.ask("GET", "vendor/application-status", status=404)["code"] == "vendor_profile_missing"
    profile = caller.ask("POST", "vendor/apply", json={"storeName": "Quiet Foundry", "storeSlug": "quiet-foundry", "bio": "Type."})
    assert profile["status"] == "Pending"
    assert caller.ask("GET", "vendor/assets", status=403)["code"] == "vendor_not_approved"
    admin.decide("vendors/vendorprofile/", "Quiet Foundry", "approve", {"reason": "Known foundry."})
    assert caller.ask("GET", "vendor/application-status")["status"] == "Approved"
    return caller


def vendor_lists_the_family(vendor: Caller) -> str:
    asset = vendor.ask(
        "POST",
        "vendor/assets",
        json={
            "title": "Roboto Grotesque Family",
            "slug": "roboto-grotesque",
            "shortDescription": "Twelve styles for screens.",
            "description": "# Roboto\nA grotesque with friendly curves.",
            "categorySlug": "fonts",
            "basePrice": 24,
            "version": "1.0",
            "tags": ["sans", "screen"],
        },
    )
    assert (asset["status"], asset["currency"]) == ("Draft", "USD")
    path = f"vendor/assets/{asset['id']}"
    assert {check["name"]: check["passed"] for check in vendor.ask("POST", f"{path}/preflight")["checks"]}["file_integrity"] is False
    assert vendor.ask("POST", f"{path}/submit", status=422)["code"] == "submit_checks_failed"

    archive = materials.family_archive()
    record = vendor.ask("POST", f"{path}/file", files={"file": ("roboto.zip", archive)})
    assert record["checksum"] == hashlib.sha256(archive).hexdigest()
    assert record["fileSize"] == len(archive)
    specimen = vendor.ask("POST", f"{path}/font-specimen", files={"file": ("roboto.woff2", materials.specimen())})
    assert specimen["kind"] == "FontSpecimen"
    card = vendor.ask("POST", f"{path}/gallery-image?slot=0", files={"file": ("card.jpg", makers.picture("JPEG", (1200, 800)))})
    assert (card["kind"], card["sortOrder"]) == ("Gallery", 0)
    assert vendor.ask("PATCH", f"{path}/regional-prices", json={"priceInr": 1999, "priceEur": 22.5})["priceInr"] == 1999
    vendor.ask("PATCH", f"{path}/licensing", json={"readme": README, "allowedLicenseSlugs": ["personal", "commercial"]})
    manifest = vendor.ask("POST", f"{path}/manifest/generate")
    assert manifest["technical"]["glyphCount"] > 0
    assert vendor.ask("POST", f"{path}/submit")["status"] == "PendingReview"
    assert vendor.ask("PATCH", f"{path}/licensing", json={"readme": "x"}, status=409)["code"] == "listing_locked"
    return str(asset["id"])


def editors_reject_then_approve(server: Site, admin: Person, vendor: Caller, asset_id: str) -> None:
    queue, title, path = "catalog/listingreview/?status__exact=Pending", "Roboto Grotesque Family", f"vendor/assets/{asset_id}"
    finding = {"other_field_0": "description", "other_message_0": "Say which scripts it covers.", "other_hint_0": "Name them."}
    admin.decide(queue, title, "reject", finding)
    assert "scripts" in server.mail_to("foundry@example.com", "Roboto Grotesque Family")
    assert vendor.ask("GET", path)["status"] == "Rejected"
    reviews = vendor.ask("GET", f"{path}/reviews")["items"]
    assert reviews[0]["findings"][0] == {
        "code": "other",
        "field": "description",
        "message": "Say which scripts it covers.",
        "hint": "Name them.",
    }
    fixed = {"title": title, "shortDescription": "Twelve styles.", "description": "Latin, Greek, Cyrillic.", "categorySlug": "fonts"}
    assert vendor.ask("PATCH", path, json=fixed | {"basePrice": 24, "version": "1.1"})["version"] == "1.1"
    assert vendor.ask("POST", f"{path}/submit")["status"] == "PendingReview"
    Caller(server).ask("GET", f"assets/{asset_id}", status=404)
    admin.decide(queue, title, "approve", {"tier_requirement": "free", "note": "Fine."})
    assert vendor.ask("GET", path)["status"] == "Published"


def buyer_finds_buys_and_downloads(server: Site, admin: Person, buyer: Caller, asset_id: str) -> None:
    public = Caller(server)
    found = public.ask("GET", "assets/search?q=robotto grotesk")
    assert found["results"][0]["id"] == asset_id
    [item] = public.ask("GET", "assets?category=fonts&vendor=quiet-foundry")["items"]
    assert {"id": asset_id, "title": "Roboto Grotesque Family", "priceINR": 1999, "tierRequirement": "free"}.items() <= item.items()
    assert public.ask("GET", f"assets/{asset_id}/manifest", status=401)["code"] == "not_authenticated"
    assert buyer.ask("GET", f"assets/{asset_id}/manifest")["assetId"] == asset_id
    assert buyer.ask("GET", "wallet", status=403)["requiredScope"] == "account:read"

    assert buyer.ask("POST", "wallet/spend", json={"assetId": asset_id}, status=402)["code"] == "insufficient_balance"
    admin.decide("wallet/walletowner/", "dev@example.com", "credit", {"amount": "5000", "currency": "INR", "reason": "Bank transfer 17."})
    assert buyer.ask("POST", f"library/download/{asset_id}", status=403)["code"] == "not_owned"
    sale = buyer.ask("POST", "wallet/spend", json={"assetId": asset_id})
    assert (sale["success"], sale["debitedINR"], sale["newBalanceINR"]) == (True, 1999, 3001)
    assert buyer.ask("POST", "wallet/spend", json={"assetId": asset_id}, status=409)["code"] == "already_owned"
    library = buyer.ask("GET", "library")
    assert (library["ownedCount"], library["items"][0]["assetId"], library["items"][0]["orderId"]) == (1, asset_id, sale["orderId"])


def link_works_without_a_credential(server: Site, buyer: Caller, asset_id: str) -> None:
    link = buyer.ask("POST", f"library/download/{asset_id}")
    package = server.session().get(link["downloadUrl"], timeout=PATIENCE_SECONDS)
    assert package.status_code == 200
    assert hashlib.sha256(package.content).hexdigest() == link["checksum"]
    with zipfile.ZipFile(io.BytesIO(package.content)) as archive:
        assert archive.testzip() is None
        deliverable = archive.read("roboto.zip")
        assert hashlib.sha256(deliverable).hexdigest() == hashlib.sha256(materials.family_archive()).hexdigest()
        assert archive.read("README.txt").decode() == README
        assert "LICENSE.txt" in archive.namelist()
    assert server.session().get(link["downloadUrl"][:-3] + "abc", timeout=PATIENCE_SECONDS).status_code == 404

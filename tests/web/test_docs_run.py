"""What the documentation shows is run as it stands, against a server with something for sale."""

import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.utils import timezone

from catalog.models import Listing
from catalog.services.submission import withdraw_listing
from developers.services.credentials import issue_api_key, issue_token_without_app
from developers.services.spending import LimitValues
from marketplace.core.money import Currency
from marketplace.core.scopes import Scope
from marketplace.mcp.revisions import SUPPORTED
from marketplace.web import docs
from marketplace.web.docs.reading import Document
from marketplace.web.docs.values import filled_in
from tests.developers.cases import token_of
from tests.factories import AppFactory
from tests.files import makers
from tests.servers import uv
from tests.shop import archive, bought, funded, on_sale
from tests.vendors.cases import make_vendor
from tests.waiting import PATIENCE_SECONDS, until
from wallet.models import Approval, Order
from wallet.services.approvals import approve_purchase

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
PROGRAMS = {"bash": ["sh", "-eu"], "python": [sys.executable], "javascript": ["node"]}
SUFFIXES = {"bash": "sh", "python": "py", "javascript": "mjs"}
SCOPES_OF_THE_QUICK_START = frozenset({Scope.ACCOUNT_READ, Scope.WALLET_SPEND, Scope.LIBRARY_DOWNLOAD})


def text_of(slug: str) -> str:
    """Return a page with the address that the service has now."""
    page = docs.documents()[slug]
    return filled_in(page.source)


def blocks(slug: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\b[^\n]*\n(.*?)^```", text_of(slug), re.DOTALL | re.MULTILINE)


def printed(code: str, language: str, folder: Path, **variables: str) -> str:
    program = PROGRAMS[language]
    if shutil.which(program[0]) is None:
        pytest.skip(f"{program[0]} is not here")
    file = folder / f"snippet.{SUFFIXES[language]}"
    file.write_text(code, encoding="utf-8")
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONUTF8": "1", **variables}
    done = subprocess.run(
        [*program, file], cwd=folder, env=env, capture_output=True, encoding="utf-8", timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == 0, f"{code}\n{done.stderr}"
    return done.stdout


def run(code: str, language: str, folder: Path, **variables: str) -> str:
    """Run code of a page, which nothing may refuse, and return what it prints."""
    said = printed(code, language, folder, **variables)
    assert "/problems/" not in said, f"{code}\n{said}"
    return said


@pytest.mark.parametrize("language", PROGRAMS)
def test_code_of_the_guides_for_buyers_runs(site: str, tmp_path: Path, language: str) -> None:
    on_sale(archive(), slug="hanken-grotesk", title="Hanken Grotesk", ai_training="allowed", ai_origin="none")
    on_sale(title="Unstated Serif")
    call_command("rebuild_search", verbosity=0)
    token = token_of("personal", funded(inr=1_000_000), SCOPES_OF_THE_QUICK_START | {Scope.WALLET_FUND})[1]
    said = [run(block, language, tmp_path, TOKEN=token) for block in blocks("quick-start", language)]
    if language == "bash":
        # The last one filters.
        assert [item["title"] for item in json.loads(said[-1])["items"]] == ["Hanken Grotesk"]
    packages = list(tmp_path.glob("*.zip"))
    assert [package.read_bytes()[:2] for package in packages] == [b"PK"]

    app = AppFactory()
    key = issue_api_key(app=app, name="laptop", actor=app.developer)[1]
    assert "ownedCount" in run(blocks("authentication", language)[0], language, tmp_path, KEY=key)

    for code in blocks("wallet-and-licences", language):
        run(code, language, tmp_path, TOKEN=token)
    run("\n".join(blocks("rate-limits", language)), language, tmp_path)


def test_commands_of_the_guide_for_vendors_lead_to_a_review_and_to_a_conditional_change(site: str, tmp_path: Path, settings: Any) -> None:
    on_sale()
    (tmp_path / "paper-grain.zip").write_bytes(archive())
    (tmp_path / "thumbnail.png").write_bytes(makers.picture())
    token = token_of("personal", make_vendor().user, frozenset({Scope.VENDOR_MANAGE}))[1]
    selling = blocks("selling", "bash")

    def said(words: str) -> str:
        code = next(block for block in selling if words in block)
        return run(code, "bash", tmp_path, TOKEN=token, V=f"{settings.BASE_URL}/api/v1/vendor")

    assert '"PendingReview"' in run(selling[0], "bash", tmp_path, TOKEN=token)
    listing = Listing.objects.get(slug="paper-grain")
    withdraw_listing(listing=listing, actor=listing.store.owner)
    assert json.loads(said("Tus-Resumable"))["checksum"] == hashlib.sha256(archive()).hexdigest()
    assert json.loads(said("If-Match"))["priceEur"] == 17
    assert '"aiTraining":"by_licence"' in said("aiTraining").splitlines()[-1]
    discount = json.loads(said("/discounts"))
    assert (discount["percent"], discount["status"]) == (25, "Ended")


def test_documented_call_of_a_tool_with_curl_works(site: str, tmp_path: Path) -> None:
    code = next(block for block in blocks("agents", "bash") if "tools/call" in block)
    assert '"structuredContent"' in run(code, "bash", tmp_path, MARKETPLACE_TOKEN=token_of("mcp")[1])
    assert set(re.findall(r"MCP-Protocol-Version: ([\d-]+)", code)) <= set(SUPPORTED)


def test_purchase_of_the_guide_for_agents_waits_for_the_owner(site: str, tmp_path: Path) -> None:
    listing = on_sale(archive(), slug="hanken-grotesk")
    user = funded(inr=1_000_000)
    _, secret = issue_token_without_app(
        user=user,
        name="Shopping agent",
        scopes=frozenset({Scope.WALLET_SPEND}),
        expires_at=timezone.now() + timedelta(days=1),
        actor=user,
        password_confirmed=True,
        limits=[LimitValues(Currency.INR, per_purchase_minor=100)],
    )
    code = next(block for block in blocks("agents", "python") if "onLimit" in block)
    with ThreadPoolExecutor(1) as pool:
        program = pool.submit(run, code, "python", tmp_path, TOKEN=secret)
        until(lambda: program.done() or Approval.objects.exists(), "an approval")
        approval = approve_purchase(approval=Approval.objects.get(), actor=user)
        said = program.result(PATIENCE_SECONDS)
    assert f"/dashboard/approvals/{approval.pk}" in said
    assert f"'orderId': '{Order.objects.get(listing=listing).pk}'" in said


def test_documented_report_of_a_leaked_key_is_accepted(site: str, tmp_path: Path) -> None:
    assert json.loads(run(blocks("authentication", "sh")[0], "bash", tmp_path)) == {"received": 1}


def test_commands_of_the_guide_for_webhooks_create_one_and_list_events(site: str, tmp_path: Path) -> None:
    app = AppFactory()
    key = issue_api_key(app=app, name="docs", actor=app.developer)[1]
    said = [run(code, "bash", tmp_path, KEY=key) for code in blocks("webhooks", "bash")]
    assert [name in each for name, each in zip(("whsec_", "nextCursor"), said, strict=True)] == [True, True]


def test_commands_of_the_guide_for_certificates_verify_a_credential(site: str, tmp_path: Path) -> None:
    order = bought(on_sale(slug="hanken-grotesk", title="Hanken Grotesk"))
    token = token_of("personal", order.buyer, frozenset({Scope.LIBRARY_READ}))[1]
    (tmp_path / "check_credential.py").write_text(blocks("certificates", "python")[0])
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    said = run(blocks("certificates", "bash")[0], "bash", tmp_path, TOKEN=token, ASSET="hanken-grotesk", PATH=path)
    assert said == "Valid: Personal licence for Hanken Grotesk.\n"


def test_commands_of_the_guide_for_projects_add_and_sync_an_asset(site: str, tmp_path: Path) -> None:
    buyer = funded(inr=1_000_000)
    bought(on_sale(archive(), slug="hanken-grotesk"), buyer)
    key = issue_api_key(app=AppFactory(user=buyer), name="ci", actor=buyer)[1]
    said = [run(code, "bash", tmp_path, **uv.variables() | {"CAM_TOKEN": key}) for code in blocks("assets-in-a-project", "bash")]
    assert [each.splitlines()[-1] for each in said[1:]] == ["Assets in assets: 1, of which 1 unchanged.", "Nothing found. Assets: 1."]


def test_signature_of_the_webhook_that_is_shown_is_right() -> None:
    shown = blocks("webhooks", "http")[0]
    head, body = shown.strip().split("\n\n")
    headers = dict(line.split(": ", 1) for line in head.splitlines()[1:])
    key = base64.b64decode(re.findall(r"`whsec_(\S+)`", text_of("webhooks"))[-1])
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
    assert headers["webhook-signature"] == "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


@pytest.mark.parametrize("page", docs.documents().values(), ids=lambda page: page.slug)
def test_code_blocks_of_the_documentation_parse(page: Document) -> None:
    for language, code in re.findall(r"^```(\w+)[^\n]*\n(.*?)^```", page.text, re.DOTALL | re.MULTILINE):
        match language:
            case "python":
                compile(code, page.slug, "exec")
            case "json":
                json.loads(code)
            case "yaml":
                yaml.safe_load(code)

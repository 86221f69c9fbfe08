"""`cam.py`, as others run it: in an empty home, against a service that sends real files."""

import json
import os
import random
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests
import tomlkit
from django.core.signals import request_started
from django.test import Client
from django.utils import timezone
from standardwebhooks import Webhook

from catalog.models import Deliverable, Listing
from catalog.services.review import takedown_listing
from developers.services.credentials import issue_api_key
from library.models import Download
from library.services.licences import suspend_licences
from marketplace.accounts.models import User
from tests.developers.webhooks.conftest import tell
from tests.factories import AppFactory, DeliverableFactory, UserFactory
from tests.servers.http import Handler, serving
from tests.shop import archive, bought, funded, on_sale, store_file
from tests.waiting import PATIENCE_SECONDS, until, wait_for_end
from wallet.models import Order
from wallet.services.refunds import refund_order

ADDRESS = "/cli/cam.py"


@dataclass
class Machine:
    """A computer with an empty home and a project.

    Args:
        home: Its folder.
        service: The address of the service.
        env: Further variables.
    """

    home: Path
    service: str
    env: dict[str, str] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        path = self.home / "project"
        path.mkdir(parents=True, exist_ok=True)
        return path

    @property
    def files(self) -> dict[str, bytes]:
        paths = (path for path in (self.project / "assets").rglob("*") if path.is_file())
        return {str(path.relative_to(self.project / "assets")): path.read_bytes() for path in paths}

    @property
    def locked(self) -> dict[str, Any]:
        return {entry["asset"]: entry for entry in tomlkit.parse((self.project / "cam.lock").read_text()).unwrap()["assets"]}

    @property
    def variables(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONUTF8": "1", **self.env}

    def start(self, *words: str, **options: Any) -> "subprocess.Popen[str]":
        project = self.project
        program = self.home / "cam.py"
        program.write_bytes(Client().get(ADDRESS).content)
        return subprocess.Popen([sys.executable, program, *words], cwd=project, env=self.variables, text=True, **options)

    def cam(self, *words: str, typed: str = "", code: int = 0) -> str:
        """Run a command, which must end with this code, and return what it says."""
        process = self.start(*words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said, _ = process.communicate(typed, timeout=PATIENCE_SECONDS)
        assert (process.returncode, "Traceback" in said) == (code, False), said
        return said

    def edit_lock(self, **values: Any) -> None:
        path = self.project / "cam.lock"
        lock = tomlkit.parse(path.read_text())
        lock["assets"][0].update(values)
        path.write_text(tomlkit.dumps(lock))


@pytest.fixture
def buyer(site: str, unlimited: None, media: Path) -> User:
    return funded(inr=1_000_000_000)


@pytest.fixture
def key(buyer: User) -> str:
    return issue_api_key(app=AppFactory(user=buyer), name="ci", actor=buyer)[1]


@pytest.fixture
def machine(site: str, key: str, tmp_path: Path) -> Machine:
    return Machine(tmp_path / "machine", site, {"CAM_TOKEN": key})


@pytest.fixture
def requests_made() -> Iterator[list[str]]:
    """The paths that the service was asked for."""
    paths: list[str] = []

    def note(environ: dict[str, Any] | None = None, **_: Any) -> None:
        if environ is not None:
            paths.append(environ["PATH_INFO"])

    request_started.connect(note)
    yield paths
    request_started.disconnect(note)


def sold(buyer: User, slug: str = "grotesk", **fields: Any) -> tuple[Listing, Order]:
    listing = on_sale(archive(slug), slug=slug, version="1.0", **fields)
    return listing, bought(listing, buyer)


def updated(listing: Listing) -> None:
    listing.approved_deliverable = DeliverableFactory(listing=listing, version="2.0", approved_at=timezone.now())
    listing.save()
    store_file(listing, archive("second"))


def pass_on(request: Handler, site: str) -> None:
    headers = {name: request.headers[name] for name in ("X-Api-Key", "Idempotency-Key", "Content-Type") if request.headers[name]}
    found = requests.request(request.command, f"{site}{request.path}", data=request.body, headers=headers, timeout=PATIENCE_SECONDS)
    request.answer(found.status_code, found.content, Content_Type=found.headers["Content-Type"])


@pytest.mark.django_db
def test_program_is_text_with_the_address_of_the_service_and_a_strong_etag(client: Client, settings: Any) -> None:
    settings.BASE_URL = "https://shop.example"
    response = client.get(ADDRESS)
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert b'SERVICE = "https://shop.example"' in response.content
    assert b"{{" not in response.content
    assert response["ETag"].startswith('"')
    assert client.get(ADDRESS, headers={"If-None-Match": response["ETag"]}).status_code == 304


@pytest.mark.full
def test_second_sync_sends_no_request(machine: Machine, buyer: User, requests_made: list[str]) -> None:
    slugs = [f"asset-{number}" for number in range(3)]
    for slug in slugs:
        sold(buyer, slug)
    lines = "".join(f'{slug} = "personal"\n' for slug in reversed(slugs))
    (machine.project / "cam.toml").write_text(f'service = "{machine.service}"\n[assets]\n{lines}')
    machine.cam("sync")
    assert Download.objects.count() == len(slugs)
    assert sorted(machine.files.values()) == sorted(map(archive, slugs))
    assert list(machine.locked) == slugs
    lock = (machine.project / "cam.lock").read_bytes()
    program = machine.start("sync", "--frozen")
    requests_made.clear()
    assert program.wait(PATIENCE_SECONDS) == 0
    assert requests_made == []
    assert (machine.project / "cam.lock").read_bytes() == lock


@pytest.mark.full
@pytest.mark.parametrize(("takes_ranges", "cuts"), [(True, 2), (False, 1)])
def test_cut_download_is_continued(machine: Machine, buyer: User, site: str, settings: Any, *, takes_ranges: bool, cuts: int) -> None:
    content = random.Random(1).randbytes(300_000)
    bought(on_sale(content, slug="grotesk", version="1.0"), buyer)
    asked: list[str | None] = []

    class Cutting(Handler):
        """Ends the first answers after 100,000 bytes; passes on what is not a package."""

        def respond(self) -> None:
            wanted = self.headers["Range"]
            if "/downloads/" not in self.path:
                pass_on(self, site)
                return
            asked.append(wanted)
            ranged = {"Range": wanted} if wanted and takes_ranges else {}
            found = requests.get(f"{site}{self.path}", headers=ranged, timeout=PATIENCE_SECONDS)
            cut = len(found.content) if len(asked) > cuts else 100_000
            self.send_response(found.status_code)
            self.send_header("Content-Length", str(len(found.content)))
            self.end_headers()
            self.wfile.write(found.content[:cut])

    with serving(Cutting) as port:
        settings.BASE_URL = machine.service = f"http://127.0.0.1:{port}"
        machine.cam("add", "grotesk")
    assert list(machine.files.values()) == [content]
    # What came since the last whole block is lost.
    assert asked == [None, *(f"bytes={65_536 * number}-" for number in range(1, cuts + 1))]


@pytest.mark.full
def test_changed_local_file_is_replaced_and_one_with_another_digest_is_not_written(machine: Machine, buyer: User) -> None:
    listing, _ = sold(buyer)
    machine.cam("add", "grotesk")
    (name,) = machine.files
    (machine.project / "assets" / name).write_bytes(b"something else")
    machine.cam("sync", "--frozen")
    assert machine.files == {name: archive("grotesk")}
    shutil.rmtree(machine.project / "assets")
    store_file(listing, archive("Grotesk"))
    assert "different file" in machine.cam("sync", "--frozen", code=1)
    assert machine.files == {}


@pytest.mark.full
def test_audit_reports_each_asset_that_should_not_be_used(machine: Machine, buyer: User) -> None:
    slugs = ("fine", "refunded", "frozen", "malicious", "withdrawn", "taken-down")
    shop = {slug: sold(buyer, slug) for slug in slugs}
    machine.cam("add", *slugs)
    assert list(tomlkit.parse((machine.project / "cam.toml").read_text()).unwrap()["assets"]) == sorted(slugs)
    assert "Nothing found" in machine.cam("audit")
    refund_order(order=shop["refunded"][1], reason="test", actor=None)
    suspend_licences(order_ids=[shop["frozen"][1].pk], reason="dispute")
    updated(shop["fine"][0])
    updated(shop["withdrawn"][0])
    for slug in ("malicious", "withdrawn"):
        file = Deliverable.objects.get(pk=machine.locked[slug]["file"])
        file.blocked_at = timezone.now()
        file.save()
    takedown_listing(listing=shop["taken-down"][0], reason="test", actor=UserFactory())
    said = machine.cam("audit", code=1)
    assert [line.split(":")[0] for line in said.splitlines()] == sorted(set(slugs) - {"fine"})
    ignored = [word for slug in slugs for word in ("--ignore", slug)]
    machine.cam("audit", *ignored)


@pytest.mark.full
def test_newer_version_is_reported_and_taken_only_by_adding_again(machine: Machine, buyer: User, tmp_path: Path) -> None:
    listing, _ = sold(buyer)
    machine.cam("add", "grotesk")
    assert machine.cam("outdated") == ""
    updated(listing)
    assert machine.cam("outdated").startswith("grotesk: 1.0 to 2.0")
    machine.cam("sync")
    assert machine.locked["grotesk"]["version"] == "1.0"
    elsewhere = Machine(tmp_path / "elsewhere", machine.service, machine.env)
    for name in ("cam.toml", "cam.lock"):
        shutil.copy(machine.project / name, elsewhere.project / name)
    elsewhere.cam("sync", "--frozen")
    assert list(elsewhere.files.values()) == [archive("grotesk")]
    machine.cam("add", "grotesk")
    assert machine.locked["grotesk"]["version"] == "2.0"
    assert archive("second") in machine.files.values()


@pytest.mark.full
def test_lock_file_with_a_path_outside_of_the_project_is_refused(machine: Machine, buyer: User, subtests: pytest.Subtests) -> None:
    sold(buyer)
    machine.cam("add", "grotesk")
    names = ("../../evil", "/evil", "..", "", "a\\evil", "C:evil", "NUL.zip", "evil\n", "evil.")
    cases = [*((name, "grotesk") for name in names), *(("grotesk.zip", slug) for slug in ("../evil", "..", "nul", "a/b", ""))]
    before = sorted(machine.home.rglob("*"))
    for name, slug in cases:
        with subtests.test(name=name, slug=slug):
            machine.edit_lock(name=name, asset=slug)
            (machine.project / "cam.toml").write_text(f'service = "{machine.service}"\n[assets]\n{json.dumps(slug)} = "personal"\n')
            machine.cam("sync", "--frozen", code=1)
            assert sorted(machine.home.rglob("*")) == before


@pytest.mark.full
def test_folder_that_is_a_link_to_elsewhere_is_refused(machine: Machine, buyer: User, tmp_path: Path) -> None:
    sold(buyer)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (machine.project / "assets").symlink_to(elsewhere)
    assert "by a link" in machine.cam("add", "grotesk", code=1)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.full
def test_two_concurrent_syncs_leave_complete_files(machine: Machine, buyer: User) -> None:
    slugs = [f"asset-{number}" for number in range(5)]
    for slug in slugs:
        sold(buyer, slug)
    machine.cam("add", *slugs)
    whole = machine.files
    shutil.rmtree(machine.project / "assets")
    racing = [machine.start("sync") for _ in range(2)]
    assert [process.wait(PATIENCE_SECONDS) for process in racing] == [0, 0]
    assert machine.files == whole


@pytest.mark.full
def test_frozen_sync_fails_where_lock_and_manifest_differ(machine: Machine, buyer: User) -> None:
    sold(buyer)
    sold(buyer, "serif")
    machine.cam("add", "grotesk")
    manifest = machine.project / "cam.toml"
    manifest.write_text(manifest.read_text() + 'serif = "personal"\n')
    assert "serif" in machine.cam("sync", "--frozen", code=1)
    machine.cam("sync")
    assert set(machine.locked) == {"grotesk", "serif"}
    manifest.write_text(manifest.read_text().replace('grotesk = "personal"\n', ""))
    assert "grotesk" in machine.cam("sync", "--frozen", code=1)


@pytest.mark.full
def test_frozen_sync_leaves_a_lock_file_with_the_line_ends_of_windows_as_it_is(machine: Machine, buyer: User) -> None:
    sold(buyer)
    machine.cam("add", "grotesk")
    lock = machine.project / "cam.lock"
    windows = lock.read_bytes().replace(b"\n", b"\r\n")
    lock.write_bytes(windows)
    machine.cam("sync", "--frozen")
    assert lock.read_bytes() == windows


@pytest.mark.full
def test_what_is_added_while_another_command_downloads_is_kept(
    machine: Machine, buyer: User, site: str, settings: Any, subtests: pytest.Subtests
) -> None:
    for slug in ("grotesk", "serif"):
        sold(buyer, slug)
    adding = [True]

    class Adding(Handler):
        """Adds another asset to the project during the first download."""

        def respond(self) -> None:
            if "/downloads/" in self.path and adding:
                adding.clear()
                machine.cam("add", "serif")
            pass_on(self, site)

    with serving(Adding) as port:
        settings.BASE_URL = machine.service = f"http://127.0.0.1:{port}"
        machine.cam("add", "grotesk")
        assert set(machine.locked) == {"grotesk", "serif"}
        with subtests.test("sync"):
            shutil.rmtree(machine.project)
            (machine.project / "cam.toml").write_text(f'service = "{machine.service}"\n[assets]\ngrotesk = "personal"\n')
            adding.append(True)
            machine.cam("sync")
            assert set(machine.locked) == {"grotesk", "serif"}


@pytest.mark.full
def test_manifest_with_an_id_is_told_the_slug(machine: Machine, buyer: User) -> None:
    listing, _ = sold(buyer)
    (machine.project / "cam.toml").write_text(f'service = "{machine.service}"\n[assets]\n"{listing.pk}" = "personal"\n')
    assert f"Write grotesk instead of {listing.pk}" in machine.cam("sync", code=1)


@pytest.mark.full
def test_folder_without_a_project_is_no_project_without_findings(machine: Machine) -> None:
    for command in ("sync", "outdated", "audit"):
        assert "no cam.toml" in machine.cam(command, code=1)


@pytest.mark.full
def test_add_buys_only_with_the_buy_option_and_within_the_maximum_price(machine: Machine, buyer: User) -> None:
    on_sale(archive(), slug="grotesk")
    assert "499.0 INR" in machine.cam("add", "grotesk", code=1)
    machine.cam("add", "grotesk", "--buy", code=1)
    for maximum in ("498.99", "nan"):
        machine.cam("add", "grotesk", "--buy", "--max-price", maximum, "--currency", "INR", code=1)
    assert not Order.objects.filter(buyer=buyer).exists()
    machine.cam("add", "grotesk", "--buy", "--max-price", "998", "--currency", "INR", "--license", "commercial")
    assert Order.objects.get(buyer=buyer).license_slug == machine.locked["grotesk"]["license"] == "commercial"


@pytest.mark.full
def test_login_stores_a_checked_credential_for_its_owner_only(machine: Machine, key: str, buyer: User) -> None:
    sold(buyer)
    del machine.env["CAM_TOKEN"]
    assert "login" in machine.cam("add", "grotesk", code=1)
    machine.cam("login", typed="cam_sk_wrong\n", code=1)
    # As the documentation abbreviates it.
    machine.env["CAM_TOKEN"] = "cam_sk_…"
    assert "neither a personal token nor an API key" in machine.cam("add", "grotesk", code=1)
    del machine.env["CAM_TOKEN"]
    assert key not in machine.cam("login", typed=f"{key}\n")
    file = machine.home / ".config" / "cam" / "credentials.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    machine.cam("add", "grotesk")


@pytest.mark.full
def test_cam_sends_no_credential_to_another_service(machine: Machine) -> None:
    (machine.project / "cam.toml").write_text('service = "https://other.example"\n[assets]\ngrotesk = "personal"\n')
    assert "https://other.example" in machine.cam("sync", code=1)


@pytest.mark.full
def test_events_are_forwarded_with_a_signature_that_the_reference_library_verifies(machine: Machine, tmp_path: Path) -> None:
    received: list[Any] = []
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    machine.env["CAM_WEBHOOK_SECRET"] = secret

    class Receiver(Handler):
        def respond(self) -> None:
            received.append(Webhook(secret).verify(self.body, dict(self.headers)))
            self.answer(204)

    log = tmp_path / "log"
    with serving(Receiver) as port, log.open("w") as output:
        process = machine.start("listen", "--to", f"http://127.0.0.1:{port}/hooks", stdout=output, stderr=output)
        try:
            until(lambda: secret in log.read_text() or process.poll() is not None, "the start of listening", log=log)
            message = tell()
            assert message is not None
            until(lambda: received or process.poll() is not None, "an event", log=log)
        finally:
            process.terminate()
            wait_for_end(process)
    assert received, log.read_text()
    assert (received[0]["type"], received[0]["data"]) == (message.type, message.data)


@pytest.mark.full
def test_search_refused_for_its_rate_is_repeated_and_lists_what_it_finds_as_a_terminal_can_show_it(machine: Machine, settings: Any) -> None:
    statuses = [200, 429]
    on_sale(slug="grotesk", title="Grotesk ゴシック")
    machine.env |= {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
    found = Client().get("/api/v1/assets/search?q=grotesk").content

    class Busy(Handler):
        def respond(self) -> None:
            status = statuses.pop()
            self.answer(status, found, Retry_After="0")

    with serving(Busy) as port:
        settings.BASE_URL = f"http://127.0.0.1:{port}"
        assert "grotesk: Grotesk ????" in machine.cam("search", "grotesk")
    assert statuses == []

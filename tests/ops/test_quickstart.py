"""The quickstart as a person runs it: in a process of its own, in an empty folder."""

import http.client
import json
import re
import shutil
import socket
import sqlite3
import stat
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import requests
from django.core.management import CommandError, call_command
from requests.adapters import HTTPAdapter
from urllib3 import Retry

from marketplace.core import bounds
from marketplace.demo.management.commands import quickstart
from marketplace.http.request_body import BLOCK_BYTES
from tests import ROOT

from ..flows.server import manage
from ..servers.ports import free_port
from ..servers.process import Process, bare_environment, run
from ..waiting import PATIENCE_SECONDS

PARTS = {"admin", "developer", "vendor", "otherVendor", "buyer"}


@dataclass(frozen=True)
class Shop:
    """A folder that `--reset` made anew."""

    data: Path
    port: int
    output: str

    @property
    def facts(self) -> dict[str, Any]:
        """What `demo.json` says now."""
        facts: dict[str, Any] = json.loads((self.data / "demo.json").read_text(encoding="utf-8"))
        return facts


def environment(data: Path) -> dict[str, str]:
    return bare_environment() | {"DATA_DIR": str(data)}


STALE = {
    "marketplace.sqlite3": "no database at all",
    "media/deliverables/old": "a file of before",
    "demo.json": json.dumps({"buyer": {"email": "old@demo.example", "password": "old", "bearerToken": "old"}}),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """Start over where an earlier shop was: making the content takes a while, so that one run shows both."""
    data, port = tmp_path_factory.mktemp("quickstart"), free_port()
    for name, content in (STALE | {"notes.txt": "not the quickstart's"}).items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(content, encoding="utf-8")
    return Shop(data, port, manage(environment(data), "quickstart", "--port", str(port), "--no-serve", "--reset", "--yes"))


@pytest.fixture(scope="module")
def facts(shop: Shop) -> dict[str, Any]:
    return shop.facts


SLOW_CONNECTIONS = 100
RECEIVED_BYTES = 2048
# Sooner than such a connection is given up.
SLOW_SECONDS = 10
SLOW_SHAPES = {
    "headers": b"GET / HTTP/1.1\r\nHost: %s\r\n",
    "form with a file": b"POST /certificates/verify HTTP/1.1\r\nHost: %s\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 9999\r\n\r\n--x",
}
# Far more than the system keeps for a client that does not read.
UNREAD = b"GET /static/admin/js/vendor/xregexp/xregexp.js HTTP/1.1\r\nHost: %s\r\nAccept-Encoding: identity\r\n\r\n" * 120
UNREAD_SECONDS = 5
SPEND = b"POST /api/v1/wallet/spend HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n"


@contextmanager
def slow_connections(port: int, head: bytes) -> Iterator[list[socket.socket]]:
    """Open connections that send the beginning of a request, or whole ones, and read nothing."""
    with ExitStack() as stack:
        opened = [stack.enter_context(socket.socket()) for _ in range(SLOW_CONNECTIONS)]
        for connection in opened:
            connection.settimeout(PATIENCE_SECONDS)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_BYTES)
            connection.connect(("127.0.0.1", port))
            connection.sendall(head.replace(b"%s", f"127.0.0.1:{port}".encode()))
        yield opened


def in_jobs(shop: Shop, statement: str) -> Any:
    """Return the first value that a statement about the table of jobs returns."""
    with closing(sqlite3.connect(shop.data / "marketplace.sqlite3")) as database, database:
        return next(database.execute(statement.replace("JOBS", "django_tasks_database_dbtaskresult")), [None])[0]


@pytest.fixture(scope="module")
def base_url(shop: Shop, facts: dict[str, Any]) -> Iterator[str]:
    """Where the shop is served by a second run, which finds a part of what `demo.json` said lost, and a job done."""
    lost = {part: known for part, known in facts.items() if part not in {"buyer", "baseUrl"}}
    (shop.data / "demo.json").write_text(json.dumps(lost), encoding="utf-8")
    in_jobs(shop, "UPDATE JOBS SET status = 'SUCCESSFUL', finished_at = enqueued_at WHERE id = (SELECT min(id) FROM JOBS)")
    url, log = f"http://127.0.0.1:{shop.port}", shop.data / "server.log"
    # The command becomes the server, so that ending it ends all.
    server = Process([sys.executable, "manage.py", "quickstart", "--port", str(shop.port)], environment(shop.data), log)
    with server.serving(f"{url}/api/v1/assets"):
        yield url


def get(url: str, token: str = "", status: int = 200) -> Any:
    answer = requests.get(url, headers={"Authorization": f"Bearer {token}"} if token else {}, timeout=PATIENCE_SECONDS)
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--host", "0.0.0.0"), "not a loopback address"),  # noqa: S104 - what must be refused
        (("--host", "shop.example"), "not a loopback address"),
        (("--port", "0"), "is not a valid port"),
        (("--port", "70000"), "is not a valid port"),
        (("--port", "{taken}"), "Choose another with --port"),
    ],
)
def test_address_that_cannot_be_served_stops_with_a_sentence(words: tuple[str, ...], sentence: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(CommandError, match=sentence):
        call_command("quickstart", *(word.format(taken=other.getsockname()[1]) for word in words))


@pytest.mark.django_db
def test_demo_content_is_not_made_in_a_marketplace_with_real_money(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Mock()
    monkeypatch.setattr(quickstart, "make_content", made)
    settings.TEST_PAYMENTS_ALLOWED = False
    with pytest.raises(CommandError, match="no demo content"):
        call_command("quickstart", "--no-serve")
    assert not made.called


@pytest.mark.django_db
def test_reset_without_an_answer_deletes_nothing(media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    media.mkdir()
    made = Mock()
    monkeypatch.setattr(quickstart, "make_content", made)
    monkeypatch.setattr("builtins.input", Mock(side_effect=EOFError))
    with pytest.raises(CommandError, match="Nothing was deleted"):
        call_command("quickstart", "--no-serve", "--reset")
    assert (media.exists(), made.called) == (True, False)


@pytest.mark.full
def test_first_run_writes_facts_and_files_for_the_owner_only_and_deletes_only_what_was_its_own(shop: Shop) -> None:
    facts = shop.facts
    assert facts["baseUrl"] == f"http://127.0.0.1:{shop.port}"
    assert facts.keys() == PARTS | {"baseUrl"}
    assert all({"email", "password"} <= facts[part].keys() for part in PARTS)
    assert facts["developer"]["apiKey"].startswith("cam_sk_")
    assert all(facts[part]["bearerToken"].startswith("cam_pat_") for part in ("vendor", "otherVendor", "buyer"))
    assert {stat.S_IMODE((shop.data / name).stat().st_mode) for name in ("demo.json", "marketplace.sqlite3")} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in (shop.data / "media").rglob("*")} == {0}
    assert not (shop.data / "media/deliverables/old").exists()
    assert (shop.data / "notes.txt").read_text(encoding="utf-8") == "not the quickstart's"


@pytest.mark.full
def test_no_job_of_the_demo_has_waited_since_a_time_before_the_demo_was_made(shop: Shop) -> None:
    told = run(sys.executable, ROOT / "manage.py", "doctor", env=environment(shop.data)).stdout
    assert "migrations" in told
    assert "has been waiting" not in told


@pytest.mark.full
def test_events_of_the_demo_name_the_address_at_which_it_is_served(facts: dict[str, Any], base_url: str) -> None:
    found = requests.get(
        f"{base_url}/api/v1/events", headers={"X-Api-Key": facts["developer"]["apiKey"]}, params={"limit": 100}, timeout=PATIENCE_SECONDS
    ).json()["items"]
    assert {event["data"]["url"].split("/api/")[0] for event in found if "url" in event["data"]} == {base_url}


@pytest.mark.full
def test_second_run_keeps_existing_data_restores_lost_parts_and_prints_commands_that_work(
    shop: Shop, facts: dict[str, Any], base_url: str, tmp_path: Path
) -> None:
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    after, output = shop.facts, (shop.data / "server.log").read_text(encoding="utf-8")
    assert {name for name in after if after[name] != facts[name]} == {"buyer"}
    assert in_jobs(shop, "SELECT count(*) FROM JOBS WHERE finished_at < enqueued_at") == 0
    assert stat.S_IMODE((shop.data / "demo.json").stat().st_mode) == 0o600
    assert "doesn't ask for an authenticator app" in output
    assert_content(base_url, after)
    assert_admin_opens(base_url, after["admin"])
    answers = [run_line(line.strip(), tmp_path) for line in output.splitlines() if line.startswith("  curl ")]
    assert len(answers) == 8
    browse, search, manifest, wallet, spend, library, link = (json.loads(answer) for answer in answers[:7])
    assert browse["total"] == 16
    assert search["results"][0]["title"] == "Hanken Grotesk"
    assert manifest["schemaVersion"] == "1.0"
    # What the README shows is what a reader sees.
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert answers[3].strip() in readme
    assert wallet["balanceINR"] > spend["newBalanceINR"] > 0
    assert f'"debitedINR":{spend["debitedINR"]},"newBalanceINR":{spend["newBalanceINR"]}' in readme
    assert spend["success"] is True
    assert library["items"][0]["assetId"] == manifest["assetId"]
    assert link["size"] == (tmp_path / "package.zip").stat().st_size


def run_line(line: str, folder: Path) -> str:
    """Paste a line into a shell, without the proxies of this machine."""
    result = run("/bin/sh", "-c", line, env=bare_environment(), cwd=folder)
    assert result.returncode == 0, f"{line}\n{result.stderr}"
    return result.stdout


def assert_content(base_url: str, facts: dict[str, Any]) -> None:
    """The shelves are full, the funds are there, one listing waits, and the credentials carry what they should."""
    api = f"{base_url}/api/v1"
    assert all(category["assetCount"] for category in get(f"{api}/categories")["items"])
    buyer, vendor, other = (facts[part]["bearerToken"] for part in ("buyer", "vendor", "otherVendor"))
    assert get(f"{api}/wallet", buyer)["balanceINR"] > 0
    assert get(f"{api}/vendor/application-status", vendor)["status"] == "Approved"
    states = [item["status"] for item in get(f"{api}/vendor/assets?limit=100", other)["items"]]
    assert states.count("PendingReview") == 1
    get(f"{api}/vendor/assets", buyer, status=403)
    font = get(f"{api}/assets/fraunces")
    assert {preview["kind"] for preview in font["previews"]} == {"Gallery", "FontSpecimen"}
    assert {preview["kind"] for preview in get(f"{api}/assets/dusty-swing-loops")["previews"]} == {"Gallery", "AudioPreview"}
    assert all(preview["altText"] for preview in font["previews"] if preview["kind"] == "Gallery")


def assert_admin_opens(base_url: str, admin: dict[str, str]) -> None:
    """Sign in as a person does."""
    login = f"{base_url}/account/login/"
    with requests.Session() as browser:
        browser.trust_env = False
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get(login, timeout=PATIENCE_SECONDS).text)
        assert token is not None
        answers = {"login": admin["email"], "password": admin["password"], "csrfmiddlewaretoken": token[1]}
        browser.post(login, answers, timeout=PATIENCE_SECONDS).raise_for_status()
        page = browser.get(f"{base_url}/admin/", timeout=PATIENCE_SECONDS)
    assert (page.status_code, page.url) == (200, f"{base_url}/admin/")


def assert_others_are_answered(shop: Shop, base_url: str) -> None:
    with requests.Session() as client:
        # Connections that all arrive at once may cost others one refusal with `Retry-After`, which clients heed.
        client.mount(base_url, HTTPAdapter(max_retries=Retry(total=1, status_forcelist=[503])))
        for path in ("/healthz", "/api/v1/assets?limit=1", "/"):
            assert client.get(base_url + path, timeout=SLOW_SECONDS).status_code == 200
        headers = {"Authorization": f"Bearer {shop.facts['buyer']['bearerToken']}"}
        assert client.get(f"{base_url}/api/v1/wallet", headers=headers, timeout=SLOW_SECONDS).status_code == 200
    # With a body, from another address; and an upload from the same one.
    elsewhere = http.client.HTTPConnection("127.0.0.1", shop.port, timeout=SLOW_SECONDS, source_address=("127.0.0.2", 0))
    elsewhere.request("POST", "/api/v1/leaked-credentials", "{}", {"Content-Type": "application/json"})
    assert elsewhere.getresponse().status == 400
    elsewhere.close()
    vendor = {"Authorization": f"Bearer {shop.facts['vendor']['bearerToken']}"}
    upload = f"{base_url}/api/v1/vendor/assets/{uuid.uuid4()}/file"
    assert requests.post(upload, headers=vendor, files={"file": b"x"}, timeout=SLOW_SECONDS).status_code == 404


@pytest.mark.full
def test_slow_connections_do_not_delay_other_responses(shop: Shop, base_url: str) -> None:
    with slow_connections(shop.port, UNREAD):
        # Until the buffers are full.
        time.sleep(UNREAD_SECONDS)
        assert_others_are_answered(shop, base_url)
    for head in SLOW_SHAPES.values():
        with slow_connections(shop.port, head):
            assert_others_are_answered(shop, base_url)
    # They are refused, or come too late, and stay: the first for their credential, the others as soon as a block is there.
    authorization = f"Authorization: Bearer {shop.facts['buyer']['bearerToken']}\r\n".encode()
    with slow_connections(shop.port, SPEND + b"\r\n{"):
        assert_others_are_answered(shop, base_url)
        with slow_connections(shop.port, SPEND + authorization + b"\r\n{") as late:
            assert_others_are_answered(shop, base_url)
            time.sleep(bounds.BODY_SECONDS + 1)
            for connection in late:
                # Those that found no place were answered before.
                with suppress(OSError):
                    connection.sendall(b"x" * BLOCK_BYTES)
            codes = Counter(connection.recv(12)[-3:] for connection in late)
            assert set(codes) == {b"408", b"503"}
            assert_others_are_answered(shop, base_url)

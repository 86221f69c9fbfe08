"""The quickstart as a person runs it: in a process of its own, in an empty folder."""

import http.client
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
from django.core.management import CommandError, call_command
from requests.adapters import HTTPAdapter
from urllib3 import Retry

from marketplace.core import bounds
from marketplace.http.request_body import BLOCK_BYTES
from tests import ROOT

from ..servers.ports import free_port
from ..waiting import PATIENCE_SECONDS, end, until_it_answers

START_SECONDS = 600
PARTS = {"admin", "developer", "vendor", "otherVendor", "buyer"}

pytestmark = pytest.mark.full


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

    @property
    def curl_lines(self) -> list[str]:
        """The lines to paste."""
        return [line.strip() for line in self.output.splitlines() if line.startswith("  curl ")]


def environment(data: Path) -> dict[str, str]:
    foreign = {
        "ADMIN_REQUIRES_SECOND_FACTOR",
        "DATABASE_URL",
        "REDIS_URL",
        "SECRET_KEY",
        "ALLOWED_HOSTS",
        "BASE_URL",
        "DEBUG",
        "DJANGO_SETTINGS_MODULE",
    }
    kept = {name: value for name, value in os.environ.items() if name not in foreign and not name.startswith("S3_")}
    return kept | {"DATA_DIR": str(data)}


def quickstart(data: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "quickstart", *words],
        cwd=ROOT,
        env=environment(data),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )


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
    result = quickstart(data, "--port", str(port), "--no-serve", "--reset", "--yes")
    assert result.returncode == 0, result.stderr
    return Shop(data, port, result.stdout)


SLOW_CONNECTIONS = 100
RECEIVED_BYTES = 2048
# Sooner than such a connection is given up.
SLOW_SECONDS = 10
SLOW_SHAPES = {
    "headers": b"GET / HTTP/1.1\r\nHost: %s\r\n",
    "body of a form": b"POST /account/login/ HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 99\r\n\r\nlogin=",
    "anonymous JSON": b"POST /api/v1/leaked-credentials HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
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


@contextmanager
def serving(shop: Shop) -> Iterator[str]:
    """Run the command until it answers; it becomes the server, so that ending it ends all."""
    base_url = f"http://127.0.0.1:{shop.port}"
    with (shop.data / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "quickstart", "--port", str(shop.port)],
            cwd=ROOT,
            env=environment(shop.data),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        until_it_answers(process, f"{base_url}/api/v1/assets", shop.data / "server.log")
        yield base_url
    finally:
        end(process, shop.data / "server.log")


def get(url: str, **headers: str) -> Any:
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - our own server
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310 - our own server
        return json.load(answer)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--host", "0.0.0.0"), "not a loopback address"),  # noqa: S104 - what must be refused
        (("--host", "shop.example"), "not a loopback address"),
        (("--port", "0"), "is not a valid port"),
        (("--port", "70000"), "is not a valid port"),
    ],
)
def test_address_that_cannot_be_served_stops_with_a_sentence(words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        call_command("quickstart", *words)


def test_first_run_writes_facts_for_the_owner_only(shop: Shop) -> None:
    facts = shop.facts
    assert stat.S_IMODE((shop.data / "demo.json").stat().st_mode) == 0o600
    assert facts["baseUrl"] == f"http://127.0.0.1:{shop.port}"
    assert facts.keys() == PARTS | {"baseUrl"}
    assert all({"email", "password"} <= facts[part].keys() for part in PARTS)
    assert facts["developer"]["apiKey"].startswith("cam_sk_")
    assert all(facts[part]["bearerToken"].startswith("cam_pat_") for part in ("vendor", "otherVendor", "buyer"))
    assert facts["developer"]["apiKey"] in shop.output


def test_quickstart_reports_its_start_at_once_and_its_files_are_for_the_owner_only(shop: Shop) -> None:
    assert shop.output.startswith("Creating the database")
    assert stat.S_IMODE((shop.data / "marketplace.sqlite3").stat().st_mode) == 0o600
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in (shop.data / "media").rglob("*")} == {0}


def test_every_command_that_the_quickstart_prints_works_and_a_taken_port_is_reported(shop: Shop, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    before = shop.facts
    with serving(shop) as base_url:
        # This was a second run: it kept everything.
        assert shop.facts == before
        assert_content(base_url, before)
        assert_admin_opens(base_url, before["admin"])
        assert "doesn't ask for an authenticator app" in (shop.data / "server.log").read_text(encoding="utf-8")
        answers = [run_line(line, tmp_path) for line in shop.curl_lines]
        second = quickstart(shop.data, "--port", str(shop.port))
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
    assert second.returncode != 0
    assert "--port" in second.stderr
    assert "Traceback" not in second.stderr


def run_line(line: str, folder: Path) -> str:
    """Paste a line into a shell, without the proxies of this machine."""
    env = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    result = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert result.returncode == 0, f"{line}\n{result.stderr}"
    return result.stdout


def assert_content(base_url: str, facts: dict[str, Any]) -> None:
    """The shelves are full, the funds are there, one listing waits, and the credentials carry what they should."""
    api = f"{base_url}/api/v1"
    counts = {category["slug"]: category["assetCount"] for category in get(f"{api}/categories")["items"]}
    assert counts.keys() == {"fonts", "motion", "templates", "presets", "ai-skills"}
    assert min(counts.values()) >= 1
    buyer = {"Authorization": f"Bearer {facts['buyer']['bearerToken']}"}
    assert get(f"{api}/wallet", **buyer)["balanceINR"] > 0
    vendor = {"Authorization": f"Bearer {facts['vendor']['bearerToken']}"}
    assert get(f"{api}/vendor/application-status", **vendor)["status"] == "Approved"
    other = {"Authorization": f"Bearer {facts['otherVendor']['bearerToken']}"}
    states = [item["status"] for item in get(f"{api}/vendor/assets?limit=100", **other)["items"]]
    assert states.count("PendingReview") == 1
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(f"{api}/vendor/assets", **buyer)
    assert refused.value.code == 403
    refused.value.close()
    font = get(f"{api}/assets/fraunces")
    assert {preview["kind"] for preview in font["previews"]} == {"Gallery", "FontSpecimen"}
    assert {preview["kind"] for preview in get(f"{api}/assets/dusty-swing-loops")["previews"]} == {"Gallery", "AudioPreview"}
    shown = [preview["altText"] for preview in font["previews"] if preview["kind"] == "Gallery"]
    assert all(shown)
    page = requests.get(f"{base_url}/assets/fraunces", timeout=PATIENCE_SECONDS).text
    assert [text for text in shown if f'alt="{text}"' not in page] == []


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


def test_slow_connections_do_not_delay_other_responses(shop: Shop) -> None:
    with serving(shop) as base_url, ExitStack() as kept:
        with slow_connections(shop.port, UNREAD):
            # Until the buffers are full.
            time.sleep(UNREAD_SECONDS)
            assert_others_are_answered(shop, base_url)
        for head in SLOW_SHAPES.values():
            with slow_connections(shop.port, head):
                assert_others_are_answered(shop, base_url)
        # They are refused, or come too late, and stay: the first for their credential, the others as soon as a block is there.
        authorization = f"Authorization: Bearer {shop.facts['buyer']['bearerToken']}\r\n".encode()
        kept.enter_context(slow_connections(shop.port, SPEND + b"\r\n{"))
        late = kept.enter_context(slow_connections(shop.port, SPEND + authorization + b"\r\n{"))
        assert_others_are_answered(shop, base_url)
        time.sleep(bounds.BODY_SECONDS + 1)
        for connection in late:
            # Those that found no place were answered before.
            with suppress(OSError):
                connection.sendall(b"x" * BLOCK_BYTES)
        codes = Counter(connection.recv(12)[-3:] for connection in late)
        assert set(codes) == {b"408", b"503"}
        assert_others_are_answered(shop, base_url)


def test_second_quickstart_keeps_existing_data_and_restores_lost_parts(shop: Shop) -> None:
    before = shop.facts
    lost = {part: known for part, known in before.items() if part not in {"buyer", "baseUrl"}}
    (shop.data / "demo.json").write_text(json.dumps(lost), encoding="utf-8")
    mended = quickstart(shop.data, "--port", str(shop.port + 1), "--no-serve")
    assert mended.returncode == 0, mended.stderr
    after = shop.facts
    assert {name for name in after if after[name] != before[name]} == {"buyer", "baseUrl"}
    assert after["baseUrl"] == f"http://127.0.0.1:{shop.port + 1}"
    assert stat.S_IMODE((shop.data / "demo.json").stat().st_mode) == 0o600


def test_quickstart_reset_deletes_only_its_own_data(shop: Shop) -> None:
    assert shop.facts["buyer"]["email"] == "buyer@demo.example"
    assert not (shop.data / "media/deliverables/old").exists()
    assert (shop.data / "notes.txt").read_text(encoding="utf-8") == "not the quickstart's"


def test_reset_without_an_answer_deletes_nothing(tmp_path: Path) -> None:
    database = tmp_path / "marketplace.sqlite3"
    database.touch()
    unasked = quickstart(tmp_path, "--port", str(free_port()), "--no-serve", "--reset")
    assert unasked.returncode != 0
    assert "Nothing was deleted" in unasked.stderr
    assert "Traceback" not in unasked.stderr
    assert database.exists()

"""The code of the last release on the schema of today, as during an upgrade: it starts, shows, finds, sells and is managed.

The database is migrated and filled by the present code; the old code comes out of git's history and is served from a folder of its own.
"""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import requests

from tests import ROOT

from ..faults.service import Service
from ..servers.migrated import own_database
from ..waiting import PATIENCE_SECONDS
from . import rules

pytestmark = [pytest.mark.database, pytest.mark.full]


def git(*words: str) -> bytes:
    return subprocess.run([shutil.which("git") or "git", *words], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout


@pytest.fixture(scope="module")
def release() -> str:
    """Return the commit of the last release: the last that changed the list of its migrations."""
    if not rules.released():
        pytest.skip("nothing has been released")
    if git("rev-parse", "--is-shallow-repository").strip() != b"false":
        pytest.skip("needs git's whole history, not a shallow clone")
    return git("log", "-1", "--format=%H", "--", str(rules.LIST.relative_to(ROOT))).decode().strip()


@pytest.fixture(scope="module")
def old_code(release: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    with tarfile.open(fileobj=BytesIO(git("archive", "--format=tar", release))) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def database() -> Iterator[dict[str, str]]:
    """Return the settings of an empty database, on the engine that the suite runs on."""
    cluster = os.environ.get("TEST_DATABASE_URL", "")
    if not cluster:
        yield {}
        return
    with own_database(cluster) as address:
        yield {"DATABASE_URL": address}


def test_list_of_released_migrations_is_that_of_its_release(release: str) -> None:
    files = git("ls-tree", "-r", "--name-only", release).decode().split()
    assert rules.released() == {file for file in files if "/migrations/0" in file and file.endswith(".py")}


def test_code_of_the_last_release_serves_and_sells_on_the_schema_of_today(old_code: Path, database: dict[str, str], tmp_path: Path) -> None:
    present, old = Service(tmp_path, database), Service(tmp_path, database, old_code)
    facts = present.prepare(2)
    try:
        old.start()
        ready = requests.get(f"{old.base_url}/readyz", timeout=PATIENCE_SECONDS).json()
        assert ready["components"]["migrations"]["status"] == ready["components"]["database"]["status"] == "ok", ready
        browses_and_buys(old.base_url, facts)
        lists(old.base_url, facts["vendor"])
        assert "Traceback" not in old.log.read_text(encoding="utf-8")
    finally:
        old.kill()
    for code in (old, present):
        done = code.manage("reconcile")
        assert "Everything agrees: 2 orders" in done.stdout, done.stdout + done.stderr


def ask(method: str, url: str, token: str = "", status: int = 200, **given: Any) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = requests.request(method, url, headers=headers, timeout=PATIENCE_SECONDS, **given)
    assert answer.status_code == status, f"{method} {url}: {answer.status_code} {answer.text[:500]}"
    return answer.json() if "json" in answer.headers["Content-Type"] else answer.content


def browses_and_buys(base_url: str, facts: dict[str, Any]) -> None:
    api, token = f"{base_url}/api/v1", facts["shopper"]
    for page in ("/", "/browse", "/account/login/", "/account/signup/"):
        ask("GET", base_url + page)
    shown = ask("GET", f"{api}/assets")["items"]
    assert {asset["id"] for asset in shown} == facts["listings"].keys()
    wanted = ask("GET", f"{api}/assets/{shown[0]['id']}")
    found = ask("GET", f"{api}/assets/search", params={"q": wanted["title"]})["results"]
    assert wanted["id"] in {asset["id"] for asset in found}
    ask("POST", f"{api}/wallet/spend", token, json={"assetId": wanted["id"]})
    assert ask("POST", f"{api}/wallet/spend", token, 409, json={"assetId": wanted["id"]})["code"] == "already_owned"
    assert ask("GET", f"{api}/wallet", token)["balanceINR"] > 0
    assert [item["assetId"] for item in ask("GET", f"{api}/library", token)["items"]] == [wanted["id"]]
    link = ask("POST", f"{api}/library/download/{wanted['id']}", token)
    assert len(ask("GET", link["downloadUrl"])) == link["size"]


NEW = {
    "title": "Made meanwhile",
    "slug": "made-meanwhile",
    "shortDescription": "By a node of before.",
    "description": "While the others are replaced.",
    "categorySlug": "fonts",
    "basePrice": 24,
}


def lists(base_url: str, token: str) -> None:
    path = f"{base_url}/api/v1/vendor/assets"
    made = ask("POST", path, token, json=NEW)
    ask("PATCH", f"{path}/{made['id']}", token, json=NEW | {"title": "Changed meanwhile"})
    assert "Changed meanwhile" in {asset["title"] for asset in ask("GET", path, token)["items"]}

"""Backups, tried: fill, back up, wipe, restore; then the money agrees, files are whole and downloads work. On both engines."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
import requests

from ..faults.service import Service, service
from ..servers.migrated import fill_postgres
from ..servers.postgres import postgres
from ..servers.process import call_in
from ..waiting import PATIENCE_SECONDS


@pytest.fixture(params=["sqlite", "postgresql"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    """A service on each engine, over tables without rows."""
    (tmp_path / "data").mkdir()
    with ExitStack() as stack:
        given = {}
        if request.param == "postgresql":
            if shutil.which("pg_dump") is None:
                pytest.skip("needs pg_dump")
            given["DATABASE_URL"] = stack.enter_context(postgres())
            fill_postgres(given["DATABASE_URL"])
        yield stack.enter_context(service(tmp_path / "data", given))


def downloaded(shop: Service, facts: Any) -> bytes:
    headers, listing = {"Authorization": f"Bearer {facts['buyer']}"}, next(iter(facts["listings"]))
    made = requests.post(f"{shop.base_url}/api/v1/library/download/{listing}", headers=headers, timeout=PATIENCE_SECONDS)
    assert made.status_code == 200, made.text
    answer = requests.get(made.json()["downloadUrl"], timeout=PATIENCE_SECONDS)
    assert answer.status_code == 200, answer.text
    return answer.content


def lose_everything(shop: Service) -> None:
    """Lose the database and every file; the keys were kept elsewhere."""
    shutil.rmtree(shop.folder / "media")
    if address := shop.env.get("DATABASE_URL"):
        with psycopg.connect(address, autocommit=True) as connection:
            # As a restore leaves it that is killed between the two.
            connection.execute("DROP SCHEMA public CASCADE")
    else:
        for path in shop.folder.glob("marketplace.sqlite3*"):
            path.unlink()


def cut_short(backup: Path) -> Path:
    """Return a copy of a backup whose dump ends in the middle, and whose checksum knows no better."""
    cut = Path(shutil.copytree(backup, backup.with_name("cut")))
    dump = next(cut.glob("database.*"))
    dump.write_bytes(dump.read_bytes()[: dump.stat().st_size * 3 // 5])
    manifest = json.loads((cut / "manifest.json").read_text())
    (cut / "manifest.json").write_text(json.dumps(manifest | {"sha256": hashlib.sha256(dump.read_bytes()).hexdigest()}))
    return cut


@pytest.mark.full
def test_backup_restores_a_lost_database_and_files_completely(shop: Service, tmp_path: Path) -> None:
    backups, facts = tmp_path / "backups", shop.prepare(2)
    shop.start()
    package = downloaded(shop, facts)
    # Beside the running service.
    before = call_in(shop.env, "tests.ops.commands.run", f"backup {backups}")
    shop.stop()
    (backup,) = (path.parent for path in backups.glob("*/manifest.json"))
    lose_everything(shop)
    lines = (f"restore {cut_short(backup)}", f"restore {backup} --dry-run", f"restore {backup}", "migrate --verbosity 0", "reconcile")
    after = call_in(shop.env, "tests.ops.commands.run", *lines, "verify_checksums", f"doctor --json --backups {backups}")
    cut, tried, restored, _, reconciled, verified, examined = after["said"]
    # It left an empty database, of which nothing need be thrown away.
    assert cut.startswith("FAILED")
    assert ("would be restored" in tried, ": restored" in restored) == (True, True)
    assert "Everything agrees: 1 orders" in reconciled
    assert "FAILED" not in verified
    found = {row["part"]: row["status"] for row in json.loads(examined)}
    assert found["constraints"] == found["backup"] == found["search"] == found["objects"] == "ok"
    assert after["state"] == before["state"]
    shop.start()
    assert downloaded(shop, facts) == package

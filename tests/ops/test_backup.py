"""Backups, tried: fill, back up, wipe, restore; then the money agrees, files are whole and downloads work. On both engines."""

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
import requests

from marketplace.operations import backups, dumps
from marketplace.storage import default_storage

from ..faults.service import Service, service
from ..servers.migrated import fill_postgres
from ..servers.postgres import Cluster
from ..waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.full


class Shop:
    """A service, and how to fill and to lose it."""

    def __init__(self, running: Service, cluster: Cluster | None) -> None:
        self.running, self.cluster = running, cluster
        self.facts: Any = {}

    def fill(self) -> None:
        """Put a vendor, listings and a buyer into it."""
        if self.cluster is not None:
            fill_postgres(self.cluster.address)
        self.facts = self.running.prepare(2)

    def manage(self, *words: str, fails: bool = False) -> str:
        """Run a command; return what it says."""
        done = self.running.manage(*words)
        assert bool(done.returncode) == fails, done.stdout + done.stderr
        return done.stdout + done.stderr

    def wipe(self) -> None:
        """Lose the database and every file; the keys were kept elsewhere."""
        shutil.rmtree(self.running.folder / "media")
        if self.cluster is None:
            for path in self.running.folder.glob("marketplace.sqlite3*"):
                path.unlink()
        else:
            with psycopg.connect(self.cluster.address, autocommit=True) as connection:
                connection.execute("DROP SCHEMA public CASCADE")
                connection.execute("CREATE SCHEMA public")

    def download(self) -> bytes:
        """Return a package that a buyer downloads by a link."""
        headers = {"Authorization": f"Bearer {self.facts['buyer']}"}
        listing = next(iter(self.facts["listings"]))
        made = requests.post(f"{self.running.base_url}/api/v1/library/download/{listing}", headers=headers, timeout=PATIENCE_SECONDS)
        assert made.status_code == 200, made.text
        answer = requests.get(made.json()["downloadUrl"], timeout=PATIENCE_SECONDS)
        assert answer.status_code == 200, answer.text
        return answer.content


@pytest.fixture(params=["sqlite", "postgresql"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shop]:
    with contextlib.ExitStack() as stack:
        given, cluster = {}, None
        if request.param == "postgresql":
            cluster = Cluster()
            stack.callback(cluster.remove)
            cluster.start()
            given = {"DATABASE_URL": cluster.address}
            if shutil.which("pg_dump") is None:
                pytest.skip("needs pg_dump")
        folder = tmp_path / "data"
        folder.mkdir()
        yield Shop(stack.enter_context(service(folder, given)), cluster)


def cut_short(backup: Path) -> Path:
    """Return a copy of a backup whose dump ends in the middle, and whose checksum knows no better."""
    cut = Path(shutil.copytree(backup, backup.with_name("cut")))
    dump = next(cut.glob("database.*"))
    dump.write_bytes(dump.read_bytes()[: dump.stat().st_size * 3 // 5])
    manifest = json.loads((cut / "manifest.json").read_text())
    (cut / "manifest.json").write_text(json.dumps(manifest | {"sha256": hashlib.sha256(dump.read_bytes()).hexdigest()}))
    return cut


def test_backup_restores_a_lost_database_and_files_completely(shop: Shop, tmp_path: Path) -> None:
    backups = tmp_path / "backups"
    shop.fill()
    shop.running.start()
    before, package = shop.running.ask("state"), shop.download()
    # Beside the running service, and a second time: only what is new is copied.
    assert "objects" in shop.manage("backup", str(backups))
    copied = {path: path.stat().st_mtime_ns for path in (backups / "objects").rglob("*") if path.is_file()}
    shop.manage("backup", str(backups))
    assert {path: path.stat().st_mtime_ns for path in copied} == copied
    first, last = sorted(path.parent for path in backups.glob("*/manifest.json"))
    shop.running.stop()
    # Nothing that is there is thrown away unasked, and nothing that is broken is taken.
    assert "--replace" in shop.manage("restore", str(last), fails=True)
    shop.wipe()
    dump = next(first.glob("database.*"))
    dump.write_bytes(dump.read_bytes()[:-1] + b"?")
    assert "checksum" in shop.manage("restore", str(first), fails=True)
    cut = cut_short(last)
    shop.manage("restore", str(cut), fails=True)
    # It left an empty database, of which nothing need be thrown away.
    assert "would be restored" in shop.manage("restore", str(last), "--dry-run")
    assert "restored" in shop.manage("restore", str(last))
    shop.manage("migrate", "--verbosity", "0")
    assert "Everything agrees: 1 orders" in shop.manage("reconcile")
    assert shop.running.ask("state") == before
    shop.manage("verify_checksums")
    found = {row["part"]: row["status"] for row in json.loads(shop.manage("doctor", "--json", "--backups", str(backups)))}
    assert found["constraints"] == found["backup"] == found["search"] == found["objects"] == "ok"
    shop.running.start()
    assert shop.download() == package


def test_folder_that_holds_no_whole_backup_is_refused(shop: Shop, tmp_path: Path) -> None:
    assert "not a complete backup" in shop.manage("restore", str(tmp_path), fails=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"engine": "oracle"}',
        '{"made_at": "yesterday", "engine": "sqlite", "objects": 1}',
        '{"engine": ["sqlite"]}',
    ],
)
def test_manifest_that_makes_no_sense_is_no_backup(tmp_path: Path, text: str) -> None:
    (tmp_path / backups.MANIFEST).write_text(text)
    with pytest.raises(dumps.BackupFailed, match="not a complete backup"):
        backups.read_manifest(tmp_path)


def test_manifest_that_names_another_file_of_the_machine_gets_the_dump_all_the_same(tmp_path: Path) -> None:
    written = {
        "made_at": "2026-11-21T12:00:00",
        "engine": "sqlite",
        "database": "../../etc/passwd",
        "sha256": "",
        "migrations": {},
        "objects": 0,
    }
    (tmp_path / backups.MANIFEST).write_text(json.dumps(written))
    manifest = backups.read_manifest(tmp_path)
    assert (manifest.database, manifest.made_at.tzinfo) == ("database.sqlite3", UTC)


def test_restore_ignores_symbolic_links_among_the_files(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    store = default_storage
    folder = tmp_path / "objects" / "deliverables"
    folder.mkdir(parents=True)
    (tmp_path / "secret").write_text("of this machine")
    (folder / "linked").symlink_to(tmp_path / "secret")
    (folder / "own").write_text("of the backup")
    backups.copy_objects_in(tmp_path / "objects", store, lambda _count: None)
    assert [key for key, _ in store.keys("deliverables/")] == ["deliverables/own"]


def test_programs_of_the_database_connect_as_securely_as_the_service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    options = {"sslmode": "verify-full", "sslrootcert": "/etc/ssl/ca.pem", "pool": {}, "connect_timeout": 5}
    known = {"HOST": "db.example", "PORT": "", "USER": "shop", "PASSWORD": "secret", "NAME": "shop", "OPTIONS": options}
    monkeypatch.setattr(dumps, "connection", SimpleNamespace(vendor="postgresql", settings_dict=known))
    program = tmp_path / "pg_dump"
    program.write_text("#!/bin/sh\nenv | grep ^PG | sort | tr '\\n' ' ' >&2\nexit 1\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(dumps.BackupFailed, match=r"PGSSLMODE=verify-full PGSSLROOTCERT=/etc/ssl/ca\.pem PGUSER=shop"):
        dumps.dump(tmp_path / "database.dump")

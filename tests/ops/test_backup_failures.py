"""Backups and restores on a bad day: what they need is gone, or they run twice at once. Nothing is lost by them, and a sentence says why."""

import shutil
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO
from unittest.mock import Mock
from urllib.parse import urlsplit

import psycopg
import pytest
from django.core.management import CommandError, call_command

from marketplace.core.errors import DependencyUnavailable
from marketplace.operations import backups, dumps

from ..catalog.cases import draft
from ..faults.service import Service, service
from ..servers.migrated import fill_postgres
from ..servers.postgres import Cluster

pytestmark = pytest.mark.full
KEY = "deliverables/one"


class Store:
    """A store with one object.

    Args:
        meanwhile: What happens in the middle of reading it.
    """

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        self._meanwhile = meanwhile

    def keys(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        """Yield its key."""
        if KEY.startswith(prefix):
            yield KEY, datetime.now(tz=UTC)

    def download(self, key: str, file: BinaryIO) -> None:
        """Write it in two blocks."""
        file.write(b"first ")
        self._meanwhile()
        file.write(b"second")


def break_off() -> None:
    raise DependencyUnavailable("The file store cannot be reached.")


def vanish() -> None:
    raise FileNotFoundError(KEY)


def copy(store: Any, folder: Path, backup: str) -> Path:
    part = folder / backup / backups.PART
    part.parent.mkdir()
    backups.copy_objects_out(store, folder / backups.OBJECTS, part, lambda _count: None)
    return folder / backups.OBJECTS / KEY


@pytest.mark.django_db
def test_backup_fails_with_a_message_if_the_store_breaks_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backups, "default_storage", Store(break_off))
    with pytest.raises(CommandError, match=f"{KEY} cannot be read: The file store cannot be reached"):
        call_command("backup", str(tmp_path))
    # Half of an object is none: the next backup copies it.
    assert not [*tmp_path.glob(f"*/{backups.MANIFEST}"), *(tmp_path / backups.OBJECTS).rglob("one*")]
    assert copy(Store(lambda: None), tmp_path, "next").read_bytes() == b"first second"


def test_object_that_is_removed_while_it_is_copied_is_left_out(tmp_path: Path) -> None:
    assert not copy(Store(vanish), tmp_path, "one").exists()


def test_backups_that_copy_the_same_object_at_once_both_have_it_whole(tmp_path: Path) -> None:
    def another() -> None:
        assert copy(Store(lambda: None), tmp_path, "second").read_bytes() == b"first second"

    assert copy(Store(another), tmp_path, "first").read_bytes() == b"first second"


@pytest.mark.django_db
def test_backup_fails_if_the_store_lacks_all_recorded_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft()
    monkeypatch.setattr(backups, "default_storage", Mock(**{"keys.return_value": []}))
    with pytest.raises(dumps.BackupFailed, match="the store has none"):
        backups.make(tmp_path)


@pytest.mark.django_db
def test_backup_begun_at_the_same_moment_as_another_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backups, "datetime", Mock(now=lambda tz: datetime(2026, 11, 21, tzinfo=tz)))
    (tmp_path / "20261121T000000.000000Z").mkdir()
    with pytest.raises(dumps.BackupFailed, match="another backup began at the same moment"):
        backups.make(tmp_path, objects=False)


@pytest.mark.django_db(transaction=True)
def test_copied_files_are_for_their_owner_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backups, "default_storage", Store(lambda: None))
    monkeypatch.setattr(dumps, "dump", lambda target: target.write_bytes(b""))
    made = backups.make(tmp_path)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (made, tmp_path / backups.OBJECTS)] == [0o700, 0o700]
    assert not (made / backups.PART).exists()


@pytest.mark.django_db(transaction=True)
def test_backup_fails_with_a_message_if_the_dump_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(dumps.BackupFailed, match="nowhere"):
        dumps.dump(tmp_path / "nowhere" / "database")


def test_backup_whose_manifest_is_cut_off_is_not_the_newest(tmp_path: Path) -> None:
    assert backups.newest(tmp_path) is None
    whole = '{"made_at": "2026-11-20T12:00:00+00:00", "engine": "sqlite", "sha256": "", "migrations": {}, "objects": 0, "database": ""}'
    for name, text in (("20261120T120000Z", whole), ("20261121T120000Z", whole[:40])):
        (tmp_path / name).mkdir()
        (tmp_path / name / backups.MANIFEST).write_text(text)
    newest = backups.newest(tmp_path)
    assert newest is not None
    assert newest.made_at.day == 20


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    if shutil.which("pg_dump") is None:
        pytest.skip("needs pg_dump")
    made = Cluster()
    made.start()
    yield made
    made.remove()


def refusal(shop: Service, *words: str, **given: str) -> str:
    kept = dict(shop.env)
    shop.env.update(given)
    done = shop.manage(*words)
    shop.env.clear()
    shop.env.update(kept)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_restore_that_cannot_go_on_leaves_what_is_there(cluster: Cluster, tmp_path: Path) -> None:
    folder, place = tmp_path / "data", tmp_path / "backups"
    (folder / "media" / "deliverables").mkdir(parents=True)
    (folder / "media" / KEY).write_text("one")
    fill_postgres(cluster.address)
    with service(folder, {"DATABASE_URL": cluster.address}) as shop, psycopg.connect(cluster.address, autocommit=True) as database:

        def categories() -> Any:
            return database.execute("SELECT count(*) FROM catalog_category").fetchone()

        before = categories()
        assert shop.manage("backup", str(place)).returncode == 0
        backup = next(path.parent for path in place.glob(f"*/{backups.MANIFEST}"))
        database.execute("CREATE ROLE clerk LOGIN PASSWORD 'clerk' IN ROLE pg_read_all_data")
        (tmp_path / "no-programs").mkdir()
        clerk = urlsplit(cluster.address)._replace(netloc=f"clerk:clerk@127.0.0.1:{urlsplit(cluster.address).port}").geturl()
        restore = ("restore", str(backup), "--replace")
        assert "pg_restore is not installed" in refusal(shop, *restore, PATH=str(tmp_path / "no-programs"))
        assert "cannot be removed" in refusal(shop, *restore, DATABASE_URL=clerk)
        (place / backups.OBJECTS).rename(place / "elsewhere")
        assert "is not there: it holds the files" in refusal(shop, *restore)
        (place / "elsewhere").rename(place / backups.OBJECTS)
        assert categories() == before
        # One that was killed while it threw away what was there may be repeated.
        database.execute("DROP SCHEMA public CASCADE")
        done = shop.manage("restore", str(backup))
        assert done.returncode == 0, done.stderr
        assert categories() == before

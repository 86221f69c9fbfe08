"""Backups and restores on a bad day: what they need is gone or wrong, or they run twice at once. Nothing is lost, and a sentence says why."""

import hashlib
import json
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from marketplace.core.errors import DependencyUnavailable
from marketplace.operations import backups, dumps
from marketplace.settings.environment import database
from marketplace.storage import default_storage

from ..catalog.cases import draft

KEY = "deliverables/one"


class Store:
    """A store with one object; something happens in the middle of reading it."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        self._meanwhile = meanwhile

    def keys_with_times(self, prefix: str) -> Iterator[tuple[str, datetime]]:
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
    backups.copy_objects_out(store, folder / backups.OBJECTS, part, lambda: None)
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


def test_object_that_an_earlier_backup_copied_is_not_copied_again(tmp_path: Path) -> None:
    copy(Store(lambda: None), tmp_path, "first")
    assert copy(Store(break_off), tmp_path, "second").read_bytes() == b"first second"


def test_backups_that_copy_the_same_object_at_once_both_have_it_whole(tmp_path: Path) -> None:
    def another() -> None:
        assert copy(Store(lambda: None), tmp_path, "second").read_bytes() == b"first second"

    assert copy(Store(another), tmp_path, "first").read_bytes() == b"first second"


@pytest.mark.django_db
def test_backup_fails_if_the_store_lacks_all_recorded_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft()
    monkeypatch.setattr(backups, "default_storage", Mock(**{"keys_with_times.return_value": []}))
    with pytest.raises(dumps.BackupFailed, match="the file store is empty"):
        backups.make(tmp_path)


@pytest.mark.django_db
def test_backup_of_an_empty_database_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backups, "MigrationRecorder", Mock(**{"return_value.applied_migrations.return_value": {}}))
    monkeypatch.setattr(dumps, "dump", Mock())
    with pytest.raises(CommandError, match="The database is empty"):
        call_command("backup", str(tmp_path))


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


def manifest(folder: Path, text: str | None = None, **changed: Any) -> Path:
    """Write a backup of nothing, with this manifest, or with one that differs from a right one in this; return its folder."""
    dump = folder / dumps.NAMES[connection.vendor]
    dump.write_bytes(b"no dump")
    known = {"made_at": "2026-11-21T12:00:00", "engine": connection.vendor, "sha256": hashlib.sha256(b"no dump").hexdigest()}
    right = known | {"database": "../../etc/passwd", "migrations": {}, "objects": 0}
    (folder / backups.MANIFEST).write_text(json.dumps(right | changed) if text is None else text)
    return folder


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """What would replace the database."""
    found = Mock()
    monkeypatch.setattr(dumps, "load", found)
    return found


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changed", "words", "sentence"),
    [
        ({"engine": "postgresql"}, ["--replace"], "The backup is of a postgresql database"),
        ({"sha256": "0"}, ["--replace"], "checksum differs"),
        ({"objects": 1}, ["--replace"], "is missing: it holds the files"),
        ({}, [], "use --replace"),
    ],
    ids=["engine", "checksum", "files", "tables"],
)
def test_backup_that_does_not_fit_is_not_restored(load: Mock, tmp_path: Path, changed: Any, words: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        call_command("restore", str(manifest(tmp_path, **changed)), *words)
    assert not load.called


def of_postgresql(
    monkeypatch: pytest.MonkeyPatch, programs: Path, address: str = "postgres://shop:secret@db.example/shop?sslmode=verify-full"
) -> None:
    """Let dumps be of a PostgreSQL at an address, whose programs are in this folder."""
    monkeypatch.setattr(dumps, "connection", SimpleNamespace(vendor="postgresql", settings_dict=database(address)))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin" if any(programs.iterdir()) else str(programs))


@pytest.mark.django_db
def test_nothing_is_restored_without_the_programs_of_the_database(load: Mock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "programs").mkdir()
    backup = manifest(tmp_path)
    of_postgresql(monkeypatch, tmp_path / "programs")
    with pytest.raises(CommandError, match="pg_restore is not installed"):
        call_command("restore", str(backup), "--replace")
    assert not load.called


@pytest.mark.parametrize(
    ("address", "found"),
    [
        (
            "postgres://shop:secret@db.example/shop?sslmode=verify-full&sslrootcert=/etc/ssl/ca.pem&channel_binding=require",
            ["PGCHANNELBINDING=require", "PGHOST=db.example", "PGSSLMODE=verify-full", "PGSSLROOTCERT=/etc/ssl/ca.pem", "PGUSER=shop"],
        ),
        ("postgres://shop:secret@/shop?host=/run/proxy", ["PGHOST=/run/proxy", "PGDATABASE=shop"]),
    ],
    ids=["TLS", "socket"],
)
def test_programs_of_the_database_connect_to_where_the_service_does_and_as_securely(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str, found: list[str]
) -> None:
    program = tmp_path / "pg_dump"
    program.write_text("#!/bin/sh\nenv | grep ^PG | sort | tr '\\n' ' ' >&2\nexit 1\n")
    program.chmod(0o700)
    of_postgresql(monkeypatch, tmp_path, address)
    with pytest.raises(dumps.BackupFailed) as failed:
        dumps.dump(tmp_path / "database.dump")
    assert set(found) <= set(str(failed.value).split())


@pytest.mark.postgres
@pytest.mark.django_db
def test_role_that_may_not_remove_what_is_there_removes_nothing() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE clerk")
        cursor.execute("SET LOCAL ROLE clerk")
        with pytest.raises(dumps.BackupFailed, match="cannot be removed"):
            dumps.clear()
        cursor.execute("RESET ROLE")
        cursor.execute("SELECT count(*) FROM catalog_category")
        assert cursor.fetchone()[0]


def test_file_of_sqlite_is_emptied_although_its_triggers_refuse_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "database")) as file:
        file.executescript("""
            CREATE TABLE entry (id INTEGER);
            INSERT INTO entry VALUES (1);
            CREATE TRIGGER kept BEFORE DELETE ON entry BEGIN SELECT raise(ABORT, 'kept'); END;
        """)
        known = {"vendor": "sqlite", "connection": file, "ensure_connection": Mock(), "close": Mock()}
        monkeypatch.setattr(dumps, "connection", SimpleNamespace(**known))
        dumps.clear()
        assert file.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


@pytest.mark.parametrize("text", ["", "null", '{"engine": "oracle"}', '{"made_at": "yesterday", "engine": "sqlite", "objects": 1}'])
def test_manifest_that_makes_no_sense_is_no_backup(tmp_path: Path, text: str) -> None:
    with pytest.raises(dumps.BackupFailed, match="not a complete backup"):
        backups.read_manifest(manifest(tmp_path, text))


def test_folder_without_a_manifest_is_no_backup(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="not a complete backup"):
        call_command("restore", str(tmp_path))


def test_manifest_that_names_another_file_of_the_machine_gets_the_dump_all_the_same(tmp_path: Path) -> None:
    found = backups.read_manifest(manifest(tmp_path))
    assert (found.database, found.made_at.tzinfo) == ("database.sqlite3", UTC)


def test_restore_ignores_symbolic_links_among_the_files(tmp_path: Path, media: Path) -> None:
    folder = tmp_path / "objects" / "deliverables"
    folder.mkdir(parents=True)
    (tmp_path / "secret").write_text("of this machine")
    (folder / "linked").symlink_to(tmp_path / "secret")
    (folder / "own").write_text("of the backup")
    backups.copy_objects_in(tmp_path / "objects", default_storage, lambda: None)
    assert [key for key, _ in default_storage.keys_with_times("deliverables/")] == ["deliverables/own"]

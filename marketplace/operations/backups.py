"""Backups: the database at one moment, and every stored object that it names, in one folder.

Objects are written once and never changed. They are copied before the database is dumped and once more after it: what was there
before and what was added meanwhile are both in the folder, and whatever the dump names is among them. A second backup into the same
folder copies only what is new. A manifest is written last: a backup without one was broken off.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.cache import caches
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from catalog.services import generation
from marketplace.core.errors import DependencyUnavailable
from marketplace.core.objects import object_store
from marketplace.core.objects.base import ObjectMissing, ObjectStore, is_key

# Folders of the store; packages are among them: a link that was handed out names one.
PREFIXES = ("deliverables/", "previews/", "packages/")
OBJECTS, MANIFEST = "objects", "manifest.json"
DUMPS = {"postgresql": "database.dump", "sqlite": "database.sqlite3"}
Report = Callable[[int], None]


class BackupFailed(Exception):
    """It cannot be made or restored; the message says why."""


@dataclass(frozen=True)
class Manifest:
    """What a backup holds.

    Args:
        made_at: When its database was dumped.
        engine: The database's.
        database: The dump's file name.
        sha256: Of the dump.
        migrations: The newest migration of each app.
        objects: How many objects lie beside it, of all backups of the folder; -1 when they were left out.
    """

    made_at: datetime
    engine: str
    database: str
    sha256: str
    migrations: dict[str, str]
    objects: int


def newest(folder: Path) -> Manifest | None:
    """Return the newest whole backup of a folder."""
    found = sorted(folder.glob(f"*/{MANIFEST}"))
    return read_manifest(found[-1].parent) if found else None


def read_manifest(backup: Path) -> Manifest:
    """Return what a backup says of itself.

    Raises:
        BackupFailed: it is none, or was broken off.
    """
    try:
        values = json.loads((backup / MANIFEST).read_text(encoding="utf-8"))
        made_at = datetime.fromisoformat(values["made_at"]).astimezone(UTC)
        # What it calls the dump is not believed: no other file of the machine is read because a manifest names it.
        known = {"made_at": made_at, "objects": int(values["objects"]), "database": DUMPS[values["engine"]]}
        return Manifest(**values | known)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BackupFailed(f"{backup} is no whole backup: it has no {MANIFEST} that can be read.") from error


def make(folder: Path, *, objects: bool = True, report: Report = lambda _count: None) -> Path:
    """Make a backup in a folder of its own in this one, and return that.

    Args:
        folder: Where backups lie; objects are shared by all of them.
        objects: False where the file store is kept safe by other means.
        report: Called with the number of objects looked at since the last call.

    Raises:
        BackupFailed: the database or a file cannot be copied.
    """
    made_at = datetime.now(tz=UTC)
    backup = folder / made_at.strftime("%Y%m%dT%H%M%SZ")
    backup.mkdir(parents=True, mode=0o700)
    store, count = object_store(), -1
    if objects:
        _copy_out(store, folder / OBJECTS, report)
    dump = backup / DUMPS[connection.vendor]
    _dump_postgresql(dump) if connection.vendor == "postgresql" else _dump_sqlite(dump)
    if objects:
        count = _copy_out(store, folder / OBJECTS, report)
    applied = sorted(MigrationRecorder(connection).applied_migrations())
    manifest = Manifest(made_at, connection.vendor, dump.name, _digest(dump), dict(applied), count)
    text = json.dumps(asdict(manifest) | {"made_at": made_at.isoformat()}, indent=2)
    (backup / MANIFEST).write_text(text, encoding="utf-8")
    return backup


def restore(backup: Path, *, replace: bool = False, report: Report = lambda _count: None) -> Manifest:
    """Put a backup's database and objects where the settings point. Nothing may be served meanwhile.

    Args:
        backup: The backup's own folder.
        replace: Whether tables that are there may be thrown away.
        report: Called with the number of objects looked at since the last call.

    Raises:
        BackupFailed: it is broken or of another engine, or there are tables already.
    """
    manifest = read_manifest(backup)
    dump = backup / manifest.database
    if manifest.engine != connection.vendor:
        raise BackupFailed(f"The backup is of {manifest.engine}, DATABASE_URL names {connection.vendor}.")
    if not dump.exists() or _digest(dump) != manifest.sha256:
        raise BackupFailed(f"{dump} is not what was backed up: its checksum differs.")
    if connection.introspection.table_names() and not replace:
        raise BackupFailed("The database has tables already; --replace throws them away.")
    # Objects first: a database that names what is not there yet would be worse than one that is not there yet.
    if manifest.objects >= 0:
        _copy_in(backup.parent / OBJECTS, object_store(), report)
    _load_postgresql(dump) if connection.vendor == "postgresql" else _load_sqlite(dump)
    # Answers of the time after the backup may be cached under numbers that come again.
    for cache in caches.all(initialized_only=False):
        cache.clear()
    with transaction.atomic():
        generation.bump()
    return manifest


def _dump_sqlite(target: Path) -> None:
    """Copy by the engine's own online backup: one moment, beside writers."""
    connection.ensure_connection()
    with closing(sqlite3.connect(target)) as copy:
        connection.connection.backup(copy)
        # The copy is a file by itself, whatever the journal of the original.
        copy.execute("PRAGMA journal_mode=DELETE")


def _load_sqlite(dump: Path) -> None:
    connection.ensure_connection()
    try:
        with closing(sqlite3.connect(dump)) as copy:
            # What is broken is found before anything is overwritten.
            (found,) = copy.execute("PRAGMA quick_check").fetchone()
            if found != "ok":
                raise BackupFailed(f"{dump} is broken: {found}.")
            copy.backup(connection.connection)
    except sqlite3.Error as error:
        raise BackupFailed(f"{dump} cannot be loaded: {error}.") from error
    connection.close()


def _dump_postgresql(target: Path) -> None:
    _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={target}")


def _load_postgresql(dump: Path) -> None:
    with connection.cursor() as cursor:
        # Triggers and functions go with it: a dump that is loaded over tables would trip over guards.
        cursor.execute("DROP SCHEMA public CASCADE")
        cursor.execute("CREATE SCHEMA public")
    connection.close()
    # All or nothing: what is killed half-way leaves an empty database, which says so, and not one that lacks its last tables.
    words = ("--no-owner", "--no-privileges", "--single-transaction", "--schema=public")
    _run("pg_restore", *words, f"--dbname={_libpq()['PGDATABASE']}", str(dump))


def _run(program: str, *words: str) -> None:
    path = shutil.which(program)
    if path is None:
        raise BackupFailed(f"{program} is not installed; it comes with PostgreSQL's client programs.")
    # The password goes by the environment: arguments are seen by everybody on the machine.
    done = subprocess.run([path, "--no-password", *words], env=os.environ | _libpq(), capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    if done.returncode:
        raise BackupFailed(f"{program} failed: {' '.join(done.stderr.split())[:500]}")


def _libpq() -> dict[str, str]:
    known = connection.settings_dict
    names = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD", "PGDATABASE": "NAME"}
    # How the connection is secured is the same for these programs as for the service.
    secured = {f"PG{name.upper()}": str(value) for name, value in known["OPTIONS"].items() if name.startswith("ssl")}
    return {variable: str(known[name]) for variable, name in names.items() if known[name]} | secured


def _copy_out(store: ObjectStore, folder: Path, report: Report) -> int:
    """Copy what is not there yet; return how many objects the store has."""
    count = 0
    for key in _keys(store):
        target = folder / key
        count += 1
        report(1)
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}.part")
        try:
            with part.open("wb") as file:
                file.writelines(store.read(key))
        except ObjectMissing:
            # Removed since it was listed: no record names it any more.
            part.unlink()
            continue
        part.rename(target)
    return count


def _keys(store: ObjectStore) -> Iterator[str]:
    try:
        for prefix in PREFIXES:
            for key, _written in store.keys(prefix):
                yield key
    except DependencyUnavailable as error:
        raise BackupFailed(error.message) from error


def _copy_in(folder: Path, store: ObjectStore, report: Report) -> None:
    there = dict.fromkeys(_keys(store), True)
    for path in sorted(folder.rglob("*")):
        key = path.relative_to(folder).as_posix()
        # A link would bring in whatever of this machine it leads to.
        if path.is_symlink() or not path.is_file() or not is_key(key) or path.suffix == ".part":
            continue
        report(1)
        if key not in there:
            _put(store, key, path)


def _put(store: ObjectStore, key: str, path: Path) -> None:
    writer: Any = store.create(key)
    try:
        with path.open("rb") as file:
            while block := file.read(2**20):
                writer.write(block)
        writer.commit()
    except DependencyUnavailable as error:
        raise BackupFailed(f"{key} cannot be stored: {error.message}") from error
    finally:
        writer.abort()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

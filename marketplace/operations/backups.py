"""Backups: a consistent copy of the database and every stored object that it refers to, in one folder.

Objects are written once and never changed. They are copied before the database is dumped and again after it, so that all
objects that the dump refers to are included. A second backup into the same
folder copies only new objects. The manifest is written last: a backup without one is incomplete.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from catalog.catalog_version import change_version
from catalog.models import Deliverable
from marketplace.core.errors import DependencyUnavailable
from marketplace.storage import default_storage
from marketplace.storage.base import ObjectStorage, is_key
from vendors.services.sweeping import FOLDERS

from . import dumps
from .dumps import BackupFailed

# Folders of the file store; packages are included, because issued download links refer to them.
PREFIXES = (*FOLDERS, "packages/")
OBJECTS, MANIFEST = "objects", "manifest.json"
# Temporary file of an object being copied, in the backup's own folder, so that concurrent backups do not share it.
PART = "object.part"
Report = Callable[[], None]


@dataclass(frozen=True)
class Manifest:
    """The contents of a backup."""

    made_at: datetime
    # The database's vendor.
    engine: str
    # The dump's file name and checksum.
    database: str
    sha256: str
    # The newest migration of each app.
    migrations: dict[str, str]
    # Number of objects in the file store; -1 if objects were left out.
    objects: int


def newest(folder: Path) -> Manifest | None:
    """Return the newest complete backup in a folder, None if there is none."""
    for path in sorted(folder.glob(f"*/{MANIFEST}"), reverse=True):
        with suppress(BackupFailed):
            return read_manifest(path.parent)
    return None


def read_manifest(backup: Path) -> Manifest:
    """Return the manifest of a backup.

    Raises:
        BackupFailed: it is not a backup, or incomplete.
    """
    try:
        values = json.loads((backup / MANIFEST).read_text(encoding="utf-8"))
        made_at = datetime.fromisoformat(values["made_at"]).astimezone(UTC)
        # The dump's file name is not taken from the manifest, which could name any file of the machine.
        checked = {"made_at": made_at, "objects": int(values["objects"]), "database": dumps.NAMES[values["engine"]]}
        return Manifest(**values | checked)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BackupFailed(f"{backup} is not a complete backup: it has no readable {MANIFEST}.") from error


def make(folder: Path, *, objects: bool = True, report: Report = lambda: None) -> Path:
    """Make a backup in a new folder inside `folder`, and return its path.

    Args:
        folder: The folder of all backups, which share the objects.
        objects: False if the file store is backed up by other means.
        report: Called for each object.

    Raises:
        BackupFailed: the database or a file cannot be copied, or the database is empty.
    """
    applied = dict(sorted(MigrationRecorder(connection).applied_migrations()))
    if not applied:
        # Otherwise a cron job with wrong settings would make empty backups without an error.
        raise BackupFailed("The database is empty: check DATABASE_URL and DJANGO_SETTINGS_MODULE.")
    made_at = datetime.now(tz=UTC)
    backup = folder / made_at.strftime("%Y%m%dT%H%M%S.%fZ")
    try:
        backup.mkdir(parents=True, mode=0o700)
    except FileExistsError as error:
        raise BackupFailed(f"{backup} already exists: another backup began at the same moment.") from error
    store, count = default_storage, -1
    if objects:
        # The files for sale are private.
        (folder / OBJECTS).mkdir(exist_ok=True, mode=0o700)
        if not copy_objects_out(store, folder / OBJECTS, backup / PART, report) and Deliverable.objects.exists():
            raise BackupFailed("The database refers to files, but the file store is empty: check S3_BUCKET or DATA_DIR.")
    dump = backup / dumps.NAMES[connection.vendor]
    dumps.dump(dump)
    if objects:
        count = copy_objects_out(store, folder / OBJECTS, backup / PART, report)
    manifest = Manifest(made_at, connection.vendor, dump.name, _digest(dump), applied, count)
    text = json.dumps(asdict(manifest) | {"made_at": made_at.isoformat()}, indent=2)
    (backup / MANIFEST).write_text(text, encoding="utf-8")
    return backup


def restore(backup: Path, *, replace: bool = False, report: Report = lambda: None) -> Manifest:
    """Restore a backup into the database and the file store of the settings. No server may run in the meantime.

    Args:
        backup: The backup's own folder.
        replace: Whether existing tables may be dropped.
        report: Called for each object.

    Raises:
        BackupFailed: the backup is damaged or of another engine, there are tables already, or a file or program is missing.
    """
    manifest = read_manifest(backup)
    dump = backup / manifest.database
    if manifest.engine != connection.vendor:
        raise BackupFailed(f"The backup is of a {manifest.engine} database, but DATABASE_URL is the address of a {connection.vendor} one.")
    if not dump.exists() or _digest(dump) != manifest.sha256:
        raise BackupFailed(f"{dump} is not what was backed up: its checksum differs.")
    if connection.introspection.table_names() and not replace:
        raise BackupFailed("The database already has tables; use --replace to drop them.")
    if manifest.objects > 0 and not (backup.parent / OBJECTS).is_dir():
        raise BackupFailed(f"{backup.parent / OBJECTS} is missing: it holds the files of all backups in its folder.")
    # Fail as early as possible, before anything is dropped.
    dumps.check(dump)
    # Objects first: a database that refers to missing objects would be worse than no database.
    if manifest.objects >= 0:
        copy_objects_in(backup.parent / OBJECTS, default_storage, report)
    dumps.load(dump)
    with transaction.atomic():
        change_version()
    return manifest


def copy_objects_out(storage: ObjectStorage, folder: Path, part: Path, report: Report) -> int:
    """Copy the objects that are not in the folder yet; return the number of objects in the file store."""
    count = 0
    for key in _keys(storage):
        target = folder / key
        count += 1
        report()
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        # An object removed since it was listed has no record any more.
        with suppress(FileNotFoundError):
            _fetch(storage, key, part)
            part.replace(target)
    return count


def _fetch(storage: ObjectStorage, key: str, part: Path) -> None:
    try:
        with part.open("wb") as file:
            storage.download(key, file)
            file.flush()
            # An object is copied only once, so a file left empty by a power cut would stay empty.
            os.fsync(file.fileno())
    except DependencyUnavailable as error:
        raise BackupFailed(f"{key} cannot be read: {error.message}") from error


def _keys(storage: ObjectStorage) -> Iterator[str]:
    try:
        for prefix in PREFIXES:
            for key, _written in storage.keys_with_times(prefix):
                yield key
    except DependencyUnavailable as error:
        raise BackupFailed(f"The file store cannot be listed: {error.__cause__ or error.message}") from error


def copy_objects_in(folder: Path, storage: ObjectStorage, report: Report) -> None:
    """Store the objects of the folder that are not in the file store yet."""
    stored = set(_keys(storage))
    for path in sorted(folder.rglob("*")):
        key = path.relative_to(folder).as_posix()
        # A symbolic link could bring in any file of this machine.
        if path.is_symlink() or not path.is_file() or not is_key(key):
            continue
        report()
        if key not in stored:
            _put(storage, key, path)


def _put(storage: ObjectStorage, key: str, path: Path) -> None:
    try:
        with path.open("rb") as file, storage.open(key, "wb") as stored:
            shutil.copyfileobj(file, stored)
    except DependencyUnavailable as error:
        raise BackupFailed(f"{key} cannot be stored: {error.message}") from error


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

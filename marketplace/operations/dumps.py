"""The database as one file, and back: by SQLite's online backup, or by PostgreSQL's own programs."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from django.db import ProgrammingError, connection, transaction

NAMES = {"postgresql": "database.dump", "sqlite": "database.sqlite3"}


class BackupFailed(Exception):
    """It cannot be made or restored; the message says why."""


def dump(target: Path) -> None:
    """Write the database as it is at one moment, beside readers and writers.

    Raises:
        BackupFailed: it cannot be read, or the file not be written.
    """
    _dump_postgresql(target) if connection.vendor == "postgresql" else _dump_sqlite(target)


def check(source: Path) -> None:
    """Make sure that a dump can be loaded, as far as that shows before anything is thrown away.

    Raises:
        BackupFailed: it is broken, or what loads it is not installed.
    """
    if connection.vendor == "postgresql":
        _run("pg_restore", "--list", str(source))


def load(source: Path) -> None:
    """Put a dump in the place of what is there.

    Raises:
        BackupFailed: it cannot be loaded, or what is there not be removed.
    """
    _load_postgresql(source) if connection.vendor == "postgresql" else _load_sqlite(source)


def _dump_sqlite(target: Path) -> None:
    connection.ensure_connection()
    try:
        with closing(sqlite3.connect(target)) as copy:
            connection.connection.backup(copy)
            # The copy is a file by itself, whatever the journal of the original.
            copy.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise BackupFailed(f"{target} cannot be written: {error}.") from error


def _load_sqlite(source: Path) -> None:
    connection.ensure_connection()
    try:
        with closing(sqlite3.connect(source)) as copy:
            # What is broken is found before anything is overwritten.
            (found,) = copy.execute("PRAGMA quick_check").fetchone()
            if found != "ok":
                raise BackupFailed(f"{source} is broken: {found}.")
            copy.backup(connection.connection)
    except sqlite3.Error as error:
        raise BackupFailed(f"{source} cannot be loaded: {error}.") from error
    connection.close()


def _dump_postgresql(target: Path) -> None:
    _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={target}")


def _load_postgresql(source: Path) -> None:
    try:
        # Both or neither. There is no schema where an earlier version of this was killed between the two.
        with transaction.atomic(), connection.cursor() as cursor:
            # Triggers and functions go with it: a dump that is loaded over tables would trip over guards.
            cursor.execute("DROP SCHEMA IF EXISTS public CASCADE")
            cursor.execute("CREATE SCHEMA public")
    except ProgrammingError as error:
        raise BackupFailed(f"What is there cannot be removed: {' '.join(str(error).split())}. The database's owner can.") from error
    connection.close()
    # All or nothing: what is killed half-way leaves an empty database, which says so, and not one that lacks its last tables.
    words = ("--no-owner", "--no-privileges", "--single-transaction", "--schema=public")
    _run("pg_restore", *words, f"--dbname={_libpq()['PGDATABASE']}", str(source))


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

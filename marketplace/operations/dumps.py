"""Dumps and loads the database, by SQLite's online backup or by pg_dump and pg_restore."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from django.db import ProgrammingError, connection, transaction
from psycopg import pq

NAMES = {"postgresql": "database.dump", "sqlite": "database.sqlite3"}


class BackupFailed(Exception):
    """A backup cannot be made or restored; the message says why."""


def dump(target: Path) -> None:
    """Write a consistent copy of the database, while it is in use.

    Raises:
        BackupFailed: the database cannot be read, or the file cannot be written.
    """
    if connection.vendor == "postgresql":
        _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={target}")
    else:
        _dump_sqlite(target)


def check(source: Path) -> None:
    """Check that a dump can be loaded, as far as possible before anything is dropped.

    Raises:
        BackupFailed: the dump is damaged, or pg_restore is not installed.
    """
    if connection.vendor == "postgresql":
        _run("pg_restore", "--list", str(source))


def clear() -> None:
    """Remove all tables of the database, with their triggers and functions.

    Raises:
        BackupFailed: the user of DATABASE_URL may not.
    """
    if connection.vendor == "postgresql":
        _drop_schema()
    else:
        connection.ensure_connection()
        with closing(sqlite3.connect(":memory:")) as empty:
            empty.backup(connection.connection)
    connection.close()


def load(source: Path) -> None:
    """Replace the database by a dump.

    Raises:
        BackupFailed: the dump cannot be loaded, or the existing data cannot be removed.
    """
    if connection.vendor == "postgresql":
        _drop_schema()
        connection.close()
        # In one transaction, so that an interrupted run leaves an empty database, not an incomplete one.
        arguments = ("--no-owner", "--no-privileges", "--single-transaction", "--schema=public")
        _run("pg_restore", *arguments, f"--dbname={_pg_env()['PGDATABASE']}", str(source))
    else:
        _load_sqlite(source)


def _dump_sqlite(target: Path) -> None:
    connection.ensure_connection()
    try:
        with closing(sqlite3.connect(target)) as copy:
            connection.connection.backup(copy)
            # Make the copy a single file, whatever the journal mode of the original.
            copy.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise BackupFailed(f"{target} cannot be written: {error}.") from error


def _load_sqlite(source: Path) -> None:
    connection.ensure_connection()
    try:
        with closing(sqlite3.connect(source)) as copy:
            # Detect a damaged file before anything is overwritten.
            (found,) = copy.execute("PRAGMA quick_check").fetchone()
            if found != "ok":
                raise BackupFailed(f"{source} is broken: {found}.")
            copy.backup(connection.connection)
    except sqlite3.Error as error:
        raise BackupFailed(f"{source} cannot be loaded: {error}.") from error
    connection.close()


def _drop_schema() -> None:
    try:
        # In one transaction, so that an interrupted run leaves the existing data. There may be no schema.
        with transaction.atomic(), connection.cursor() as cursor:
            # Dropping the schema drops triggers and functions too, which would reject rows of the dump.
            cursor.execute("DROP SCHEMA IF EXISTS public CASCADE")
            cursor.execute("CREATE SCHEMA public")
    except ProgrammingError as error:
        raise BackupFailed(
            f"The existing data cannot be removed: {' '.join(str(error).split())}. Only the database's owner can remove it."
        ) from error


def _run(program: str, *arguments: str) -> None:
    path = shutil.which(program)
    if path is None:
        raise BackupFailed(f"{program} is not installed; it comes with PostgreSQL's client programs.")
    # The password is passed in the environment, because arguments are visible to all users of the machine.
    done = subprocess.run([path, "--no-password", *arguments], env=os.environ | _pg_env(), capture_output=True, text=True, check=False)  # noqa: S603 - our own arguments
    if done.returncode:
        raise BackupFailed(f"{program} failed: {' '.join(done.stderr.split())[:500]}")


def _pg_env() -> dict[str, str]:
    database = connection.settings_dict
    names = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD", "PGDATABASE": "NAME"}
    # These programs connect as the service does, also to the socket and with the TLS settings that the address names after `?`.
    variables = {option.keyword.decode(): option.envvar.decode() for option in pq.Conninfo.get_defaults() if option.envvar}
    given = {variables[name]: str(value) for name, value in database["OPTIONS"].items() if name in variables}
    return given | {variable: str(database[name]) for variable, name in names.items() if database[name]}

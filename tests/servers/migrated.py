"""Migrated databases, and the demo, which are made once and then copied, because each takes many seconds.

A SQLite file, a dump for PostgreSQL, and the demo's folder are kept between runs for as long as nothing changes that they are made of. Within a
cluster of PostgreSQL one database is the template of the others, for one run.
"""

import atexit
import fcntl
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from tests import ROOT

from .postgres import find_programs
from .process import bare_environment, run

# Names the folder of the run, so that all of its processes share it.
FOLDER = "TEST_TEMPLATES"
# Names a migrated SQLite file that is taken as it is.
SQLITE = "TEST_SQLITE_TEMPLATE"
# Interfaces: what migrates imports none of them.
ABOVE = {"admin", "admin.py", "api", "commands", "dashboard", "mcp", "oauth", "studio", "web"}
KEPT_SECONDS = 7 * 24 * 3600
DUMP = "postgres.sql"
DEMO = Path("marketplace/demo")


def begin() -> None:
    """Make the folder of this run, unless an outer process did; it goes when this process ends."""
    if FOLDER not in os.environ:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="marketplace-templates-")
        atexit.register(end)


def end() -> None:
    """Drop what this process began."""
    folder = Path(os.environ.pop(FOLDER))
    for made in folder.glob("template_*"):
        # A cluster that has ended took its databases with it.
        with suppress(psycopg.OperationalError), psycopg.connect(made.read_text("utf-8"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {made.name} WITH (FORCE)")
    shutil.rmtree(folder, ignore_errors=True)


def copy_sqlite(target: Path) -> None:
    """Lay a migrated SQLite file where there is none."""
    with closing(sqlite3.connect(target)) as copy:
        copy_into(copy)


def copy_into(target: sqlite3.Connection, watch: Callable[[int, int, int], None] | None = None) -> None:
    """Replace a SQLite file by a migrated one."""
    with closing(sqlite3.connect(_sqlite_template())) as source:
        source.backup(target, progress=watch)


def copy_demo(folder: Path) -> None:
    """Fill an empty folder with what the quickstart leaves in its own; a quickstart there finds it, and gives it its address."""
    shutil.copytree(_kept("demo", _make_demo), folder, dirs_exist_ok=True)


def prepare_test_database(settings: dict[str, Any]) -> None:
    """Let Django's test database begin as a copy of a migrated one, so that nothing is left to migrate; SQLite's is to be kept."""
    if settings["ENGINE"].endswith("sqlite3"):
        copy_sqlite(settings["TEST"]["NAME"])
    else:
        settings["TEST"]["TEMPLATE"] = postgres_template(os.environ["TEST_DATABASE_URL"])


@cache
def _sqlite_template() -> Path:
    # A mutated source keeps the tables of the untouched one.
    given = os.environ.get(SQLITE)
    return Path(given) if given else _kept("sqlite", _migrate) / "marketplace.sqlite3"


def fill_postgres(address: str) -> None:
    """Migrate an empty database: from the kept dump, or by the migrations, which makes the dump."""
    programs = find_programs()
    if programs is None or not all((programs / name).exists() for name in ("pg_dump", "psql")):
        _migrate_postgres(address)
        return
    filled = False

    def make(folder: Path) -> None:
        nonlocal filled
        _migrate_postgres(address)
        _run(programs / "pg_dump", "--no-owner", f"--file={folder / DUMP}", f"--dbname={address}")
        filled = True

    dump = _kept("postgres", make) / DUMP
    if not filled:
        words = ("--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--single-transaction")
        _run(programs / "psql", *words, f"--file={dump}", f"--dbname={address}")


def _kept(kind: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that `make` filled, for this state of the code, in this run or in one before."""
    root = os.environ.get("XDG_CACHE_HOME") or (Path.home() / ".cache")
    kept = Path(root) / "creative-asset-marketplace" / "migrated"
    kept.mkdir(parents=True, exist_ok=True)
    made = kept / f"{kind}-{_state()}"
    # Another state of the code does not wait for this one.
    with _locked(kept, made.name):
        if made.exists():
            # In use: another state of the code, which makes its own, leaves it.
            os.utime(made)
        else:
            for old in kept.iterdir():
                if old.stat().st_mtime < time.time() - KEPT_SECONDS:
                    shutil.rmtree(old, ignore_errors=True) if old.is_dir() else old.unlink(missing_ok=True)
            making = Path(tempfile.mkdtemp(dir=kept))
            make(making)
            making.rename(made)
    return made


def _state() -> str:
    """Return a digest of all that migrations and the demo can see: our own code below the interfaces, the demo's goods, and the libraries."""
    state = sha256(f"{sys.version} {sqlite3.sqlite_version}".encode() + (ROOT / "uv.lock").read_bytes())
    for package in ("marketplace", "catalog", "developers", "library", "vendors", "wallet"):
        for path in sorted((ROOT / package).rglob("*.*")):
            place = path.relative_to(ROOT)
            if (path.suffix == ".py" or DEMO in place.parents) and not (ABOVE | {"__pycache__"}).intersection(place.parts):
                state.update(f"{place} ".encode() + path.read_bytes())
    return state.hexdigest()


def postgres_template(cluster: str) -> str:
    """Return the name of a migrated database of the cluster, to be named after `TEMPLATE`."""
    begin()
    folder = Path(os.environ[FOLDER])
    with _locked(folder):
        made = folder / f"template_{sha256(address_of(cluster, '').encode()).hexdigest()[:32]}"
        if not made.exists():
            with psycopg.connect(cluster, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {made.name}")
            fill_postgres(address_of(cluster, made.name))
            made.write_text(cluster, "utf-8")
    return made.name


@contextmanager
def own_database(cluster: str) -> Iterator[str]:
    """Yield the address of a migrated database in the cluster that nobody else uses; it is dropped afterwards."""
    template, name = postgres_template(cluster), f"own_{uuid4().hex}"
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield address_of(cluster, name)
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def address_of(cluster: str, name: str) -> str:
    """Return the address of another database of the cluster."""
    return f"{cluster.rsplit('/', 1)[0]}/{name}"


@contextmanager
def _locked(folder: Path, name: str = "lock") -> Iterator[None]:
    """Keep other processes out of the folder."""
    with (folder / f".{name}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _migrate_postgres(address: str) -> None:
    with tempfile.TemporaryDirectory(prefix="marketplace-migrating-") as folder:
        _migrate(Path(folder), address)


def _migrate(folder: Path, address: str = "") -> None:
    env = _embedded(folder) | {"DATABASE_URL": address}
    _run(sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks", env=env)


def _make_demo(folder: Path) -> None:
    copy_sqlite(folder / "marketplace.sqlite3")
    _run(sys.executable, "manage.py", "quickstart", "--no-serve", env=_embedded(folder))


def _embedded(folder: Path) -> dict[str, str]:
    return bare_environment() | {"DJANGO_SETTINGS_MODULE": "marketplace.settings.embedded", "DATA_DIR": str(folder)}


def _run(*command: str | Path, env: dict[str, str] | None = None) -> None:
    done = run(*command, env=env or bare_environment())
    assert done.returncode == 0, done.stdout + done.stderr

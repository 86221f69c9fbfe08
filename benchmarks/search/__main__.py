"""Search at several sizes, compared with a lookup by primary key through the same connection.

    uv run --group dev --with tantivy python -m benchmarks.search [--listings 10000,100000,1000000] [--engine postgres] [--write]

PostgreSQL is a private cluster that is thrown away, or with `--database` one that has been seeded. Needs room for the catalog:
about 4 GB at a million listings. Times are processor time: whatever else runs on the machine does not count.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

from benchmarks import MISSED
from benchmarks.catalog import servers
from benchmarks.catalog.servers import ROOT, inside, manage
from tests.servers.postgres import postgres

from .report import report

RESULT = ROOT / "benchmarks" / "search.md"
# Settings that suit a catalog of a million listings.
SERVER = ("shared_buffers=1GB", "maintenance_work_mem=256MB", "max_wal_size=4GB")


def main() -> int:
    """Measure, print the tables, and save them if that is requested; return 0 if every goal is met, else `MISSED`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--listings", default="10000,100000", help="sizes of the catalog, smallest first (10000,100000)")
    parser.add_argument("--engine", choices=["postgres", "sqlite"], default="postgres")
    parser.add_argument("--queries", type=int, default=100, help="number of queries of each kind (100)")
    parser.add_argument(
        "--database", action="append", help="address of a seeded PostgreSQL database to use instead of making one; once for each size"
    )
    parser.add_argument("--write", action="store_true", help=f"keep the tables in {RESULT.name}")
    options = parser.parse_args()
    sizes = [int(size) for size in options.listings.split(",")]
    results = {}
    for place, size in enumerate(sizes):
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-search-"))
            env = os.environ | {"DJANGO_SETTINGS_MODULE": "marketplace.settings.embedded", "DATA_DIR": folder, "LOG_LEVEL": "WARNING"}
            if options.database:
                env["DATABASE_URL"] = options.database[place]
            elif options.engine == "postgres":
                env["DATABASE_URL"] = stack.enter_context(postgres(*SERVER))
            took = None if options.database else seed(env, size)
            results[size] = measure(env, options.queries) | {"took": took}
    text, met = report(options.engine, results, machine())
    print(text)
    if options.write:
        keep(options.engine, text)
    return 0 if met else MISSED


def seed(env: dict[str, str], size: int) -> float:
    """Create a catalog and its search index; return how many seconds the index took."""
    servers.make_tables(env)
    servers.seed(env, size, "--without-search")
    began = time.monotonic()
    manage(env, "rebuild_search")
    took = time.monotonic() - began
    manage(env, "mark_popular_listings")
    return took


def measure(env: dict[str, str], queries: int) -> dict[str, Any]:
    """Return the figures of the catalog that the environment names."""
    if "DATABASE_URL" in env:
        subprocess.run([program("psql"), env["DATABASE_URL"], "-qc", "VACUUM ANALYZE"], stdin=subprocess.DEVNULL, check=True)
    figures: dict[str, Any] = json.loads(inside(env, "benchmarks.search.measure", str(queries)))
    return figures


def program(name: str) -> str:
    """Return the path of one of PostgreSQL's programs."""
    found = shutil.which(name)
    if found is None:
        raise SystemExit(f"{name} is not on the PATH: install PostgreSQL's client programs.")
    return found


def machine() -> str:
    """Return when and on what this ran."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = ", ".join(f"{part:.1f}" for part in os.getloadavg())
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores (load average {load}), {memory:.0f} GiB, Python {platform.python_version()}"
    )


def keep(engine: str, text: str) -> None:
    """Replace an engine's tables in the file."""
    parts = dict.fromkeys(["postgres", "sqlite"], "")
    if RESULT.exists():
        # A line break is put before the first title, with which the file begins.
        for part in f"\n{RESULT.read_text('utf-8')}".split("\n# ")[1:]:
            parts["sqlite" if "SQLite" in part.split("\n", 1)[0] else "postgres"] = f"\n# {part.rstrip()}\n"
    parts[engine] = f"\n{text}"
    RESULT.write_text("".join(parts.values()).lstrip("\n"), "utf-8")


if __name__ == "__main__":
    sys.exit(main())

"""Measures the SQL of a page by itself with pgbench on PostgreSQL, compared with a lookup by primary key."""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from .servers import ROOT

# Run with the settings of the service; prints one statement per line.
SCRIPT = """
import django; django.setup()
from django.db import connection
from django.test.utils import CaptureQueriesContext
from catalog.models import Listing, ListingIndex
from catalog.selectors.browse import ITEMS, list_listings
pk = ListingIndex.objects.order_by("newest_key").values_list("pk", flat=True)[0]
with CaptureQueriesContext(connection) as seen:
    list(Listing.objects.filter(pk=pk).values_list("id", "title"))
    for start in (0, {start}):
        # After the stored counts.
        list_listings(ITEMS, {{}}, limit=20, start=start)
print("\\n".join(query["sql"].replace("\\n", " ") for query in seen if "listingcount" not in query["sql"]))
"""


def latencies(env: Mapping[str, str], *, start: int, seconds: int) -> dict[str, float] | None:
    """Return the mean milliseconds of each statement, None if pgbench is not installed."""
    program = shutil.which("pgbench")
    if program is None:
        return None
    printed = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(start=start)], cwd=ROOT, env=dict(env), capture_output=True, text=True, check=True
    ).stdout
    names = ("a listing by primary key", "page 1", f"from item {start:,}")
    statements = zip(names, printed.strip().split("\n"), strict=True)
    return {name: _mean(program, env["DATABASE_URL"], sql, seconds) for name, sql in statements}


def _mean(program: str, database: str, sql: str, seconds: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "statement.sql"
        # Django logs UUIDs without quotes.
        script.write_text(re.sub(r"(?<!')\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b(?!')", r"'\g<0>'", sql) + ";\n", encoding="utf-8")
        command = [program, "-n", "-M", "prepared", "-c", "1", "-T", str(seconds), "-f", str(script), database]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    match = re.search(r"latency average = ([\d.]+) ms", printed)
    if match is None:
        raise SystemExit(f"pgbench printed no latency:\n{printed}")
    return float(match.group(1))

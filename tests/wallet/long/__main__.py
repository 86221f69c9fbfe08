"""What takes longer than a suite may: histories, races, events and kills of the wallet.

    uv run --group dev python -m tests.wallet.long histories --operations 1000000 --processes 2
    uv run --group dev python -m tests.wallet.long races --operations 50000
    uv run --group dev python -m tests.wallet.long events --events 5000
    uv run --group dev python -m tests.wallet.long kills --clients 200 --servers 20

Histories come in batches: `--seed 1` repeats the run, and goes on where it was stopped (a line for each batch is in `var/histories-1.jsonl`). A batch that
fails is named; `--batch` repeats it. Histories run on the database of `TEST_DATABASE_URL`, or on SQLite; races, events and kills on a private PostgreSQL that keeps its promises
(fsync on). After each run the ledger is reconciled; anything wrong ends with an error.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import django
from django.db import connection
from django.test.utils import setup_databases, setup_test_environment, teardown_databases
from rich.console import Console

from tests import ROOT, command_line
from tests.servers.migrated import begin, prepare_test_database
from tests.servers.postgres import Cluster

from .batches import record_of

# As a careful owner runs it, with checkpoints for crashes to meet.
DURABLE = ("fsync=on", "synchronous_commit=on", "full_page_writes=on", "checkpoint_timeout=30s")


def arguments() -> argparse.Namespace:
    parser = command_line("tests.wallet.long", __doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    histories = commands.add_parser("histories")
    histories.add_argument("--operations", type=int, default=1_000_000)
    histories.add_argument("--processes", type=int, default=1)
    histories.add_argument(
        "--batch-size", type=int, default=10, help="histories in a batch (10), at least 2 because the first can be empty"
    )
    histories.add_argument("--seed", type=int, default=1, help="the same seed is the same run, which goes on where it stopped")
    histories.add_argument("--batch", type=int, help="repeat this batch alone")
    histories.add_argument("--record", type=Path, default=ROOT / "var", help="the folder of the file with the batches that are done")
    histories.add_argument("--part", type=int, help=argparse.SUPPRESS)
    commands.add_parser("races").add_argument("--operations", type=int, default=50_000)
    commands.add_parser("events").add_argument("--events", type=int, default=5_000)
    kills = commands.add_parser("kills")
    kills.add_argument("--clients", type=int, default=200)
    kills.add_argument("--servers", type=int, default=20)
    return parser.parse_args()


def in_processes(options: argparse.Namespace) -> int:
    """Share the batches among processes; return 0 when all ended well."""
    # They share one migrated database of a PostgreSQL server.
    begin()
    command = [sys.executable, "-m", "tests.wallet.long", *sys.argv[1:], "--part"]
    children = [subprocess.Popen([*command, str(part)]) for part in range(options.processes)]
    failed = max(abs(child.wait()) for child in children)
    outcomes, console = record_of(options.seed, options.record).outcomes(), Console(width=160)
    for outcome, number in outcomes.most_common():
        console.print(f"{number / outcomes.total():7.2%} {outcome}")
    console.print(f"{outcomes.total():,} operations in all, seed {options.seed}: {'FAILED' if failed else 'no violation'}")
    return failed


def main() -> int:
    options = arguments()
    if options.command == "histories" and options.part is None and options.batch is None:
        return in_processes(options)
    cluster = None
    os.environ["DJANGO_SETTINGS_MODULE"] = "marketplace.settings.test"
    try:
        if options.command != "histories":
            cluster = Cluster(*DURABLE)
            cluster.start()
            os.environ["TEST_DATABASE_URL"] = cluster.address
        django.setup()
        setup_test_environment()
        if "TEST_DATABASE_URL" in os.environ:
            connection.settings_dict["TEST"]["NAME"] = f"test_long_{os.getpid()}"
        prepare_test_database(connection.settings_dict)
        made = setup_databases(verbosity=0, interactive=False, keepdb=connection.vendor == "sqlite")
        from . import runs  # noqa: PLC0415 - models load only once Django is set up

        try:
            return runs.run(options, cluster)
        finally:
            teardown_databases(made, verbosity=0)
    finally:
        if cluster is not None:
            cluster.remove()


if __name__ == "__main__":
    sys.exit(main())

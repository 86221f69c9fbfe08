"""What takes longer than a suite may: lives, races, events and kills of the wallet.

    uv run --group dev python -m tests.wallet.long lives --operations 1000000 --processes 2
    uv run --group dev python -m tests.wallet.long races --operations 50000
    uv run --group dev python -m tests.wallet.long events --events 5000
    uv run --group dev python -m tests.wallet.long kills --clients 200 --servers 20

Lives run on the database of `TEST_DATABASE_URL`, or on SQLite; races, events and kills on a private PostgreSQL that keeps its promises
(fsync on). After each run the books are reconciled; anything wrong ends with an error.
"""

import argparse
import os
import subprocess
import sys

import django
from django.db import connection
from django.test.utils import setup_databases, setup_test_environment, teardown_databases

from tests.servers.postgres import Cluster

# As a careful owner runs it, with checkpoints for crashes to meet.
DURABLE = ("fsync=on", "synchronous_commit=on", "full_page_writes=on", "checkpoint_timeout=30s")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.wallet.long", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    lives = commands.add_parser("lives")
    lives.add_argument("--operations", type=int, default=1_000_000)
    lives.add_argument("--processes", type=int, default=1)
    commands.add_parser("races").add_argument("--operations", type=int, default=50_000)
    commands.add_parser("events").add_argument("--events", type=int, default=5_000)
    kills = commands.add_parser("kills")
    kills.add_argument("--clients", type=int, default=200)
    kills.add_argument("--servers", type=int, default=20)
    return parser.parse_args()


def in_processes(count: int, operations: int) -> int:
    """Share the lives among processes; return 0 when all ended well."""
    command = [sys.executable, "-m", "tests.wallet.long", "lives", "--operations", str(-(-operations // count))]
    children = [subprocess.Popen(command) for _ in range(count)]
    return max(abs(child.wait()) for child in children)


def main() -> int:
    """Run one of them on a fresh database."""
    options = arguments()
    if options.command == "lives" and options.processes > 1:
        return in_processes(options.processes, options.operations)
    cluster = None
    os.environ["DJANGO_SETTINGS_MODULE"] = "marketplace.settings.test"
    try:
        if options.command != "lives":
            cluster = Cluster(*DURABLE)
            cluster.start()
            os.environ["TEST_DATABASE_URL"] = cluster.address
        django.setup()
        setup_test_environment()
        if "TEST_DATABASE_URL" in os.environ:
            connection.settings_dict["TEST"]["NAME"] = f"test_long_{os.getpid()}"
        made = setup_databases(verbosity=0, interactive=False)
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

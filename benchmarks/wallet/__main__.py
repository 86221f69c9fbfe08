"""`python -m benchmarks.wallet`: purchases per second over HTTP and by the service, compared with pgbench and the same statements.

The cluster is private and keeps its promises (fsync on). What pgbench runs is what the service was seen to send, with other ids. All in one run.
"""

import argparse
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

import django
from django.db import connection
from django.test.utils import setup_databases, setup_test_environment, teardown_databases

from tests.servers.migrated import prepare_test_database
from tests.servers.postgres import postgres

RESULT = Path(__file__).resolve().parent.parent / "wallet.md"
DURABLE = ("fsync=on", "synchronous_commit=on", "full_page_writes=on")


def main() -> int:
    """Measure, print the report and save it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wallet", description=__doc__)
    parser.add_argument("--seconds", type=int, default=10, help="duration of the measurement of each row (10)")
    parser.add_argument("--clients", type=int, default=8, help="processes of the service, connections of pgbench (8)")
    parser.add_argument("--no-file", action="store_true", help=f"print only, leave {RESULT.name} as it is")
    options = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "marketplace.settings.test"
    with postgres(*DURABLE) as address:
        os.environ["TEST_DATABASE_URL"] = address
        django.setup()
        setup_test_environment()
        prepare_test_database(connection.settings_dict)
        made = setup_databases(verbosity=0, interactive=False)
        from tests.eager import EagerBackend  # noqa: PLC0415 - models load only once Django is set up

        from .measure import measure  # noqa: PLC0415 - as above

        # A worker would send the mails.
        EagerBackend.on = False
        try:
            lines = list(measure(options.seconds, options.clients))
        finally:
            teardown_databases(made, verbosity=0)
    machine = f"{datetime.now(tz=UTC):%Y-%m-%d}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}"
    head = [
        "# Purchases a second",
        "",
        "Settings: PostgreSQL, Redis.",
        "",
        f"`python -m benchmarks.wallet`, {machine}, {options.clients} clients, {options.seconds} s a row.",
        "",
    ]
    text = "\n".join([*head, *lines, ""])
    print(text)
    if not options.no_file:
        RESULT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

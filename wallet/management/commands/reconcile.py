"""`manage.py reconcile`: check that ledger, balances, orders and licences agree."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from marketplace.jobs.commands import progress_bar
from marketplace.ui.formatting import money
from wallet.models import Order
from wallet.reconciliation import differences
from wallet.selectors import held_sums, unclaimed_sums

_LEDGER_DIGEST = re.compile(r"([1-9][0-9]{0,17}):([0-9a-f]{64})")


def ledger_digest(text: str) -> tuple[int, str]:
    """Parse a digest as `digest_ledger` prints it into its number and value."""
    match = _LEDGER_DIGEST.fullmatch(text)
    if match is None:
        message = "a digest is written NUMBER:DIGEST, as digest_ledger prints it"
        raise ArgumentTypeError(message)
    return int(match[1]), match[2]


class Command(BaseCommand):
    """Checks the consistency of the ledger."""

    help = (
        "Check the ledger against balances, orders, licences, payouts and its digests, and list amounts that are set aside. "
        "Changes nothing; fails if anything differs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the option for digests that were stored elsewhere."""
        parser.add_argument(
            "--digest", type=ledger_digest, action="append", default=[], help="A digest printed by digest_ledger; can be repeated."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print each difference, then the result."""
        count = 0
        orders = Order.objects.count()
        with progress_bar() as progress:
            task = progress.add_task("Orders", total=orders)
            for difference in differences(lambda done: progress.advance(task, done), dict(options["digest"])):
                self.stdout.write(difference)
                count += 1
        for name, sums in (("Set aside to be paid out", held_sums()), ("Refunds that nobody claimed", unclaimed_sums())):
            if sums:
                self.stdout.write(f"{name}: {', '.join(money(amount, currency) for currency, amount in sums.items())}.")
        if count:
            raise CommandError(f"Found {count} differences.")
        self.stdout.write(self.style.SUCCESS(f"Everything agrees: {orders} orders."))

"""`manage.py reconcile`: check that ledger, balances, orders and licences agree."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from marketplace.core.commands import progress_bar
from marketplace.core.wording import money
from wallet.models import Order
from wallet.reconciliation import differences
from wallet.selectors import held_sums, unclaimed_sums

_SEAL = re.compile(r"([1-9][0-9]{0,17}):([0-9a-f]{64})")


def seal(text: str) -> tuple[int, str]:
    """Return the number and the digest of a seal."""
    match = _SEAL.fullmatch(text)
    if match is None:
        message = "a seal is written NUMBER:DIGEST, as seal_ledger prints it"
        raise ArgumentTypeError(message)
    return int(match[1]), match[2]


class Command(BaseCommand):
    """Reconciles the money."""

    help = (
        "Check the ledger against balances, orders, licences, payouts and its seals, and list amounts that are set aside. "
        "Changes nothing; fails if anything differs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what was kept elsewhere."""
        parser.add_argument("--seal", type=seal, action="append", default=[], help="A seal printed by seal_ledger; can be repeated.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print each difference, then the verdict."""
        count = 0
        orders = Order.objects.count()
        with progress_bar() as progress:
            task = progress.add_task("Orders", total=orders)
            for difference in differences(lambda done: progress.advance(task, done), dict(options["seal"])):
                self.stdout.write(difference)
                count += 1
        for name, sums in (("Set aside to be paid out", held_sums()), ("Refunds that nobody claimed", unclaimed_sums())):
            if sums:
                self.stdout.write(f"{name}: {', '.join(money(amount, currency) for currency, amount in sums.items())}.")
        if count:
            raise CommandError(f"Found {count} differences.")
        self.stdout.write(self.style.SUCCESS(f"Everything agrees: {orders} orders."))

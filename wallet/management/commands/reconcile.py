"""`manage.py reconcile`: check that ledger, balances, orders and licences agree."""

import datetime as dt
import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Sum
from django.utils import timezone

from marketplace.ui.formatting import money
from marketplace.ui.progress import progress_bar
from wallet.errors import PaymentProviderUnavailable
from wallet.models import LedgerAccount, Order
from wallet.models.ledger import AccountKind
from wallet.providers import provider_named, providers
from wallet.reconciliation import differences
from wallet.top_up_differences import provider_differences
from wallet.unclaimed import unclaimed_sums

_LEDGER_DIGEST = re.compile(r"([1-9][0-9]{0,17}):([0-9a-f]{64})")


def ledger_digest(text: str) -> tuple[int, str]:
    """Parse a digest as `digest_ledger` prints it into its number and value."""
    match = _LEDGER_DIGEST.fullmatch(text)
    if match is None:
        message = "a digest is written NUMBER:DIGEST, as digest_ledger prints it"
        raise ArgumentTypeError(message)
    return int(match[1]), match[2]


class Command(BaseCommand):
    help = (
        "Check the ledger against balances, orders, licences, payouts, top-ups, invoices and its digests, and list amounts that are set aside. "
        "With --provider, compare a day's list of a payment provider with the ledger instead. Changes nothing; fails if anything differs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--digest", type=ledger_digest, action="append", default=[], help="A digest printed by digest_ledger; can be repeated."
        )
        parser.add_argument("--provider", metavar="NAME", help="The payment provider whose list is compared, such as stripe.")
        parser.add_argument(
            "--day", type=dt.date.fromisoformat, help="The day of the list in UTC, such as 2026-11-22; yesterday by default."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["provider"] is not None:
            self._compare(options["provider"], options["day"] or timezone.now().date() - dt.timedelta(days=1))
            return
        if options["day"] is not None:
            raise CommandError("--day is the day of a provider's list; give --provider too.")
        kept = dict(options["digest"])
        if len(kept) < len(set(options["digest"])):
            raise CommandError(
                "--digest was given twice with one number and different digests: one of them was not printed by digest_ledger."
            )
        count = 0
        orders = Order.objects.count()
        with progress_bar() as progress:
            task = progress.add_task("Orders", total=orders)
            for difference in differences(lambda done: progress.advance(task, done), kept):
                self.stdout.write(difference)
                count += 1
        held = LedgerAccount.objects.filter(kind=AccountKind.HELD, balance_minor__gt=0).order_by("currency").values("currency")
        held_sums = dict(held.annotate(total=Sum("balance_minor")).values_list("currency", "total"))
        for name, sums in (("Set aside to be paid out", held_sums), ("Refunds to pay out", unclaimed_sums())):
            if sums:
                self.stdout.write(f"{name}: {', '.join(money(amount, currency) for currency, amount in sums.items())}.")
        if count:
            raise CommandError(f"Found {count} differences. What to do: {settings.BASE_URL}/docs/operations#when-reconcile-fails")
        self.stdout.write(self.style.SUCCESS(f"Everything agrees: {orders} orders."))

    def _compare(self, name: str, day: dt.date) -> None:
        """Print the differences between a provider's list of a day and the ledger."""
        provider = provider_named(name)
        if provider is None:
            known = ", ".join(providers()) or "none"
            raise CommandError(f"{name} is not set up; set up: {known}.")
        if day > timezone.now().date():
            raise CommandError(f"{day} has not begun yet (UTC).")
        try:
            found = list(provider_differences(provider, day))
        except PaymentProviderUnavailable as problem:
            raise CommandError(
                f"{provider.label} does not answer, or refuses the key. Try again later, or check what the key may read."
            ) from problem
        for difference in found:
            self.stdout.write(difference)
        if found:
            raise CommandError(f"Found {len(found)} differences.")
        self.stdout.write(self.style.SUCCESS(f"{provider.label} and the ledger agree on {day}."))

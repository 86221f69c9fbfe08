"""`manage.py reconcile`: check that ledger, balances, orders and licences agree."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import Progress

from wallet.models import Order
from wallet.reconciliation import differences


class Command(BaseCommand):
    """Reconciles the money."""

    help = "Check the ledger against balances, orders and licences. Changes nothing; exits with an error on any difference."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print each difference, then the verdict."""
        count = 0
        orders = Order.objects.count()
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("Orders", total=orders)
            for difference in differences(lambda done: progress.advance(task, done)):
                self.stdout.write(difference)
                count += 1
        if count:
            raise CommandError(f"{count} differences.")
        self.stdout.write(self.style.SUCCESS(f"Everything agrees: {orders} orders."))

"""`manage.py issue_invoices`: number the invoices and credit notes that are due."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ...services.invoices import InvoiceNumbersUsedUp, issue_invoices


class Command(BaseCommand):
    help = (
        "Issue an invoice for each sale and a credit note for each refund and returned card payment, numbered without gaps in the order of the "
        "ledger. The worker runs this twice a minute. Safe to interrupt, to repeat and to run in parallel and beside sales."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="Search all sales, not only recent ones: for those that reconcile reports.")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            issued = issue_invoices(everything=options["all"])
        except InvoiceNumbersUsedUp as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Issued {issued} documents.")

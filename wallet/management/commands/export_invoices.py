"""`manage.py export_invoices`: the invoices of a month as CSV."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.models import Store

from ...invoice_csv import invoice_csv_lines, parse_month
from ...selectors import invoices_of_month


class Command(BaseCommand):
    help = (
        "List the invoices and credit notes of a month as CSV, by seller in the order of their numbers. Credit notes have negative amounts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--month", required=True, help="The month, such as 2026-11.")
        parser.add_argument("--vendor", metavar="STORE", help="Only the sales of the store with this slug.")
        parser.add_argument("--csv", metavar="FILE", type=Path, help="Write the list to this file instead of printing it.")

    def handle(self, *_args: Any, **options: Any) -> None:
        month, path = parse_month(options["month"]), options["csv"]
        if month is None:
            raise CommandError(f"{options['month']!r} is not a month; use one such as 2026-11.")
        store = Store.objects.select_related("owner").filter(slug=options["vendor"]).first()
        if options["vendor"] is not None and store is None:
            raise CommandError(f"There is no store {options['vendor']}.")
        lines = invoice_csv_lines(invoices_of_month(month, vendor=None if store is None else store.owner).iterator(chunk_size=500))
        if path is None:
            for line in lines:
                self.stdout.write(line, ending="")
            return
        try:
            with path.open("w", encoding="utf-8", newline="") as file:
                file.writelines(lines)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from error

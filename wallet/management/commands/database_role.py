"""`manage.py database_role`: print grants for a PostgreSQL role that can run the service but not change journals."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from wallet.roles import grants


class Command(BaseCommand):
    help = (
        "Print the SQL that grants a PostgreSQL role exactly what the service needs. Journals, transfers, digests, invoices and the audit log "
        "can only be inserted; of accounts, payouts and batches only the columns that the service changes can be updated. Create the role "
        "yourself, and run the SQL as the owner of the tables after each migrate."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("role", help="The role that the service connects as, such as shop_app.")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            statements = grants(options["role"])
        except ValueError as error:
            raise CommandError(str(error)) from error
        self.stdout.write("".join(f"{statement};\n" for statement in statements), ending="")

"""`manage.py database_role`: print the SQL of a PostgreSQL role that can run the service and cannot rewrite the ledger."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from wallet.roles import grants


class Command(BaseCommand):
    """Prints grants."""

    help = (
        "Print the SQL that gives a PostgreSQL role what the service needs and no more: the ledger and the audit log can only grow. "
        "Create the role yourself, and run the SQL as the tables' owner after each migrate."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the role."""
        parser.add_argument("role", help="The role as which the service connects, such as shop_app.")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print it."""
        try:
            statements = grants(options["role"])
        except ValueError as error:
            raise CommandError(str(error)) from error
        self.stdout.write("".join(f"{statement};\n" for statement in statements), ending="")

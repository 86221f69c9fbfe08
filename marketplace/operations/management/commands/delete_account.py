"""`manage.py delete_account`: delete an account permanently."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.errors import Problem


class Command(BaseCommand):
    help = (
        "Delete an account permanently, at its owner's request. Name, email addresses, applications and credentials are deleted; "
        "orders, licences, downloads and the ledger are kept without the name, invoices with the name and address on them, apps with their names. Refused while something blocks it, such as "
        "a balance; the reasons are printed. With --dry-run, only report whether the account can be deleted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--reason", required=True, help="for the audit log")
        parser.add_argument("--dry-run", action="store_true", help="change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email=options["email"].lower()).first()
        if user is None:
            raise CommandError(f"There is no user {options['email']}.")
        try:
            with transaction.atomic():
                delete_account(user=user, reason=options["reason"], actor=None)
                transaction.set_rollback(options["dry_run"])
        except Problem as problem:
            raise CommandError(problem.message) from problem
        self.stdout.write(
            "The account can be deleted."
            if options["dry_run"]
            else f"The account was deleted. Its remaining records have the id {user.pk}."
        )

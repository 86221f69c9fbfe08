"""`manage.py credit_wallet`: put credit into a user's wallet, as a ledger transfer with a reason."""

from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from marketplace.accounts.models import User
from marketplace.core.errors import Problem
from marketplace.core.money import to_minor, to_number
from wallet.models.currencies import CURRENCIES
from wallet.selectors import wallet_of
from wallet.services.funding import credit_wallet


class Command(BaseCommand):
    """Credits a wallet."""

    help = "Add credit to a user's wallet. The reason is stored in the ledger; credit can only be taken back by another transfer."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare whose wallet, how much and why."""
        parser.add_argument("email", help="The user's e-mail address.")
        parser.add_argument("amount", help="An amount with at most two decimals, such as 499.00.")
        parser.add_argument("currency", choices=CURRENCIES, help="The wallet to credit; nothing is converted.")
        parser.add_argument("--reason", required=True, help="The reason, stored in the ledger.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Credit the wallet and say what it holds now."""
        user = User.objects.filter(email=options["email"].strip().lower()).first()
        if user is None:
            raise CommandError(f"No user has the e-mail address {options['email']}.")
        currency = options["currency"]
        try:
            amount_minor = to_minor(Decimal(options["amount"]))
            credit_wallet(user=user, currency=currency, amount_minor=amount_minor, reason=options["reason"], actor=None)
        except (InvalidOperation, ValueError, OverflowError) as error:
            raise CommandError(f"{options['amount']!r} is not an amount; use 499 or 499.00.") from error
        except Problem as problem:
            raise CommandError(problem.message) from problem
        balance = to_number(wallet_of(user).balance_minor(currency))
        self.stdout.write(f"{user.email} now holds {balance:.2f} {currency}.")

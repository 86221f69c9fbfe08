"""`manage.py credit_wallet`: credit a user's wallet by a ledger transfer with a reason."""

from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from marketplace.accounts.models import User
from marketplace.core.errors import Problem
from marketplace.core.money import to_minor, to_number

from ...errors import AlreadyCredited
from ...models.quotes import CURRENCIES
from ...selectors import wallet_of
from ...services.funding import DEFAULT_SOURCE, Payment, credit_wallet


class Command(BaseCommand):
    help = (
        "Add credit to a user's wallet. The reason is stored in the ledger. Credit cannot be taken back: check amount and address first. "
        "With --reference a payment is credited once: the same command can be run again, and then changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="The user's email address.")
        parser.add_argument("amount", help="An amount with at most two decimals, such as 499.00.")
        parser.add_argument("currency", choices=CURRENCIES, help="The wallet to credit; nothing is converted.")
        parser.add_argument("--reason", required=True, help="The reason, stored in the ledger.")
        parser.add_argument("--reference", help="The number of the payment that is credited, such as that of a bank transfer.")
        parser.add_argument(
            "--source", help=f"Where that number comes from, if not from your {DEFAULT_SOURCE}: another bank, a payment service."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email=options["email"].strip().lower()).first()
        if user is None:
            raise CommandError(f"No user has the email address {options['email']}.")
        if options["source"] is not None and options["reference"] is None:
            raise CommandError("--source says where a --reference comes from; give both.")
        currency = options["currency"]
        payment = None if options["reference"] is None else Payment(options["reference"], options["source"] or DEFAULT_SOURCE)
        try:
            amount_minor = to_minor(Decimal(options["amount"]))
            credit_wallet(user=user, currency=currency, amount_minor=amount_minor, reason=options["reason"], actor=None, payment=payment)
        except (ArithmeticError, ValueError) as error:
            raise CommandError(f"{options['amount']!r} is not an amount; use 499 or 499.00.") from error
        except AlreadyCredited as problem:
            self.stdout.write(f"Already credited: {problem.message}")
        except Problem as problem:
            raise CommandError(problem.message) from problem
        balance = to_number(wallet_of(user).balance_minor(currency))
        self.stdout.write(f"{user.email} now holds {balance:.2f} {currency}.")

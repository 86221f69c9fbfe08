"""`manage.py payout`: record payouts of vendors' earnings in the ledger, and list them for the bank."""

import csv
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from marketplace.core.errors import Problem
from marketplace.core.money import to_minor
from marketplace.jobs.commands import progress_bar
from wallet.selectors import vendor_accounts

from ...models import LedgerAccount, VendorPayout
from ...models.quotes import CURRENCIES
from ...services.vendor_payouts import DuePayout, WithheldPayout, check_run, due_payouts, pay_out
from ...spreadsheets import HEADER, Line, figure, line_of, store_of

NOT_LISTED, NOT_DONE = 1, 2


class Command(BaseCommand):
    """Pays vendors."""

    help = (
        "Record payouts of what vendors have earned and list them; the list is what you transfer to them. Each vendor is paid once per "
        "run and currency, so repeat the same command to finish an interrupted run. Vendors without a payout method or approval are "
        "listed and keep their earnings. Exit status: 0 everything due is paid, 1 the list could not be written, 2 nothing was done."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("--run", required=True, help="A name for the run, such as 2026-11. A new name starts a new run.")
        parser.add_argument("--currency", choices=CURRENCIES, help="Only earnings in this currency.")
        parser.add_argument("--minimum", default="0.01", help="Skip balances below this amount (default 0.01).")
        parser.add_argument("--vendor", metavar="STORE", help="Only pay the store with this slug.")
        parser.add_argument("--dry-run", action="store_true", help="List what is due without paying.")
        parser.add_argument("--csv", metavar="FILE", type=Path, help="Write the list to this file instead of printing it.")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Record the payouts, list them, and print the sums."""
        run, dry_run = options["run"], options["dry_run"]
        minimum = _minimum(options["minimum"])
        accounts = vendor_accounts(currency=options["currency"], store_slug=options["vendor"])
        try:
            check_run(run=run)
        except Problem as problem:
            raise CommandError(problem.message, returncode=NOT_DONE) from problem
        if options["vendor"] is not None and not accounts.exists():
            raise CommandError(f"No store {options['vendor']} has earned anything.", returncode=NOT_DONE)
        # Nothing is recorded if the list cannot be written.
        if options["csv"] is not None:
            _ensure_writable(options["csv"])
        lines: list[Line] = []
        held: Counter[str] = Counter()
        for account, outcome in _outcomes(list(accounts), run, minimum, dry_run=dry_run):
            if isinstance(outcome, WithheldPayout):
                held[account.currency] += outcome.amount_minor
                if outcome.amount_minor:
                    self.stdout.write(f"held: {store_of(account)}, {figure(outcome.amount_minor)} {account.currency}, {outcome.why}")
            else:
                lines.append(_line(account, outcome))
        self._list(lines, options["csv"])
        paid: Counter[str] = Counter()
        for line in lines:
            paid[line.currency] += line.amount_minor
        verb = "due" if dry_run else "paid"
        self.stdout.write(f"Run {run}: {len(lines)} payouts {verb}, {_sums(paid)}; not {verb}: {_sums(held)}.")

    def _list(self, lines: Sequence[Line], path: Path | None) -> None:
        if path is None:
            rows = csv.writer(self.stdout, lineterminator="\n")
            rows.writerows([HEADER, *(line.cells() for line in lines)])
            return
        try:
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([HEADER, *(line.cells() for line in lines)])
        except OSError as error:
            sentence = f"The list could not be written to {path}: {error.strerror}. Run the same command again: nobody is paid twice, and all payouts are listed."
            raise CommandError(sentence, returncode=NOT_LISTED) from error


def _outcomes(
    accounts: Sequence[LedgerAccount], run: str, minimum_minor: int, *, dry_run: bool
) -> Iterator[tuple[LedgerAccount, VendorPayout | DuePayout | WithheldPayout]]:
    settle = due_payouts if dry_run else pay_out
    with progress_bar() as progress:
        for account in progress.track(accounts, description="Vendors"):
            yield account, settle(account=account, run=run, minimum_minor=minimum_minor)


def _line(account: LedgerAccount, outcome: VendorPayout | DuePayout) -> Line:
    if isinstance(outcome, DuePayout):
        vendor = "" if account.owner is None else account.owner.email
        return Line(vendor, store_of(account), outcome.payout_method, account.currency, outcome.amount_minor, "")
    outcome.account = account
    return line_of(outcome)


def _minimum(text: str) -> int:
    try:
        minimum = to_minor(Decimal(text))
    except (InvalidOperation, ValueError, OverflowError) as error:
        raise CommandError(f"{text!r} is not an amount; use 50 or 50.00.", returncode=NOT_DONE) from error
    if minimum < 1:
        raise CommandError("--minimum must be at least 0.01.", returncode=NOT_DONE)
    return minimum


def _ensure_writable(path: Path) -> None:
    try:
        with path.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}. Nobody was paid.", returncode=NOT_DONE) from error


def _sums(amounts: Counter[str]) -> str:
    return ", ".join(f"{figure(amounts[code])} {code}" for code in CURRENCIES)

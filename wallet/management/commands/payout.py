"""`manage.py payout`: prepare payouts to vendors, export them for the bank, and record what the bank did."""

import os
from argparse import ArgumentParser
from collections import Counter
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from marketplace.core.database import row_by_id
from marketplace.core.errors import Problem
from marketplace.core.money import Currency, to_minor
from marketplace.ui.progress import progress_bar

from ...models import PayoutBatch, VendorPayout
from ...models.quotes import CURRENCIES
from ...models.vendor_payouts import BatchStatus, PayoutStatus
from ...payout_files import paying_account, payouts_in_file
from ...selectors import vendor_accounts, vendor_payouts
from ...services.due_payouts import DuePayout, SkippedPayout, due_payout
from ...services.vendor_payouts import (
    bounce_payout,
    cancel_batch,
    cancel_payout,
    download_bank_file,
    export_batch,
    mark_batch_paid,
    mark_payout_paid,
    new_batch,
    open_batch,
    prepare_payout,
)
from ...spreadsheets import amount_text, store_slug_of

NOT_WRITTEN, NOT_DONE = 1, 2


class Command(BaseCommand):
    help = (
        "Pay vendors what they have earned: prepare a run, export it as a file for the bank, and record each payout as paid or bounced. "
        "Each vendor is paid once per run and currency, so repeat prepare to finish an interrupted run. Vendors who cannot be paid are "
        "listed and keep their earnings. Exit status: 0 done, 1 the file could not be written, 2 nothing was done."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        steps = parser.add_subparsers(dest="step", required=True, parser_class=type(parser))
        prepare = steps.add_parser("prepare", help="Take what is due out of the vendors' balances.")
        _add_run(prepare, "A name for the run, such as 2026-11. A new name starts a new run.")
        prepare.add_argument("--minimum", help=f"Skip balances below this amount (default {settings.PAYOUT_MINIMUM}).")
        prepare.add_argument("--vendor", metavar="STORE", help="Only pay the store with this slug.")
        prepare.add_argument(
            "--euro-rate", metavar="RATE", help="Pay in EUR by SEPA; RATE is how many EUR one unit of the currency is worth."
        )
        prepare.add_argument("--dry-run", action="store_true", help="List what is due without preparing it.")
        export = steps.add_parser("export", help="Write the file for the bank. It has vendors' bank accounts: only you can read it.")
        _add_run(export)
        export.add_argument("--file", required=True, type=Path, help="The file to write; it must not exist.")
        export.add_argument("--again", action="store_true", help="Write the file of a run that was exported before.")
        paid = steps.add_parser("paid", help="Record the payouts that the bank made.")
        _add_run(paid)
        paid.add_argument("--payout", metavar="ID", help="Only this payout.")
        bounced = steps.add_parser("bounced", help="Record that the bank returned a payout; the vendor gets the amount back.")
        bounced.add_argument("--payout", metavar="ID", required=True, help="The payout.")
        bounced.add_argument("--reason", required=True, help="What the bank said; it is mailed to the vendor.")
        cancel = steps.add_parser("cancel", help="Cancel a run, or one payout of it, before it is exported.")
        _add_run(cancel)
        cancel.add_argument("--payout", metavar="ID", help="Only this payout.")
        cancel.add_argument("--reason", required=True, help="The reason, for the ledger.")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['step']}")(options)
        except Problem as problem:
            raise CommandError(f"{problem.title}. {problem.message}", returncode=NOT_DONE) from problem

    def _prepare(self, options: dict[str, Any]) -> None:
        run, currency, dry_run = options["run"], options["currency"], options["dry_run"]
        minimum = _minor(options["minimum"] or str(settings.PAYOUT_MINIMUM), "--minimum")
        rate = None if options["euro_rate"] is None else _decimal(options["euro_rate"], "--euro-rate")
        accounts = list(vendor_accounts(currency=currency, store_slug=options["vendor"]))
        if options["vendor"] is not None and not accounts:
            raise CommandError(f"No store {options['vendor']} has earned anything in {currency}.", returncode=NOT_DONE)
        if rate is not None:
            paying_account()
        terms = {"run": run, "currency": currency, "euro_rate": rate}
        batch = new_batch(**terms) if dry_run else open_batch(**terms, actor=None)
        due, skipped = Counter[str](), Counter[str]()
        with progress_bar() as progress:
            for account in progress.track(accounts, description="Vendors"):
                outcome: DuePayout | VendorPayout | SkippedPayout
                if dry_run:
                    outcome = due_payout(account=account, batch=batch, minimum_minor=minimum)
                else:
                    outcome = prepare_payout(account=account, batch=batch, minimum_minor=minimum, actor=None)
                why = _why_not_paid(outcome)
                sums = skipped if why else due
                sums["payouts"] += 1
                sums["minor"] += outcome.amount_minor
                if outcome.amount_minor:
                    what = f"{store_slug_of(account)}, {amount_text(outcome.amount_minor)} {currency}"
                    self.stdout.write(f"not paid: {what}, {why}" if why else f"due: {what}")
        self.stdout.write(
            f"Run {run}: {due['payouts']} payouts of {amount_text(due['minor'])} {currency}; not paid: {amount_text(skipped['minor'])} {currency}."
        )
        if dry_run:
            return
        # Also those of other vendors, if this was for one.
        if batch.payouts.filter(status=PayoutStatus.PREPARED).exists():
            self.stdout.write(f"Next: payout export --run {run} --currency {currency} --file FILE")
        else:
            # An open run keeps others from being prepared.
            self.stdout.write(f"Next: prepare it again later, or payout cancel --run {run} --currency {currency} --reason REASON")

    def _export(self, options: dict[str, Any]) -> None:
        batch, path = _batch(options), options["file"]
        if batch.transfer_currency == Currency.EUR:
            paying_account()
        descriptor = _new_file(path)
        done = False
        try:
            if not (options["again"] and batch.status == BatchStatus.EXPORTED):
                batch = export_batch(batch=batch, actor=None)
            content = download_bank_file(batch=batch, actor=None).content
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.write(content)
            done = True
        except OSError as error:
            sentence = (
                f"{path} could not be written: {error.strerror}. The run is exported: repeat the command with --again and another file."
            )
            raise CommandError(sentence, returncode=NOT_WRITTEN) from error
        finally:
            os.close(descriptor)
            if not done:
                path.unlink(missing_ok=True)
        made = payouts_in_file(batch)
        total = amount_text(sum(batch.transfer_minor(payout.amount_minor) for payout in made))
        self.stdout.write(f"{path}: {len(made)} payouts of {total} {batch.transfer_currency}. Give it to the bank, then delete it.")
        self.stdout.write(f"Next: payout paid --run {batch.run} --currency {batch.currency}")

    def _paid(self, options: dict[str, Any]) -> None:
        if options["payout"] is not None:
            mark_payout_paid(payout=_payout(options), actor=None)
            self.stdout.write("1 payout is paid.")
        else:
            self.stdout.write(f"{mark_batch_paid(batch=_batch(options), actor=None)} payouts are paid.")

    def _bounced(self, options: dict[str, Any]) -> None:
        payout = bounce_payout(payout=_payout(options), reason=options["reason"], actor=None)
        self.stdout.write(
            f"{amount_text(payout.amount_minor)} {payout.account.currency} is in the balance of {store_slug_of(payout.account)} again."
        )

    def _cancel(self, options: dict[str, Any]) -> None:
        if options["payout"] is not None:
            cancel_payout(payout=_payout(options), reason=options["reason"], actor=None)
            self.stdout.write("1 payout is cancelled.")
        else:
            batch = cancel_batch(batch=_batch(options), reason=options["reason"], actor=None)
            self.stdout.write(f"Run {batch.run} in {batch.currency} is cancelled.")


def _why_not_paid(outcome: DuePayout | VendorPayout | SkippedPayout) -> str:
    """Return why a run does not pay a vendor, empty if it does."""
    if isinstance(outcome, SkippedPayout):
        return outcome.reason.label
    return "cancelled in this run" if isinstance(outcome, VendorPayout) and outcome.status == PayoutStatus.CANCELLED else ""


def _add_run(parser: ArgumentParser, run_help: str = "The name of the run.") -> None:
    parser.add_argument("--run", required=True, help=run_help)
    parser.add_argument("--currency", required=True, choices=CURRENCIES, help="The currency of the earnings.")


def _batch(options: dict[str, Any]) -> PayoutBatch:
    batch = PayoutBatch.objects.filter(run=options["run"], currency=options["currency"]).first()
    if batch is None:
        raise CommandError(f"There is no run {options['run']} in {options['currency']}; prepare it first.", returncode=NOT_DONE)
    return batch


def _payout(options: dict[str, Any]) -> VendorPayout:
    of_run = {"batch__run": options["run"], "batch__currency": options["currency"]} if "run" in options else {}
    payout = row_by_id(vendor_payouts().filter(**of_run), options["payout"])
    if payout is None:
        raise CommandError(f"There is no payout {options['payout']}.", returncode=NOT_DONE)
    return payout


def _new_file(path: Path) -> int:
    """Return the descriptor of a new file that only its owner can read."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}. Nothing was exported.", returncode=NOT_DONE) from error


def _decimal(text: str, option: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise CommandError(f"{option}: {text!r} is not a number.", returncode=NOT_DONE) from error


def _minor(text: str, option: str) -> int:
    try:
        minor = to_minor(_decimal(text, option))
    except (ArithmeticError, ValueError) as error:
        raise CommandError(f"{option}: {text!r} is not an amount; use 50 or 50.00.", returncode=NOT_DONE) from error
    if minor < 1:
        raise CommandError(f"{option} must be at least 0.01.", returncode=NOT_DONE)
    return minor

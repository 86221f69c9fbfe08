"""`manage.py purge`: delete what has expired."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import Model, QuerySet
from django.utils import timezone
from django_tasks.base import TaskResultStatus

from catalog.services.discounts import expired_discounts
from developers import purging
from marketplace.core.idempotency import expired_responses
from marketplace.core.transitions import lock
from marketplace.jobs.models import Job
from marketplace.operations.models import AccountExport
from marketplace.ui.progress import progress_bar
from vendors.services.uploads import expired_uploads
from wallet.services.provider_events import unmatched_events
from wallet.services.quotes import expired_quotes
from wallet.services.vendor_payouts import expired_bank_accounts
from wallet.services.wallet_payouts import payouts_with_expired_details

BATCH_ROWS = 500
DONE_JOBS_KEPT, FAILED_JOBS_KEPT = timedelta(days=2), timedelta(days=60)


def _jobs() -> purging.Expired:
    now = timezone.now()
    done = Job.objects.filter(status=TaskResultStatus.SUCCESSFUL, finished_at__lt=now - DONE_JOBS_KEPT)
    return {
        "finished jobs": done,
        "failed jobs": Job.objects.filter(status=TaskResultStatus.FAILED, finished_at__lt=now - FAILED_JOBS_KEPT),
    }


# What each part deletes.
PARTS: Mapping[str, Callable[[], purging.Expired]] = {
    "sessions": lambda: {"sessions": Session.objects.filter(expire_date__lt=timezone.now())},
    "tokens": purging.expired_tokens,
    "wallet": lambda: {"expired quotes": expired_quotes(), "saved responses": expired_responses(), "unmatched events": unmatched_events()},
    "discounts": lambda: {"old discounts": expired_discounts()},
    "usage": purging.expired_usage,
    "webhooks": purging.expired_events,
    "jobs": _jobs,
    "uploads": lambda: {"abandoned uploads": expired_uploads()},
    "exports": lambda: {"exports": AccountExport.objects.filter(expires_at__lte=timezone.now())},
}


class Command(BaseCommand):
    help = (
        f"Delete expired rows: {', '.join(PARTS)}; with wallet, the bank details of old wallet payouts and the former bank accounts of vendors are erased too. Safe to run in parallel and to "
        "interrupt. The worker runs this daily. With --dry-run, rows are counted, not deleted. Parts of abandoned uploads are deleted with their rows, other files by sweep_objects."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("parts", nargs="*", metavar="PART", help="what to delete (default: all)")
        parser.add_argument("--dry-run", action="store_true", help="count, delete nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        dry_run, parts = options["dry_run"], options["parts"] or list(PARTS)
        if unknown := set(parts) - PARTS.keys():
            raise CommandError(f"There is no {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}.")
        for part in parts:
            expired = PARTS[part]()
            counts = {name: rows.count() for name, rows in expired.items()}
            if not dry_run:
                counts = _delete(expired, counts)
            self.stdout.write(f"{', '.join(f'{count} {name}' for name, count in counts.items())} {'would be ' if dry_run else ''}deleted.")
            if part == "wallet":
                self._erase(payouts_with_expired_details(), "payment_details", "Bank details of {} payouts", dry_run=dry_run)
                self._erase(expired_bank_accounts(), "encrypted", "{} bank accounts of vendors", dry_run=dry_run)

    def _erase(self, rows: QuerySet[Any], column: str, what: str, *, dry_run: bool) -> None:
        """Empty a column row by row: a deletion of an account may lock several of these rows in another order."""
        pks = list(rows.values_list("pk", flat=True))
        count = len(pks) if dry_run else sum(rows.filter(pk=pk).update(**{column: ""}) for pk in pks)
        self.stdout.write(f"{what.format(count)} {'would be ' if dry_run else ''}erased.")


def _delete(expired: purging.Expired, totals: Mapping[str, int]) -> dict[str, int]:
    """Delete the rows of a part; return how many there were."""
    counts = {}
    lock_model = next(iter(expired.values())).model
    with progress_bar() as progress:
        for name, rows in expired.items():
            task = progress.add_task(name.capitalize(), total=totals[name])
            counts[name] = 0
            for count in _delete_in_batches(rows, lock_model):
                counts[name] += count
                progress.advance(task, count)
    return counts


def _delete_in_batches(rows: QuerySet[Any], lock_model: type[Model]) -> Iterator[int]:
    """Delete rows in short transactions, so that locks are held briefly; yield the number of rows of each batch.

    Concurrent runs alternate batch by batch, because deleting the same rows in different orders would deadlock.
    """
    content_type = ContentType.objects.get_for_model(lock_model)
    while True:
        with transaction.atomic():
            lock(ContentType.objects.all(), pk=content_type.pk)
            ids = list(rows.order_by().values_list("pk", flat=True)[:BATCH_ROWS])
            # The condition is applied again: a row changed in the meantime, such as a restarted job, stays.
            rows.filter(pk__in=ids).delete()
        if ids:
            yield len(ids)
        if len(ids) < BATCH_ROWS:
            return

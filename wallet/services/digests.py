"""Adds digests to the ledger in batches, without blocking sales.

The same transaction adds the batch's amounts to the balances that only digests update, such as those of vendors. A journal is covered once,
so it is added once; earnings are that balance plus the few journals that are not covered yet.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from ..digests import chained_digest, journal_digests
from ..models import CoveredJournal, Journal, LedgerAccount, LedgerDigest, Transfer
from ..models.ledger import BOUNDED_KINDS

BATCH = 500
# Journals are covered in order once they are this old; those that commit even later are covered by a later digest.
GRACE = timedelta(minutes=5)


def digest_ledger(*, until: datetime) -> Iterator[LedgerDigest]:
    """Cover new journals up to a time batch by batch, and yield each new digest."""
    after: Journal | None = None
    while True:
        uncovered = uncovered_journals(until=until)
        batch = list((uncovered if after is None else uncovered.filter(pk__gt=after.pk))[:BATCH])
        if not batch:
            return
        ledger_digest = _add_digest(batch)
        if ledger_digest is not None:
            after = batch[-1]
            yield ledger_digest


def uncovered_journals(*, until: datetime) -> QuerySet[Journal]:
    """Return the journals up to a time that are not covered by a digest, oldest first."""
    return Journal.objects.filter(covered__isnull=True, at__lte=until).order_by("id")


def _add_digest(batch: list[Journal]) -> LedgerDigest | None:
    """Add the next digest; return None if a concurrent run added it first."""
    last = LedgerDigest.objects.order_by("-number").first()
    now = timezone.now()
    number, previous = (1, "") if last is None else (last.number + 1, last.digest)
    try:
        with transaction.atomic():
            digests = journal_digests([journal.pk for journal in batch])
            members = [(journal.pk, digests[journal.pk]) for journal in batch]
            digest = chained_digest(number=number, previous_digest=previous, created_at=now, members=members)
            # Concurrent runs compete for the number: the second waits here for the first.
            ledger_digest = LedgerDigest.objects.create(
                number=number, previous_digest=previous, digest=digest, journals=len(members), created_at=now
            )
            CoveredJournal.objects.bulk_create(
                CoveredJournal(journal_id=journal_id, ledger_digest=ledger_digest, position=position, digest=digest_of_one)
                for position, (journal_id, digest_of_one) in enumerate(members)
            )
            _update_balances([journal.pk for journal in batch])
    except IntegrityError:
        if LedgerDigest.objects.filter(number=number).exists() or CoveredJournal.objects.filter(journal__in=batch).exists():
            return None
        raise
    return ledger_digest


def _update_balances(journal_ids: Sequence[Any]) -> None:
    """Add the amounts of journals to the balances that only digests update."""
    nets: Counter[Any] = Counter()
    rows = Transfer.objects.filter(journal__in=journal_ids).order_by()
    for debit_id, debited, credit_id, credited, amount in rows.values_list(
        "debit_id", "debit__kind", "credit_id", "credit__kind", "amount_minor"
    ):
        if debited not in BOUNDED_KINDS:
            nets[debit_id] -= amount
        if credited not in BOUNDED_KINDS:
            nets[credit_id] += amount
    # In a fixed order, to avoid deadlocks.
    for account_id, net in sorted(nets.items()):
        LedgerAccount.objects.filter(pk=account_id).update(balance_minor=F("balance_minor") + net)

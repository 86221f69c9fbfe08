"""Seals the ledger in batches, concurrently with sales, which never wait for it.

What a batch moved is added to the balances of vendors and of the platform in the same transaction. A journal is sealed once, so
it is added once, and what is earned can be told from that balance and the little that is not sealed yet.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from ..models import Journal, LedgerAccount, LedgerSeal, SealedJournal, Transfer
from ..models.ledger import BOUNDED_KINDS
from ..seals import journal_digests, seal_digest

BATCH = 500
# Most of what happens at once is sealed together, in its order; what commits even later comes under a later seal.
GRACE = timedelta(minutes=5)


def seal_ledger(*, until: datetime | None = None) -> Iterator[LedgerSeal]:
    """Seal what is under no seal yet, batch by batch, and yield each seal that was set.

    Args:
        until: Only what is not younger; what is older than the grace when None.
    """
    until = timezone.now() - GRACE if until is None else until
    after: Journal | None = None
    while True:
        unsealed = unsealed_journals(until=until)
        batch = list((unsealed if after is None else unsealed.filter(pk__gt=after.pk))[:BATCH])
        if not batch:
            return
        seal = _seal(batch)
        if seal is not None:
            after = batch[-1]
            yield seal


def unsealed_journals(*, until: datetime) -> QuerySet[Journal]:
    """Return the journals under no seal, as old as that or older, oldest first."""
    return Journal.objects.filter(sealed__isnull=True, at__lte=until).order_by("id")


def _seal(batch: list[Journal]) -> LedgerSeal | None:
    """Set the next seal; None when another sealer was quicker, and all must be read again."""
    last = LedgerSeal.objects.order_by("-number").first()
    now = timezone.now()
    number, previous = (1, "") if last is None else (last.number + 1, last.digest)
    try:
        with transaction.atomic():
            digests = journal_digests([journal.pk for journal in batch])
            members = [(journal.pk, digests[journal.pk]) for journal in batch]
            digest = seal_digest(number=number, previous_digest=previous, sealed_at=now, members=members)
            # The number is what two at once compete for: the second waits here for the first.
            seal = LedgerSeal.objects.create(number=number, previous_digest=previous, digest=digest, journals=len(members), sealed_at=now)
            SealedJournal.objects.bulk_create(
                SealedJournal(journal_id=journal_id, seal=seal, position=position, digest=digest_of_one)
                for position, (journal_id, digest_of_one) in enumerate(members)
            )
            _add_up([journal.pk for journal in batch])
    except IntegrityError:
        if LedgerSeal.objects.filter(number=number).exists() or SealedJournal.objects.filter(journal__in=batch).exists():
            return None
        raise
    return seal


def _add_up(journal_ids: Sequence[Any]) -> None:
    """Add what journals moved to the balances that sales do not keep."""
    nets: Counter[Any] = Counter()
    rows = Transfer.objects.filter(journal__in=journal_ids).order_by()
    for debit_id, debited, credit_id, credited, amount in rows.values_list(
        "debit_id", "debit__kind", "credit_id", "credit__kind", "amount_minor"
    ):
        if debited not in BOUNDED_KINDS:
            nets[debit_id] -= amount
        if credited not in BOUNDED_KINDS:
            nets[credit_id] += amount
    # In one order, although sealers wait for each other before.
    for account_id, net in sorted(nets.items()):
        LedgerAccount.objects.filter(pk=account_id).update(balance_minor=F("balance_minor") + net)

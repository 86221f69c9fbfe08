"""Digests of the ledger: each covers a batch of journals and the previous digest, so that changed rows are detected.

Someone who controls the database can recreate the chain; only a digest stored elsewhere detects that: `reconcile --digest`.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from .models import CoveredJournal, Journal, LedgerDigest, Transfer

FORMAT = "ledger-digest-1"


def journal_digests(journal_ids: Sequence[Any]) -> dict[Any, str]:
    """Return the digests of those of the journals that exist, over their columns, transfers and account owners, in two statements."""
    transfers: dict[Any, list[Any]] = {}
    sides = (("debit_id", "debit__kind", "debit__owner_id"), ("credit_id", "credit__kind", "credit__owner_id"))
    rows = Transfer.objects.filter(journal__in=journal_ids).order_by("journal_id", "id")
    for journal_id, *facts in rows.values_list("journal_id", "id", *sides[0], *sides[1], "currency", "amount_minor"):
        transfers.setdefault(journal_id, []).append(facts)
    return {
        journal.pk: _digest(
            FORMAT,
            journal.pk,
            journal.kind,
            _moment(journal.at),
            journal.actor_id,
            journal.reason,
            journal.request_id,
            journal.order_id,
            journal.undoes_id,
            journal.wallet_id,
            journal.wallet_entry,
            journal.wallet_net_minor,
            journal.wallet_balance_minor,
            journal.vendor_id,
            journal.vendor_net_minor,
            transfers.get(journal.pk, []),
        )
        for journal in Journal.objects.filter(pk__in=journal_ids).order_by()
    }


def chained_digest(*, number: int, previous_digest: str, created_at: datetime, members: Iterable[tuple[Any, str]]) -> str:
    """Return the digest of a batch: of the ids and digests of its journals in order, and of the previous digest, which is empty for the first."""
    return _digest(FORMAT, number, previous_digest, _moment(created_at), [[journal_id, digest] for journal_id, digest in members])


def digest_differences(expected: Mapping[int, str] | None = None) -> Iterator[str]:
    """Yield a sentence for each invalid digest, and for each covered journal that was changed or removed.

    `expected` are digests that were stored elsewhere, by number.
    """
    missing = dict(expected or {})
    previous = LedgerDigest(number=0, digest="")
    for ledger_digest in LedgerDigest.objects.order_by("number").iterator():
        if (ledger_digest.number, ledger_digest.previous_digest) != (previous.number + 1, previous.digest):
            yield f"digest {ledger_digest.number} does not follow digest {previous.number}"
        yield from _differences_of(ledger_digest)
        kept = missing.pop(ledger_digest.number, ledger_digest.digest)
        if kept != ledger_digest.digest:
            yield f"digest {ledger_digest.number} is not the one that was kept elsewhere"
        previous = ledger_digest
    for number in sorted(missing):
        yield f"digest {number} was kept elsewhere and is gone"


def _differences_of(ledger_digest: LedgerDigest) -> Iterator[str]:
    members = list(CoveredJournal.objects.filter(ledger_digest=ledger_digest).order_by("position").values_list("journal_id", "digest"))
    found = journal_digests([journal_id for journal_id, _ in members])
    for journal_id, digest in members:
        if journal_id not in found:
            yield f"digest {ledger_digest.number} covers journal {journal_id}, which no longer exists"
        elif found[journal_id] != digest:
            yield f"journal {journal_id} is not what digest {ledger_digest.number} covered"
    digest = chained_digest(
        number=ledger_digest.number, previous_digest=ledger_digest.previous_digest, created_at=ledger_digest.created_at, members=members
    )
    if digest != ledger_digest.digest or len(members) != ledger_digest.journals:
        yield f"digest {ledger_digest.number} does not match the journals that it covers"


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def _digest(*parts: Any) -> str:
    # UUIDs are written as text, numbers exactly.
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()

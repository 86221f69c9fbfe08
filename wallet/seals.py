"""Seals on the ledger: digests of journals, chained, so that whoever rewrites the past has to rewrite every seal since.

Someone who owns the database can do that too. Then only a seal's digest that was kept elsewhere tells: `reconcile --seal`.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from .models import Journal, LedgerSeal, SealedJournal, Transfer

FORMAT = "ledger-seal-1"


def journal_digests(journal_ids: Sequence[Any]) -> dict[Any, str]:
    """Return the digests of those journals that are there, in two statements: of their facts, their transfers and whose accounts these touch."""
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
            journal.reverses_id,
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


def seal_digest(*, number: int, previous_digest: str, sealed_at: datetime, members: Iterable[tuple[Any, str]]) -> str:
    """Return the digest of a seal.

    Args:
        number: Of the seal.
        previous_digest: Of the seal before.
        sealed_at: When it was set.
        members: Id and digest of each journal, in their order.
    """
    return _digest(FORMAT, number, previous_digest, _moment(sealed_at), [[journal_id, digest] for journal_id, digest in members])


def seal_differences(expected: Mapping[int, str] | None = None) -> Iterator[str]:
    """Yield a sentence for each seal that does not hold, and for each journal under one that is not what was sealed.

    Args:
        expected: Digests by number that were kept elsewhere.
    """
    missing = dict(expected or {})
    previous = LedgerSeal(number=0, digest="")
    for seal in LedgerSeal.objects.order_by("number").iterator():
        if (seal.number, seal.previous_digest) != (previous.number + 1, previous.digest):
            yield f"seal {seal.number} does not follow seal {previous.number}"
        yield from _broken(seal)
        kept = missing.pop(seal.number, seal.digest)
        if kept != seal.digest:
            yield f"seal {seal.number} is not the one that was kept elsewhere"
        previous = seal
    for number in sorted(missing):
        yield f"seal {number} was kept elsewhere and is gone"


def _broken(seal: LedgerSeal) -> Iterator[str]:
    members = list(SealedJournal.objects.filter(seal=seal).order_by("position").values_list("journal_id", "digest"))
    found = journal_digests([journal_id for journal_id, _ in members])
    for journal_id, digest in members:
        if journal_id not in found:
            yield f"journal {journal_id} is under seal {seal.number} and is gone"
        elif found[journal_id] != digest:
            yield f"journal {journal_id} is not what seal {seal.number} sealed"
    digest = seal_digest(number=seal.number, previous_digest=seal.previous_digest, sealed_at=seal.sealed_at, members=members)
    if digest != seal.digest or len(members) != seal.journals:
        yield f"seal {seal.number} does not fit what is under it"


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def _digest(*parts: Any) -> str:
    # UUIDs are written as text, numbers exactly.
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()

"""Compares stored files with the size and checksum on record.

The SHA-256 of a deliverable is taken while it arrives, and with it what the store says of the object then: on a disk
size, time of the last write and file number, on S3 size and ETag. While the store says the same, nobody wrote to the
object, and the checks of a submission need not read 5 GB. What they cannot see, a disk that loses bits, is what
`manage.py verify_checksums` looks for: it reads.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from django.db.models import F, Q
from django.utils import timezone

from catalog.models import Deliverable, Preview
from marketplace.core.objects.base import ObjectMissing, ObjectStore

Row = Deliverable | Preview
# Told of each block that was read, by its size.
OnBytes = Callable[[int], object]


class StoredState(StrEnum):
    """How a stored object compares to its record."""

    INTACT = "intact"
    MISSING = "missing"
    DIFFERENT = "different"


class Expected(NamedTuple):
    """What a record says of one object."""

    key: str
    size: int
    sha256: str


def state_of(deliverable: Deliverable, store: ObjectStore) -> StoredState:
    """Return how the stored file compares to its record; it is read only when it was written to since that was last known."""
    try:
        if deliverable.fingerprint and store.fingerprint(deliverable.object_key) == deliverable.fingerprint:
            return StoredState.INTACT
    except ObjectMissing:
        return StoredState.MISSING
    return verify(row=deliverable, store=store)


def verify(*, row: Row, store: ObjectStore, on_bytes: OnBytes | None = None) -> StoredState:
    """Read every object of a record, compare, and note on the record that it was found intact."""
    try:
        # Before the bytes: whoever writes meanwhile makes the next look read again.
        fingerprint = store.fingerprint(row.object_key)
        intact = all(_matches(expected, store, on_bytes) for expected in _expected(row))
    except ObjectMissing:
        return StoredState.MISSING
    if not intact:
        return StoredState.DIFFERENT
    noted = {"verified_at": timezone.now()} | ({"fingerprint": fingerprint} if isinstance(row, Deliverable) else {})
    type(row).objects.filter(pk=row.pk).update(**noted)
    return StoredState.INTACT


def find_unverified(model: type[Row], *, before: datetime) -> Iterator[Row]:
    """Yield the records that were not verified since `before`, the longest unverified first.

    Each is asked for on its own: what another run verifies meanwhile, or a vendor removes, is not yielded.
    """
    due = model.objects.filter(Q(verified_at__isnull=True) | Q(verified_at__lt=before))
    ids = due.order_by(F("verified_at").asc(nulls_first=True), "id").values_list("pk", flat=True)
    for pk in list(ids):
        row = due.filter(pk=pk).first()
        if row is not None:
            yield row


def is_recorded(*, row: Row) -> bool:
    """Tell whether the record is still there: a file that was replaced while it was read is gone rightly."""
    return type(row).objects.filter(pk=row.pk).exists()


def _expected(row: Row) -> list[Expected]:
    if isinstance(row, Deliverable):
        return [Expected(row.object_key, row.file_size, row.sha256)]
    copies = [Expected(copy["key"], copy["size"], copy["sha256"]) for copy in row.renditions.values()]
    return [Expected(row.object_key, row.size, row.sha256), *copies]


def _matches(expected: Expected, store: ObjectStore, on_bytes: OnBytes | None) -> bool:
    digest, size = sha256(), 0
    for block in store.read(expected.key):
        digest.update(block)
        size += len(block)
        if on_bytes is not None:
            on_bytes(len(block))
    return (size, digest.hexdigest()) == (expected.size, expected.sha256)

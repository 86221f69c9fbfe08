"""Compares stored files with the size and checksum on record.

The SHA-256 of a deliverable is computed during the upload and saved with the file store's state of the object: on a
disk size, modification time and inode, on S3 size and ETag. While that state is unchanged, nobody has changed the
object, and the checks of a submission need not read 5 GB. They do not detect a disk that corrupts data;
`manage.py verify_checksums` does, because it reads every byte.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from heapq import merge
from operator import itemgetter

from django.db.models import F, Q
from django.utils import timezone

from catalog.models import Deliverable
from marketplace.storage import default_storage

from .files import STORED_MODELS, StoredRow

# Called with the size of each block that was read.
OnBytes = Callable[[int], object]
_NEVER = datetime.min.replace(tzinfo=UTC)


class StoredState(StrEnum):
    """The result of comparing a stored object with its record."""

    INTACT = "intact"
    MISSING = "missing"
    DIFFERENT = "different"


def state_of(deliverable: Deliverable, *, read: bool = True) -> StoredState | None:
    """Compare the stored file with its record. Where the file store's state has changed since the last comparison, it is read, or if `read` is false, the state is None."""
    try:
        if deliverable.fingerprint and default_storage.fingerprint(deliverable.object_key) == deliverable.fingerprint:
            return StoredState.INTACT
    except FileNotFoundError:
        return StoredState.MISSING
    return verify(row=deliverable) if read else None


def verify(*, row: StoredRow, on_bytes: OnBytes | None = None) -> StoredState:
    """Read every object of a record and compare it; save the time on the record where all are intact."""
    try:
        # Taken before reading, so that a write in the meantime makes the next comparison read the file again.
        fingerprint = default_storage.fingerprint(row.object_key)
        intact = all(_matches(key, size, checksum, on_bytes) for key, size, checksum in _objects(row))
    except FileNotFoundError:
        return StoredState.MISSING
    if not intact:
        return StoredState.DIFFERENT
    changes = {"verified_at": timezone.now()} | ({"fingerprint": fingerprint} if isinstance(row, Deliverable) else {})
    type(row).objects.filter(pk=row.pk).update(**changes)
    return StoredState.INTACT


def find_unverified(*, before: datetime) -> Iterator[StoredRow]:
    """Yield the records that were last verified before `before`, or never; of all models, those not verified for the longest time come first.

    Each is queried individually, so that a record that another run verifies or a vendor removes in the meantime is skipped.
    """
    is_due = Q(verified_at__isnull=True) | Q(verified_at__lt=before)
    due = []
    for model in STORED_MODELS:
        rows = model.objects.filter(is_due).order_by(F("verified_at").asc(nulls_first=True), "id").values_list("pk", "verified_at")
        due.append([(verified_at or _NEVER, model, pk) for pk, verified_at in rows])
    for _, model, pk in merge(*due, key=itemgetter(0)):
        row = model.objects.filter(is_due, pk=pk).first()
        if row is not None:
            yield row


def is_recorded(*, row: StoredRow) -> bool:
    """Tell whether the record still exists. If not, the file was replaced while it was read, and its absence is not an error."""
    return type(row).objects.filter(pk=row.pk).exists()


def _objects(row: StoredRow) -> list[tuple[str, int, str]]:
    """Return key, size and checksum of each object by its record."""
    size = row.file_size if isinstance(row, Deliverable) else row.size
    copies = [(copy["key"], copy["size"], copy["sha256"]) for copy in getattr(row, "renditions", {}).values()]
    return [(row.object_key, size, row.sha256), *copies]


def _matches(key: str, size: int, checksum: str, on_bytes: OnBytes | None) -> bool:
    digest, count = sha256(), 0
    for block in default_storage.read(key):
        digest.update(block)
        count += len(block)
        if on_bytes is not None:
            on_bytes(len(block))
    return (count, digest.hexdigest()) == (size, checksum)

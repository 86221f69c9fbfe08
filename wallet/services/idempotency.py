"""Stores responses by Idempotency-Key, so that a repeated request gets the same response without a second purchase.

The record is written in the transaction that did the deed. A duplicate that runs at the same time waits for the first one
on a row or on the unique key, is rolled back, and then finds the first one's answer.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.db import OperationalError
from django.db.models import QuerySet
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core.database import insert_rows

from .. import bounds
from ..errors import IdempotencyConflict, IdempotencyKeyReused
from ..models import IdempotencyRecord
from ..statements import KEEP_UNLESS_KEPT, moment

_LOCK_NOT_AVAILABLE = "55P03"


@dataclass(frozen=True)
class KeyedRequest:
    """What tells one request from another: whose it is, its key, and a hash of what it asks."""

    owner: User
    key: str
    fingerprint: str


def keyed_request(*, owner: User, key: str, operation: str, **given: Any) -> KeyedRequest:
    """Return the request with its fingerprint over the operation and its input."""
    canonical = orjson.dumps([operation, given], option=orjson.OPT_SORT_KEYS)
    return KeyedRequest(owner=owner, key=key, fingerprint=hashlib.sha256(canonical).hexdigest())


def saved_response(request: KeyedRequest | None) -> dict[str, Any] | None:
    """Return the answer that was given to this request, None when there was none within 24 hours.

    Raises:
        IdempotencyKeyReused: the key belongs to another request.
    """
    if request is None:
        return None
    record = IdempotencyRecord.objects.filter(owner=request.owner, key=request.key, created_at__gt=_oldest()).first()
    if record is None:
        return None
    if record.fingerprint != request.fingerprint:
        raise IdempotencyKeyReused
    answer: dict[str, Any] = record.answer
    return answer


def save_response(request: KeyedRequest, answer: dict[str, Any]) -> None:
    """Save the answer in the caller's transaction, late: only statements on rows that many requests share come after it.

    Raises:
        IdempotencyConflict: another request was quicker; the caller's transaction cannot go on.
    """
    kept = {"owner_id": request.owner.pk, "key": request.key, "fingerprint": request.fingerprint, "answer": answer}
    if not insert_rows(IdempotencyRecord, kept, then=KEEP_UNLESS_KEPT, given=[moment(_oldest())]):
        raise conflict()


def conflict() -> IdempotencyConflict:
    """Return the refusal of a request whose twin has not been answered yet."""
    return IdempotencyConflict(headers={"Retry-After": "1"})


@contextmanager
def bounded_wait(request: KeyedRequest | None) -> Iterator[None]:
    """Tell a request that waited too long for its twin to come again; how long is set where the offer is read.

    Raises:
        IdempotencyConflict: the wait was too long.
    """
    try:
        yield
    except OperationalError as error:
        if request is not None and getattr(error.__cause__, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
            raise conflict() from error
        raise


def expired_responses() -> QuerySet[IdempotencyRecord]:
    """Return the answers that are kept no longer."""
    return IdempotencyRecord.objects.filter(created_at__lte=_oldest())


def _oldest() -> datetime:
    return timezone.now() - timedelta(hours=bounds.IDEMPOTENCY_HOURS)

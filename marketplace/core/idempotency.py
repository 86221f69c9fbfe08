"""Stores responses by Idempotency-Key, so that a repeated request gets the same response without being executed twice.

The record is saved in the transaction of the request. A concurrent duplicate waits for the first request
on a row lock or on the unique key, is rolled back, and then returns the first one's response.
"""

import hashlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.db import OperationalError, connection, models
from django.db.models import QuerySet
from django.utils import timezone

from . import bounds
from .database import insert_rows
from .errors import IdempotencyConflict, IdempotencyKeyReused
from .models import IdempotencyRecord

_LOCK_NOT_AVAILABLE = "55P03"
# An expired response is replaced; a newer one is kept, and nothing is written.
_REPLACE_IF_EXPIRED = """
ON CONFLICT (owner_id, requester_id, key) DO UPDATE
   SET fingerprint = excluded.fingerprint, response = excluded.response, created_at = excluded.created_at
 WHERE core_idempotencyrecord.created_at <= %s
"""


@dataclass(frozen=True)
class KeyedRequest:
    """The identity of a request: its owner, who sent it, its key, and a hash of the operation and input."""

    owner: models.Model
    # The app or personal token that sent it, else the owner.
    requester_id: uuid.UUID
    key: str
    fingerprint: str


def keyed_request(*, owner: models.Model, key: str, operation: str, requester_id: uuid.UUID | None = None, **given: Any) -> KeyedRequest:
    """Return the request with the hash of its operation and input; without a requester it is the owner's own."""
    canonical = orjson.dumps([operation, given], option=orjson.OPT_SORT_KEYS)
    return KeyedRequest(owner=owner, requester_id=requester_id or owner.pk, key=key, fingerprint=hashlib.sha256(canonical).hexdigest())


def saved_response(request: KeyedRequest | None) -> dict[str, Any] | None:
    """Return the saved response to this request, None if there is none from the last 24 hours.

    Raises:
        IdempotencyKeyReused: the key belongs to another request.
    """
    if request is None:
        return None
    record = IdempotencyRecord.objects.filter(**_identity(request), created_at__gt=_oldest()).first()
    if record is None:
        return None
    if record.fingerprint != request.fingerprint:
        raise IdempotencyKeyReused
    response: dict[str, Any] = record.response
    return response


def save_response(request: KeyedRequest, response: dict[str, Any]) -> None:
    """Save the response in the caller's transaction, after all statements except those on rows that many requests share.

    Raises:
        IdempotencyConflict: a concurrent request saved first; the caller's transaction must be rolled back.
    """
    kept = {**_identity(request), "fingerprint": request.fingerprint, "response": response}
    if not insert_rows(IdempotencyRecord, kept, suffix=_REPLACE_IF_EXPIRED, params=[connection.ops.adapt_datetimefield_value(_oldest())]):
        raise conflict()


def conflict() -> IdempotencyConflict:
    """Return the problem for a request whose duplicate is still in progress."""
    return IdempotencyConflict(headers={"Retry-After": "1"})


@contextmanager
def lock_timeout_as_conflict(request: KeyedRequest | None) -> Iterator[None]:
    """Turn a lock timeout into a problem; the caller sets the timeout.

    Raises:
        IdempotencyConflict: the duplicate request did not finish in time.
    """
    try:
        yield
    except OperationalError as error:
        if request is not None and getattr(error.__cause__, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
            raise conflict() from error
        raise


def expired_responses() -> QuerySet[IdempotencyRecord]:
    """Return the expired idempotency records."""
    return IdempotencyRecord.objects.filter(created_at__lte=_oldest())


def _identity(request: KeyedRequest) -> dict[str, Any]:
    return {"owner_id": request.owner.pk, "requester_id": request.requester_id, "key": request.key}


def _oldest() -> datetime:
    return timezone.now() - timedelta(hours=bounds.IDEMPOTENCY_HOURS)

"""A claim shows other reviewers who is working on a row, and keeps it from being offered to them next.

Claims expire, and do not lock: anyone with the permission may decide. The owner of a wallet payout cannot cancel it while it is claimed.
"""

from datetime import datetime, timedelta
from typing import TypeVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from marketplace.core import audit
from marketplace.core.errors import InvalidTransition, NotFound, SelfReview
from marketplace.core.transitions import lock

from .models import Claimable

C = TypeVar("C", bound=Claimable)


def claims_valid_since() -> datetime:
    """Return the time before which claims have expired."""
    return timezone.now() - timedelta(minutes=settings.REVIEW_CLAIM_MINUTES)


def claimed() -> Q:
    """Return the condition for rows with an active claim."""
    return Q(claimed_by__isnull=False, claimed_at__gt=claims_valid_since())


def claimed_by_others(actor: models.Model) -> Q:
    """Return the condition for rows claimed by someone else."""
    return claimed() & ~Q(claimed_by=actor)


def is_claimed(row: Claimable) -> bool:
    """Tell whether the row has a claim that has not expired."""
    return row.claimed_by_id is not None and row.claimed_at is not None and row.claimed_at > claims_valid_since()


@transaction.atomic
def claim(*, row: C, waiting: QuerySet[C], own: bool, noun: str, actor: models.Model, take_over: bool = False) -> C:
    """Claim a waiting row for review, unless it is the actor's own.

    Claiming again extends the claim; `take_over` replaces that of someone else.

    Raises:
        InvalidTransition: it no longer waits, or someone else has claimed it.
        SelfReview: it is the actor's own.
    """
    row = _lock_waiting(row, waiting, own=own)
    previous = row.claimed_by if is_claimed(row) else None
    if previous not in {None, actor} and not take_over:
        raise InvalidTransition(f"{previous} has been reviewing it since {row.claimed_at:%H:%M} UTC. Take it over if necessary.")
    row.claimed_by_id, row.claimed_at = actor.pk, timezone.now()
    row.save(update_fields=["claimed_by", "claimed_at"])
    if previous is None:
        audit.record(f"{noun}.claim", row, actor=actor)
    elif previous != actor:
        audit.record(f"{noun}.take_over", row, actor=actor, takenFrom=str(previous.pk))
    return row


@transaction.atomic
def release(*, row: C, waiting: QuerySet[C], own: bool, noun: str, actor: models.Model) -> C:
    """Release the actor's claim.

    Raises:
        InvalidTransition: it no longer waits, or the actor has not claimed it.
        SelfReview: it is the actor's own.
    """
    row = _lock_waiting(row, waiting, own=own)
    if row.claimed_by_id != actor.pk:
        raise InvalidTransition("You have not claimed it.")
    row.claimed_by_id = row.claimed_at = None
    row.save(update_fields=["claimed_by", "claimed_at"])
    audit.record(f"{noun}.release", row, actor=actor)
    return row


def _lock_waiting(row: C, waiting: QuerySet[C], *, own: bool) -> C:
    if own:
        raise SelfReview
    try:
        # Without joins: a query that waits for a lock sees the joined rows as they were before it waited.
        return lock(waiting.select_related(None), pk=row.pk)
    except NotFound as error:
        raise InvalidTransition("It was decided or withdrawn in the meantime.") from error

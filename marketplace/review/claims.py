"""Claims: a marker that shows reviewers who works on a row. It expires, and it is no lock: everyone with the permission may decide."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from marketplace.core import audit
from marketplace.core.errors import InvalidTransition, NotFound, Problem, SelfReview
from marketplace.core.transitions import lock

from .models import Claimable

# Others may take a few of the oldest while we reach for them.
ATTEMPTS = 20


C = TypeVar("C", bound=Claimable)


def claims_since() -> datetime:
    """Return the moment before which a claim has ended by itself."""
    return timezone.now() - timedelta(minutes=settings.REVIEW_CLAIM_MINUTES)


def claimed() -> Q:
    """Return the condition of a claim that has not ended."""
    return Q(claimed_by__isnull=False, claimed_at__gt=claims_since())


def claimed_by_others(actor: models.Model) -> Q:
    """Return the condition of a claim that someone else holds."""
    return claimed() & ~Q(claimed_by=actor)


def is_claimed(row: Claimable) -> bool:
    """Tell whether someone is at it: a claim ends by itself after a while."""
    return row.claimed_by_id is not None and row.claimed_at is not None and row.claimed_at > claims_since()


def take(row: Claimable, *, noun: str, actor: models.Model, take_over: bool = False) -> None:
    """Mark a row that the caller has locked as the actor's; claiming again begins the time anew.

    Args:
        row: What is looked at.
        noun: First half of the audit action, such as `review`.
        actor: The reviewer.
        take_over: Whether to take it from someone who is at it.

    Raises:
        InvalidTransition: someone else is at it.
    """
    previous = row.claimed_by if is_claimed(row) else None
    if previous not in {None, actor} and not take_over:
        raise InvalidTransition(f"{previous} has been reviewing it since {row.claimed_at:%H:%M} UTC. Take it over if necessary.")
    row.claimed_by_id, row.claimed_at = actor.pk, timezone.now()
    row.save(update_fields=["claimed_by", "claimed_at"])
    if previous is None:
        audit.record(f"{noun}.claim", row, actor=actor)
    elif previous != actor:
        audit.record(f"{noun}.take_over", row, actor=actor, takenFrom=str(previous.pk))


def give_up(row: Claimable, *, noun: str, actor: models.Model) -> None:
    """Remove the actor's mark from a row that the caller has locked.

    Raises:
        InvalidTransition: it is not claimed by the actor.
    """
    if row.claimed_by_id != actor.pk:
        raise InvalidTransition("You have not claimed it.")
    row.claimed_by_id = row.claimed_at = None
    row.save(update_fields=["claimed_by", "claimed_at"])
    audit.record(f"{noun}.release", row, actor=actor)


@transaction.atomic
def claim(*, row: C, waiting: QuerySet[C], owner: Any, noun: str, actor: models.Model, take_over: bool = False) -> C:
    """Tell other reviewers that one is at it.

    Args:
        row: What is looked at.
        waiting: What waits for a decision.
        owner: Whose it is, by id; nobody decides on what is their own.
        noun: First half of the audit action.
        actor: The reviewer.
        take_over: Whether to take it from someone who is at it.

    Raises:
        InvalidTransition: it was decided meanwhile, or someone else is at it.
        SelfReview: it is the actor's own.
    """
    row = _hold(row, waiting, owner, actor)
    take(row, noun=noun, actor=actor, take_over=take_over)
    return row


@transaction.atomic
def release(*, row: C, waiting: QuerySet[C], owner: Any, noun: str, actor: models.Model) -> C:
    """Give up one's claim.

    Raises:
        InvalidTransition: it was decided meanwhile, or it is not claimed by the actor.
        SelfReview: it is the actor's own.
    """
    row = _hold(row, waiting, owner, actor)
    give_up(row, noun=noun, actor=actor)
    return row


def claim_first(rows: QuerySet[C], claim_row: Callable[[C], C]) -> C | None:
    """Claim the first row that can be claimed; None when there is none."""
    for row in rows[:ATTEMPTS]:
        try:
            return claim_row(row)
        except Problem:
            continue
    return None


def _hold(row: C, waiting: QuerySet[C], owner: Any, actor: models.Model) -> C:
    try:
        held = lock(waiting, pk=row.pk)
    except NotFound as error:
        raise InvalidTransition("It has been decided in the meantime.") from error
    if owner == actor.pk:
        raise SelfReview
    return held

"""Writes the audit log."""

from collections.abc import Sequence
from typing import Any

from django.db import models

from .ids import current_request_id
from .models import AuditEntry


def record(
    action: str,
    subject: models.Model,
    *,
    actor: models.Model | None,
    from_state: str = "",
    to_state: str = "",
    reason: str = "",
    **data: Any,
) -> AuditEntry:
    """Append an entry in the caller's transaction.

    Args:
        action: `noun.verb`, such as `app.suspend`.
        subject: The object of the action.
        actor: The user; None for the service itself, and for users who delete their own account.
        from_state: State before, if the subject has states.
        to_state: State after.
        reason: The reason that the actor gave.
        **data: Further JSON values; never a secret.
    """
    return AuditEntry.objects.create(
        action=action,
        subject_type=subject._meta.label_lower,
        subject_id=str(subject.pk),
        actor_id=None if actor is None else actor.pk,
        from_state=from_state,
        to_state=to_state,
        reason=reason,
        data=data,
        request_id=current_request_id(),
    )


def save_and_record(row: models.Model, *, changed: Sequence[str], actor: models.Model, **data: Any) -> None:
    """Save a row that staff entered, and append an entry of its creation or update with the names of the changed fields."""
    verb = "create" if row._state.adding else "update"
    row.save()
    record(f"{row._meta.model_name}.{verb}", row, actor=actor, changed=list(changed), **data)


def history_of(subject: models.Model) -> models.QuerySet[AuditEntry]:
    """Return the entries about a subject, newest first."""
    return AuditEntry.objects.filter(subject_type=subject._meta.label_lower, subject_id=str(subject.pk)).select_related("actor")

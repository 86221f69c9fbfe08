"""State machines as transition tables: a transition of a locked row checks and sets its state and writes an audit entry."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar

from django.db import models, transaction

from . import audit, texts
from .errors import InvalidTransition, NotFound, SelfReview

M = TypeVar("M", bound=models.Model)


def lock(queryset: models.QuerySet[M], **lookup: Any) -> M:
    """Return the one row that matches, locked until the end of the transaction.

    Inserts of rows that refer to it do not wait.

    Raises:
        NotFound: no row matches.
    """
    row = queryset.select_for_update(of=("self",), no_key=True).filter(**lookup).first()
    if row is None:
        raise NotFound
    return row


def lock_for_decision(queryset: models.QuerySet[M], *, pk: Any, owner: str, actor: models.Model) -> M:
    """Return the locked row for a decision, which its owner cannot take, even as a superuser.

    `owner` is the attribute that holds the owner's id, such as `user_id` or `wallet.owner_id`.

    Raises:
        NotFound: no row matches.
        SelfReview: the actor owns it.
    """
    row = lock(queryset, pk=pk)
    if attrgetter(owner)(row) == actor.pk:
        raise SelfReview
    return row


@dataclass(frozen=True)
class TransitionTable:
    """The transitions of a state field.

    Args:
        noun: First half of the audit action, such as `listing`.
        edges: Verbs with their source states and target state.
        field: Name of the state field.
        owner: The attribute that holds the owner's id, for `decide` only: owners cannot decide on their own rows. `apply` does not look at it.
        reason_field: Name of the field for the reason of a decision, if there is one.
    """

    noun: str
    edges: Mapping[str, tuple[Iterable[str], str]]
    field: str = "status"
    owner: str = "user_id"
    reason_field: str = ""

    def allows(self, instance: models.Model, verb: str) -> bool:
        """Tell whether the verb can be applied to the row as it was read."""
        return getattr(instance, self.field) in self.edges[verb][0]

    def apply(
        self,
        instance: models.Model,
        verb: str,
        *,
        actor: models.Model | None,
        reason: str = "",
        changes: Mapping[str, Any] | None = None,
        **data: Any,
    ) -> None:
        """Change the state of a row that the caller has locked, save it with `changes` and write the audit entry.

        Raises:
            InvalidTransition: the verb does not start from the row's state.
        """
        if not transaction.get_connection(instance._state.db).in_atomic_block:
            message = "a transition needs a transaction that holds the row's lock"
            raise RuntimeError(message)
        before = getattr(instance, self.field)
        sources, after = self.edges[verb]
        if before not in sources:
            possible = " or ".join(sorted(source or "empty" for source in sources))
            detail = f"This is possible while the status is {possible}, but it is {before or 'empty'}."
            raise InvalidTransition(detail, currentState=before)
        for name, value in (changes or {}).items():
            setattr(instance, name, value)
        setattr(instance, self.field, after)
        instance.save(update_fields=[self.field, *(changes or {})])
        audit.record(f"{self.noun}.{verb}", instance, actor=actor, from_state=before, to_state=after, reason=reason, **data)

    def decide(self, rows: models.QuerySet[M], verb: str, *, pk: Any, actor: models.Model, reason: str, **changes: Any) -> M:
        """Lock a row, apply a reviewer's decision to it and return it.

        Raises:
            InvalidInput: the reason is not valid.
            InvalidTransition: the verb does not start from the row's state.
            NotFound: no row matches.
            SelfReview: the actor owns it.
        """
        reason = texts.clean_text(reason, "reason")
        row = lock_for_decision(rows, pk=pk, owner=self.owner, actor=actor)
        if self.reason_field:
            changes[self.reason_field] = reason
        self.apply(row, verb, actor=actor, reason=reason, changes=changes)
        return row

"""Appeals: the owner of what was rejected, taken down or suspended, or lost its approval, asks once that another reviewer decides again.

An appeal is against an entry of the audit log. Apps register which decisions on their rows can be appealed, and the services that
overturn them.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition, NotFound, SelfReview
from marketplace.core.models import AuditEntry
from marketplace.core.transitions import TransitionTable, lock
from marketplace.ui.mail import mail

from .errors import AppealExists, AppealUnavailable
from .models import Appeal, AppealStatus
from .waiting import Wait, wait_of

WAITING = {"status": AppealStatus.PENDING}
APPEAL_TRANSITIONS = TransitionTable(
    "appeal",
    {
        "dismiss": ((AppealStatus.PENDING,), AppealStatus.DISMISSED),
        "accept": ((AppealStatus.PENDING,), AppealStatus.ACCEPTED),
    },
    owner="appellant_id",
    reason_field="answer",
)


@dataclass(frozen=True)
class Appealable:
    """Rows whose owner can appeal decisions on them.

    Args:
        kind: What the API calls them, such as `asset`.
        model: Their model.
        owner: The lookup of the owner.
        lock: Returns a row by its id, locked together with what overturning a decision needs.
        overturns: By the action of a decision, the service that overturns it. It takes the locked row as `subject`, the `decision`, the
            `reason` and the `actor`, and mails the owner.
        page: Returns the path of a row's page for its owner.
    """

    kind: str
    model: type[models.Model]
    owner: str
    lock: Callable[[Any], Any]
    overturns: Mapping[str, Callable[..., object]]
    page: Callable[[Any], str]


_appealable: dict[str, Appealable] = {}


def register_appealable(appealable: Appealable) -> None:
    """Let owners appeal decisions on rows of a model. Registering a model again replaces what was registered for it."""
    _appealable[appealable.model._meta.label_lower] = appealable


def appealable_of(decision: AuditEntry) -> Appealable | None:
    """Return the kind of rows that a decision is about, None if such decisions cannot be appealed."""
    found = _appealable.get(decision.subject_type)
    return found if found is not None and decision.action in found.overturns else None


def appealable_decision(subject: models.Model) -> AuditEntry | None:
    """Return the last change of a row's status if its owner can appeal it, with its `appeal`; None if not."""
    # Other changes have no states. One of the two may be empty: a listing without an update has no update status.
    entry = audit.history_of(subject).exclude(from_state="", to_state="").select_related("appeal").first()
    return entry if entry is not None and appealable_of(entry) is not None else None


def decision_to_appeal(*, kind: str, subject_id: str, user: models.Model) -> AuditEntry:
    """Return the decision on one of the user's rows that can be appealed, or was.

    Raises:
        AppealUnavailable: the last decision on it cannot be appealed.
        NotFound: there is no such row, or it is someone else's.
    """
    appealable = next((each for each in _appealable.values() if each.kind == kind), None)
    subject = None if appealable is None else _own_row(appealable, subject_id, user)
    if subject is None:
        raise NotFound
    decision = appealable_decision(subject)
    if decision is None:
        raise AppealUnavailable
    return decision


def own_decision(*, decision_id: Any, user: models.Model) -> tuple[AuditEntry, Any]:
    """Return a decision that can be appealed, or was, with the user's row that it is about.

    Raises:
        NotFound: there is none, or it is about someone else's row.
    """
    decision = AuditEntry.objects.select_related("appeal").filter(pk=decision_id).first()
    if decision and (appealable := appealable_of(decision)) and (subject := _own_row(appealable, decision.subject_id, user)):
        return decision, subject
    raise NotFound


def appeals_of(user: Any) -> QuerySet[Appeal]:
    """Return the user's appeals with the decisions, newest first."""
    return Appeal.objects.filter(appellant=user).select_related("decision").order_by("-id")


def with_positions(appeals: QuerySet[Appeal]) -> QuerySet[Appeal]:
    """Add `position`, the place in the queue from 1; None for those that are decided."""
    earlier = Q(submitted_at__lt=OuterRef("submitted_at")) | Q(submitted_at=OuterRef("submitted_at"), pk__lt=OuterRef("pk"))
    ahead = Appeal.objects.filter(earlier, **WAITING).order_by().values("status").annotate(count=Count("pk")).values("count")
    return appeals.annotate(position=Case(When(**WAITING, then=Coalesce(Subquery(ahead), 0) + 1)))


def subjects_of(appeals: Sequence[Appeal]) -> dict[uuid.UUID, models.Model]:
    """Return the rows that the decisions are about by the id of the appeal, in a query for each model; without those that are gone."""
    found = {
        (label, str(row.pk)): row
        for label, appealable in _appealable.items()
        if (ids := [each.decision.subject_id for each in appeals if each.decision.subject_type == label])
        for row in appealable.model._default_manager.filter(pk__in=ids)
    }
    keys = {each.pk: (each.decision.subject_type, each.decision.subject_id) for each in appeals}
    return {pk: found[key] for pk, key in keys.items() if key in found}


def wait_of_appeal(appeal: Appeal) -> Wait | None:
    """Return how long an appeal will wait, None if it is decided."""
    return wait_of(appeal, waiting=WAITING)


def may_decide(appeal: Appeal, actor: Any) -> bool:
    """Tell whether a reviewer may decide: not the appellant, nor who took the decision.

    A superuser may decide again on their own decision where nobody else can.
    """
    if actor.pk == appeal.appellant_id:
        return False
    if actor.pk != appeal.decision.actor_id:
        return True
    return actor.is_superuser and not _others_who_decide(actor).exclude(pk=appeal.appellant_id).exists()


def without_own_decisions(appeals: QuerySet[Appeal], actor: Any) -> QuerySet[Appeal]:
    """Leave out the appeals against the actor's decisions, except those that only the actor, a superuser, may decide on."""
    own = Q(decision__actor=actor)
    if actor.is_superuser:
        own &= Q(Exists(_others_who_decide(actor).exclude(pk=OuterRef("appellant"))))
    return appeals.exclude(own)


@transaction.atomic
def submit_appeal(*, decision: AuditEntry, text: str, actor: Any) -> Appeal:
    """Appeal a decision, once.

    Raises:
        AppealExists: it was appealed before.
        AppealUnavailable: it is not the last decision on its row.
        InvalidInput: the text is not valid.
        NotFound: it is about someone else's row, or cannot be appealed, or the account is not active.
    """
    text = texts.clean_text(text, "text", required=False)
    if not text:
        raise texts.invalid("text", "blank", "It must not be empty.")
    # Serialised with the deletion of the account.
    lock(get_user_model()._default_manager.filter(is_active=True), pk=actor.pk)
    decision, subject = own_decision(decision_id=decision.pk, user=actor)
    if hasattr(decision, "appeal"):
        raise AppealExists(appealId=str(decision.appeal.pk))
    if appealable_decision(subject) != decision:
        raise AppealUnavailable
    try:
        with transaction.atomic():
            appeal = Appeal.objects.create(decision=decision, appellant=actor, text=text)
    except IntegrityError as error:
        # Another one was made at the same time.
        raise AppealExists(appealId=str(Appeal.objects.get(decision=decision).pk)) from error
    audit.record("appeal.submit", appeal, actor=actor, to_state=appeal.status, decision=str(decision.pk))
    return appeal


@transaction.atomic
def uphold_decision(*, appeal: Appeal, reason: str, actor: Any) -> Appeal:
    """Let the decision stand, for good.

    Raises:
        InvalidInput: the reason is not valid.
        InvalidTransition: the appeal was decided already.
        SelfReview: the actor is the appellant, or took the decision, except for a superuser where nobody else can decide.
    """
    appeal = _decide(appeal, "dismiss", reason, actor)
    if appeal.appellant.is_active:
        mail(appeal.appellant, "review/appeal_dismissed", appeal=appeal, decision=appeal.decision)
    return appeal


@transaction.atomic
def overturn_decision(*, appeal: Appeal, reason: str, actor: Any) -> Appeal:
    """Overturn the decision: what it is about is restored, and its owner gets the mail of that.

    Raises:
        InvalidInput: the reason is not valid.
        InvalidTransition: the appeal was decided already, or the row has changed since the decision.
        SelfReview: the actor is the appellant, or took the decision, except for a superuser where nobody else can decide.
    """
    appeal = _decide(appeal, "accept", reason, actor)
    decision = appeal.decision
    appealable = _appealable[decision.subject_type]
    subject = appealable.lock(decision.subject_id)
    if appealable_decision(subject) != decision:
        raise InvalidTransition(
            "It was decided on or submitted again since then, so there is nothing left to overturn. Let the decision stand."
        )
    appealable.overturns[decision.action](subject=subject, decision=decision, reason=appeal.answer, actor=actor)
    return appeal


def _own_row(appealable: Appealable, subject_id: str, user: models.Model) -> Any:
    try:
        return appealable.model._default_manager.filter(**{appealable.owner: user}, pk=subject_id).first()
    except (ValidationError, ValueError):
        return None


def _decide(appeal: Appeal, verb: str, reason: str, actor: Any) -> Appeal:
    rows = Appeal.objects.select_related("appellant", "decision")
    decided = APPEAL_TRANSITIONS.decide(rows, verb, pk=appeal.pk, actor=actor, reason=reason, decided_at=timezone.now(), decided_by=actor)
    if not may_decide(decided, actor):
        raise SelfReview("Whoever took the decision cannot decide on its appeal.")
    return decided


def _others_who_decide(actor: Any) -> QuerySet[Any]:
    """Return the other reviewers who may decide on appeals."""
    codename = "decide_appeal"
    allowed = Q(is_superuser=True) | Q(user_permissions__codename=codename) | Q(groups__permissions__codename=codename)
    return get_user_model()._default_manager.filter(allowed, is_active=True, is_staff=True).exclude(pk=actor.pk)

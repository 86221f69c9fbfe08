"""Background jobs of the wallet, subscribed to its own events and to those of `developers`."""

import uuid

from django.db import transaction
from django.utils import timezone

from developers.events import ConsentWithdrawn
from marketplace.accounts.models import User
from marketplace.core.events import subscribe_later
from marketplace.core.transitions import lock
from marketplace.jobs.policy import job

from .card_credit import refundable_top_ups
from .events import DeletedAccountCredited
from .models import Approval, TopUp
from .models.top_ups import TopUpStatus
from .services.approvals import APPROVAL_TRANSITIONS
from .services.card_refunds import refund_of_deleted_account
from .services.top_ups import fail_top_up


@job()
@transaction.atomic
def end_top_ups(user_id: str, app_id: str) -> None:
    """Mark the pending top-ups as failed that a disconnected app asked for; one that is paid all the same is credited."""
    pending = TopUp.objects.filter(user=uuid.UUID(user_id), app=uuid.UUID(app_id), status=TopUpStatus.PENDING)
    for top_up in pending.select_for_update(no_key=True).order_by("pk"):
        fail_top_up(top_up=top_up)


@job()
@transaction.atomic
def decline_purchases(user_id: str, app_id: str) -> None:
    """Decline the purchases that a disconnected app asked for and has not made."""
    lock(User.objects.all(), pk=user_id)
    asked = Approval.objects.filter(owner=uuid.UUID(user_id), app=uuid.UUID(app_id), status__in=APPROVAL_TRANSITIONS.edges["decline"][0])
    for approval in asked.select_for_update(no_key=True).order_by("pk"):
        APPROVAL_TRANSITIONS.apply(approval, "decline", actor=None, changes={"decided_at": timezone.now()})


@job()
def return_card_credit(user_id: str) -> None:
    """Return to its cards the credit that a deleted account got back, newest payment first."""
    for top_up in refundable_top_ups(uuid.UUID(user_id)):
        refund_of_deleted_account(top_up=top_up)


subscribe_later(DeletedAccountCredited, return_card_credit)
subscribe_later(ConsentWithdrawn, end_top_ups)
subscribe_later(ConsentWithdrawn, decline_purchases)

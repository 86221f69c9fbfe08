"""Background jobs of the wallet, subscribed to its own events and to those of `developers`."""

import uuid

from developers.events import ConsentWithdrawn
from marketplace.core.events import subscribe_later
from marketplace.jobs.policy import job

from .events import DeletedAccountCredited
from .models import TopUp
from .models.top_ups import TopUpStatus
from .services.approvals import decline_purchases_of_app
from .services.card_refunds import refund_top_up_of_deleted_account
from .services.top_ups import end_top_ups_of_app


@job()
def end_top_ups(user_id: str, app_id: str) -> None:
    """Mark as failed the pending top-ups that a disconnected app asked for."""
    end_top_ups_of_app(user_id=uuid.UUID(user_id), app_id=uuid.UUID(app_id))


@job()
def decline_purchases(user_id: str, app_id: str) -> None:
    """Decline the purchases that a disconnected app asked for."""
    decline_purchases_of_app(user_id=uuid.UUID(user_id), app_id=uuid.UUID(app_id))


@job()
def return_card_credit(user_id: str) -> None:
    """Return to its cards the credit that a deleted account got back, newest payment first."""
    for top_up in TopUp.objects.filter(user=uuid.UUID(user_id), status=TopUpStatus.SUCCEEDED).order_by("-paid_at", "-pk"):
        refund_top_up_of_deleted_account(top_up=top_up)


subscribe_later(DeletedAccountCredited, return_card_credit)
subscribe_later(ConsentWithdrawn, end_top_ups)
subscribe_later(ConsentWithdrawn, decline_purchases)

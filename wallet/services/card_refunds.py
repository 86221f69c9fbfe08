"""Refunds of top-ups to their cards, started by staff or for a deleted account, and made by a job."""

from contextlib import suppress

from django.db import transaction

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition
from marketplace.core.transitions import lock, lock_for_decision
from marketplace.jobs.policy import job

from ..models import CardReversal, TopUp
from ..models.top_ups import ReversalStatus
from ..providers import provider_named
from .provider_events import apply_waiting
from .reversals import open_refund, settle_reversal
from .top_ups import TOP_UP_TRANSITIONS, lock_top_up


@transaction.atomic
def refund_top_up(*, top_up: TopUp, reason: str, actor: User) -> TopUp:
    """Refund what has not returned of a top-up, and is in the wallet, to the card that paid it. A job calls the provider.

    Raises:
        InvalidTransition: it is not paid, a dispute or refund is open, or nothing of it can be refunded.
        InvalidInput: no reason.
        SelfReview: the actor owns the wallet.
        NotFound: there is no such top-up.
    """
    reason = texts.clean_text(reason, "reason")
    # The buyer first, as in `lock_top_up`.
    lock(User.objects.all(), pk=top_up.user_id)
    top_up = lock_for_decision(TopUp.objects.select_related("user"), pk=top_up.pk, owner="user_id", actor=actor)
    _start_refund(top_up, reason=reason, actor=actor)
    return top_up


@transaction.atomic
def refund_top_up_of_deleted_account(*, top_up: TopUp) -> None:
    """Refund what can be refunded of a deleted account's top-up to its card, unless that is nothing, or another refund or dispute is open."""
    top_up = lock_top_up(top_up=top_up)
    with suppress(InvalidTransition):
        _start_refund(top_up, reason="refund to a deleted account", actor=None)


def _start_refund(top_up: TopUp, *, reason: str, actor: User | None) -> None:
    if not TOP_UP_TRANSITIONS.allows(top_up, "return"):
        raise InvalidTransition(f"The top-up is {top_up.status}.")
    if top_up.reversals.filter(status=ReversalStatus.OPEN).exists():
        raise InvalidTransition("A refund or dispute of this top-up is open. Wait until it is decided.")
    reversal = open_refund(top_up=top_up)
    if reversal is None:
        raise InvalidTransition("Nothing of the top-up is left in the wallet.")
    audit.record("top_up.refund", top_up, actor=actor, reason=reason, currency=top_up.currency, amountMinor=reversal.amount_minor)
    send_refund.enqueue(str(reversal.pk))


@job()
def send_refund(reversal_id: str) -> None:
    """Ask the provider for a refund, outside of a transaction, and settle it if it is done; one that is refused returns to the wallet."""
    reversal = CardReversal.objects.select_related("top_up").filter(pk=reversal_id, status=ReversalStatus.OPEN).first()
    if reversal is None:
        return
    top_up = reversal.top_up
    provider = provider_named(top_up.provider)
    if provider is None:
        message = f"the provider {top_up.provider} is not set up"
        raise RuntimeError(message)
    refund = provider.refund(payment=top_up.payment_reference, amount_minor=reversal.amount_minor, reversal_id=reversal.pk)
    with transaction.atomic():
        top_up = lock_top_up(top_up=top_up)
        reversal = top_up.reversals.select_related("freeze_journal").get(pk=reversal.pk)
        if reversal.status != ReversalStatus.OPEN:
            return
        if refund is not None:
            reversal.reference = refund.reference
            reversal.save(update_fields=["reference"])
        if refund is None or refund.done:
            settle_reversal(reversal=reversal, end=ReversalStatus.PAYMENT_KEPT if refund is None else ReversalStatus.PAYMENT_RETURNED)
            apply_waiting(top_up=top_up)

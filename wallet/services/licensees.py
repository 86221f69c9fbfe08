"""Purchases for someone else: the payer keeps the order, and the licensee is sent a link to claim the licence."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from library import bounds
from library.licensees import Licensee
from library.services.claims import send_claim_link
from library.services.licences import LicenceHolder, lock_licence
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import InvalidTransition, RateLimited
from marketplace.core.transitions import lock

from ..licensees import licences_for_others
from ..models import Order


def licence_holder(*, buyer: User, licensee: Licensee | None) -> LicenceHolder:
    """Return whose the licence of a purchase is; one for someone else locks the buyer, in the caller's transaction.

    Raises:
        RateLimited: it is for someone else, and the buyer has had too many claim links sent.
    """
    if licensee is None:
        return LicenceHolder(buyer_id=buyer.pk)
    _limit_claim_links(buyer)
    return LicenceHolder(buyer_id=None, licensee_name=licensee.name, licensee_email=licensee.email, claim_sent_at=timezone.now())


@transaction.atomic
def resend_claim_link(*, order: Order, actor: User) -> None:
    """Send the licensee of a purchase a new claim link; the one before it stops working.

    Raises:
        NotFound: it is not the actor's purchase.
        InvalidTransition: it was claimed or refunded, or it is not for someone else.
        RateLimited: the last link was sent within the hour, or there were too many in a day.
    """
    _limit_claim_links(actor)
    order = lock(Order.objects.all(), pk=order.pk, buyer=actor)
    licence = lock_licence(order_id=order.pk)
    if licence.claim_sent_at is None or licence.claimed_at is not None or licence.revoked_at is not None:
        raise InvalidTransition("The licence was claimed or refunded, so there is nothing to send.")
    wait = licence.claim_sent_at + timedelta(minutes=bounds.CLAIM_LINK_MINUTES) - timezone.now()
    if wait > timedelta(0):
        detail = (
            f"A link was sent less than {bounds.CLAIM_LINK_MINUTES} minutes ago. Ask the licensee to look for the mail, or try again later."
        )
        raise RateLimited(detail, headers={"Retry-After": str(int(wait.total_seconds()) + 1)})
    send_claim_link(licence=licence, payer=actor)
    audit.record("licence.send_link", licence, actor=actor)


def _limit_claim_links(payer: User) -> None:
    """Lock the payer, and refuse a claim link if there were as many in a day as there may be."""
    lock(User.objects.all(), pk=payer.pk)
    day = timedelta(days=1)
    if licences_for_others(payer).filter(claim_sent_at__gt=timezone.now() - day).count() >= bounds.CLAIM_LINKS_A_DAY:
        detail = f"You can have links for {bounds.CLAIM_LINKS_A_DAY} licences sent in a day. Try again tomorrow."
        raise RateLimited(detail, headers={"Retry-After": str(int(day.total_seconds()))})

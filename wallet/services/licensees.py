"""Purchases for someone else: the buyer keeps the order, and the licensee is sent a link to claim the licence."""

from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from library import bounds
from library.licensees import Licensee
from library.models import Licence
from library.services.claims import send_claim_link
from library.services.licences import LicenceRecipient, lock_licence
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import InvalidTransition, RateLimited
from marketplace.core.models import AuditEntry
from marketplace.core.transitions import lock

from ..licensees import licences_for_others
from ..models import Order

_DAY = timedelta(days=1)
_SENT_AGAIN = "licence.send_link"


def licence_recipient(*, buyer: User, licensee: Licensee | None) -> LicenceRecipient:
    """Return who gets the licence of a purchase. One for someone else locks the buyer, in the caller's transaction.

    Raises:
        RateLimited: it is for someone else, and the buyer has had too many claim links sent.
    """
    if licensee is None:
        return LicenceRecipient(holder_id=buyer.pk, licensee_name="", licensee_email="", claim_sent_at=None)
    _limit_claim_links(buyer)
    return LicenceRecipient(holder_id=None, licensee_name=licensee.name, licensee_email=licensee.email, claim_sent_at=timezone.now())


@transaction.atomic
def resend_claim_link(*, order: Order, actor: User) -> None:
    """Send the licensee of a purchase a new claim link; the one before it stops working.

    Raises:
        NotFound: it is not the actor's purchase.
        InvalidTransition: the licence was claimed or revoked, or it is not for someone else.
        RateLimited: the last link was sent within the hour, or the actor or the address has had too many in a day.
    """
    _limit_claim_links(actor)
    order = lock(Order.objects.all(), pk=order.pk, buyer=actor)
    licence = lock_licence(order_id=order.pk)
    if licence.claim_sent_at is None or licence.claimed_at is not None or licence.revoked_at is not None:
        raise InvalidTransition("The licence was claimed, has ended, or is your own, so there is no link to send.")
    wait = licence.claim_sent_at + timedelta(minutes=bounds.MINUTES_BETWEEN_CLAIM_LINKS) - timezone.now()
    if wait > timedelta(0):
        detail = f"A link was sent less than {bounds.MINUTES_BETWEEN_CLAIM_LINKS} minutes ago. Ask the licensee to look for the email, or try again later."
        raise RateLimited(detail, headers={"Retry-After": str(int(wait.total_seconds()) + 1)})
    if _links_sent_again(licence.licensee_email).count() >= bounds.CLAIM_LINKS_A_DAY_TO_ONE_ADDRESS:
        detail = f"{bounds.CLAIM_LINKS_A_DAY_TO_ONE_ADDRESS} links were sent again to this address in a day. Try again in 24 hours."
        raise RateLimited(detail, headers={"Retry-After": str(int(_DAY.total_seconds()))})
    send_claim_link(licence=licence, buyer=actor)
    audit.record(_SENT_AGAIN, licence, actor=actor)


def _limit_claim_links(buyer: User) -> None:
    """Lock the buyer, and refuse a claim link beyond the number that is allowed in a day."""
    lock(User.objects.filter(is_active=True), pk=buyer.pk)
    since = timezone.now() - _DAY
    first = licences_for_others(buyer.pk).filter(acquired_at__gt=since).count()
    again = AuditEntry.objects.filter(actor=buyer, action=_SENT_AGAIN, at__gt=since).count()
    if first + again >= bounds.CLAIM_LINKS_A_DAY:
        detail = f"You can have {bounds.CLAIM_LINKS_A_DAY} claim links sent in a day. Try again in 24 hours."
        raise RateLimited(detail, headers={"Retry-After": str(int(_DAY.total_seconds()))})


def _links_sent_again(address: str) -> QuerySet[AuditEntry]:
    """Return the claim links that were sent again to an address within a day, whoever paid for the licences."""
    since = timezone.now() - _DAY
    licences = Licence.objects.filter(licensee_email=address, claim_sent_at__gt=since).values_list("pk", flat=True)
    subjects = [str(pk) for pk in licences]
    return AuditEntry.objects.filter(subject_type=Licence._meta.label_lower, subject_id__in=subjects, action=_SENT_AGAIN, at__gt=since)

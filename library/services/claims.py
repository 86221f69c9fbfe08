"""Claim links, with which a licensee puts a licence that someone else bought into their own library."""

import secrets
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from developers.secrets import digest_of
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.database import violates
from marketplace.core.errors import NotFound
from marketplace.core.transitions import lock
from marketplace.ui.mail import mail

from .. import bounds
from ..errors import AlreadyOwned, ClaimEnded
from ..models import Licence


@transaction.atomic
def send_claim_link(*, licence: Licence, buyer: User) -> None:
    """Mail the licensee a new claim link, which ends the one before it; the caller has locked the licence.

    The mail names the buyer by the address of the account, unless it is deleted, and has nothing in it that the buyer wrote.
    """
    secret = secrets.token_urlsafe(32)
    licence.claim_digest, licence.claim_sent_at = digest_of(secret), timezone.now()
    licence.save(update_fields=["claim_digest", "claim_sent_at"])
    recipient = User(email=licence.licensee_email)
    mail(recipient, "library/claim", licence=licence, buyer=buyer, secret=secret, days=bounds.CLAIM_LINK_DAYS)


def claimable_licence(*, secret: str, claimant: User) -> Licence:
    """Return the licence that a link belongs to.

    Raises:
        NotFound: the link is unknown, or a newer one was sent.
        ClaimEnded: it has expired, someone else has used it, or the purchase was refunded or charged back.
    """
    licence = _with_link(secret).first()
    if licence is None:
        raise NotFound
    _require_claimable(licence, claimant)
    return licence


@transaction.atomic
def claim_licence(*, secret: str, actor: User) -> Licence:
    """Put the licence that a link belongs to in the actor's library; claiming it again does nothing.

    Raises:
        NotFound, ClaimEnded: see `claimable_licence`.
        AlreadyOwned: the actor has such a licence.
    """
    # The account first, as in its deletion, which erases the licensee of what it has claimed.
    lock(User.objects.all(), pk=actor.pk, is_active=True)
    licence = lock(_with_link(secret))
    _require_claimable(licence, actor)
    if licence.holder_id == actor.pk:
        return licence
    licence.holder, licence.claimed_at = actor, timezone.now()
    try:
        licence.save(update_fields=["holder", "claimed_at"])
    except IntegrityError as error:
        if violates(error, Licence, "licence_one_unrevoked"):
            raise AlreadyOwned(AlreadyOwned.by_claimant, assetId=str(licence.listing_id), licenseSlug=licence.tier.slug) from error
        raise
    audit.record("licence.claim", licence, actor=actor)
    return licence


def _with_link(secret: str) -> QuerySet[Licence]:
    return Licence.objects.select_related("listing", "tier").filter(claim_digest=digest_of(secret))


def _require_claimable(licence: Licence, claimant: User) -> None:
    if licence.revoked_at is not None:
        raise ClaimEnded("The purchase was refunded or charged back.")
    if licence.holder_id == claimant.pk:
        return
    if licence.holder_id is not None:
        raise ClaimEnded("Someone has used it already. If that was not you, tell whoever paid for the licence.")
    if licence.claim_sent_at is None or licence.claim_sent_at <= timezone.now() - timedelta(days=bounds.CLAIM_LINK_DAYS):
        raise ClaimEnded

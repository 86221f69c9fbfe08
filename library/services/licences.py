"""Grant and revoke licences. Both run in the caller's transaction: a purchase or a refund."""

import uuid

from django.db import IntegrityError
from django.utils import timezone

from catalog.models import Deliverable, LicenseTier, Listing
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.integrity import violates

from ..errors import AlreadyOwned
from ..models import Licence


def grant_licence(*, buyer: User, listing: Listing, tier: LicenseTier, deliverable: Deliverable, order_id: uuid.UUID) -> Licence:
    """Give the buyer a licence.

    Raises:
        AlreadyOwned: there is a live one of this tier; the caller's transaction cannot go on.
    """
    try:
        return Licence.objects.create(buyer=buyer, listing=listing, tier=tier, deliverable=deliverable, order_id=order_id)
    except IntegrityError as error:
        if violates(error, Licence, "licence_one_live"):
            raise AlreadyOwned(assetId=str(listing.id), licenseSlug=tier.slug) from error
        raise


def revoke_licence(*, order_id: uuid.UUID, reason: str, actor: User | None) -> None:
    """Take back the licence of an order; links to it die at once. Revoking it again changes nothing."""
    licence = Licence.objects.get(order_id=order_id)
    revoked = Licence.objects.filter(pk=licence.pk, revoked_at__isnull=True).update(revoked_at=timezone.now(), revoke_reason=reason)
    if revoked:
        audit.record("licence.revoke", licence, actor=actor, reason=reason)

"""Grants and revokes licences, in the caller's transaction."""

import uuid

from django.db import IntegrityError
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.database import insert_rows, violates

from ..errors import AlreadyOwned
from ..models import Licence


def grant_licence(
    *,
    buyer_id: uuid.UUID,
    listing_id: uuid.UUID,
    tier_id: uuid.UUID,
    license_slug: str,
    deliverable_id: uuid.UUID,
    order_id: uuid.UUID,
    title: str,
    store_name: str,
    version: str,
) -> None:
    """Grant the buyer a licence, in one statement.

    Raises:
        AlreadyOwned: the buyer has a live licence of this tier; the transaction must be rolled back.
    """
    granted = {
        "buyer_id": buyer_id,
        "listing_id": listing_id,
        "tier_id": tier_id,
        "deliverable_id": deliverable_id,
        "order_id": order_id,
        "title": title,
        "store_name": store_name,
        "version": version,
    }
    try:
        insert_rows(Licence, granted)
    except IntegrityError as error:
        if violates(error, Licence, "licence_one_live"):
            raise AlreadyOwned(assetId=str(listing_id), licenseSlug=license_slug) from error
        raise


def revoke_licence(*, order_id: uuid.UUID, reason: str, actor: User | None) -> None:
    """Revoke the licence of an order, and with it its download links. Revoking it again does nothing."""
    licence = Licence.objects.get(order_id=order_id)
    revoked = Licence.objects.filter(pk=licence.pk, revoked_at__isnull=True).update(revoked_at=timezone.now(), revoke_reason=reason)
    if revoked:
        audit.record("licence.revoke", licence, actor=actor, reason=reason)

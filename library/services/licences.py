"""Grants and revokes licences, in the caller's transaction."""

import uuid
from collections.abc import Iterable

from django.db import IntegrityError
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.database import insert_rows, violates
from marketplace.core.transitions import lock

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


def lock_licence(*, order_id: uuid.UUID) -> Licence:
    """Return the locked licence of an order: until the end of the transaction, no download of it is recorded.

    Raises:
        NotFound: there is none.
    """
    return lock(Licence.objects.all(), order_id=order_id)


def suspend_licences(*, order_ids: Iterable[uuid.UUID], reason: str) -> None:
    """Suspend the live licences of these orders, and with them their download links."""
    _set_suspended(order_ids, "suspend", reason, from_null=True)


def restore_licences(*, order_ids: Iterable[uuid.UUID], reason: str) -> None:
    """Restore suspended licences of these orders."""
    _set_suspended(order_ids, "restore", reason, from_null=False)


def _set_suspended(order_ids: Iterable[uuid.UUID], verb: str, reason: str, *, from_null: bool) -> None:
    licences = Licence.objects.filter(order_id__in=list(order_ids), revoked_at__isnull=True, suspended_at__isnull=from_null)
    for licence in licences.select_for_update(no_key=True).order_by("pk"):
        licence.suspended_at = timezone.now() if from_null else None
        licence.save(update_fields=["suspended_at"])
        audit.record(f"licence.{verb}", licence, actor=None, reason=reason)

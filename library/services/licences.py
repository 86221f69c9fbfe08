"""Grants and revokes licences, in the caller's transaction."""

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import TypedDict, Unpack

from django.db import IntegrityError
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.database import insert_rows, violates
from marketplace.core.transitions import lock

from ..errors import AlreadyOwned, LicenseNotUpgradable
from ..models import Licence
from ..models.licences import CURRENT


class LicenceRecipient(TypedDict):
    """The attributes of `Licence` that say who gets it: a holder, or a licensee who is sent a link to claim it."""

    holder_id: uuid.UUID | None
    licensee_name: str
    licensee_email: str
    claim_sent_at: datetime | None


class NewLicence(LicenceRecipient):
    """The attributes of `Licence` that a purchase decides."""

    listing_id: uuid.UUID
    tier_id: uuid.UUID
    terms_id: uuid.UUID
    deliverable_id: uuid.UUID
    order_id: uuid.UUID
    title: str
    store_name: str
    version: str
    ai_training: str
    replaces_id: uuid.UUID | None


def grant_licence(*, license_slug: str, **licence: Unpack[NewLicence]) -> None:
    """Grant a licence, in one statement; `license_slug` is the slug of its tier.

    Raises:
        AlreadyOwned: the buyer or licensee has a licence of this tier that is not revoked, even one that an upgrade replaced; the transaction must be rolled back.
    """
    try:
        insert_rows(Licence, licence)
    except IntegrityError as error:
        if violates(error, Licence, "licence_one_unrevoked"):
            raise AlreadyOwned(assetId=str(licence["listing_id"]), licenseSlug=license_slug) from error
        if violates(error, Licence, "licence_one_for_licensee"):
            raise AlreadyOwned(AlreadyOwned.by_licensee, assetId=str(licence["listing_id"]), licenseSlug=license_slug) from error
        raise


def replace_licence(*, order_id: uuid.UUID) -> uuid.UUID:
    """Mark the licence of an order as replaced by the one that is granted next, and return its id.

    Raises:
        LicenseNotUpgradable: it was revoked, replaced or suspended; the transaction must be rolled back.
    """
    usable = Licence.objects.filter(CURRENT, order_id=order_id, suspended_at__isnull=True)
    licence = usable.select_for_update(no_key=True).first()
    if licence is None:
        raise LicenseNotUpgradable
    licence.replaced_at = timezone.now()
    licence.save(update_fields=["replaced_at"])
    return licence.pk


def revoke_licence(*, order_id: uuid.UUID, reason: str, actor: User | None) -> None:
    """Revoke the licence of an order, and with it its download links. Revoking it again does nothing.

    The licence that it had replaced applies again.
    """
    licence = Licence.objects.get(order_id=order_id)
    revoked = Licence.objects.filter(pk=licence.pk, revoked_at__isnull=True).update(revoked_at=timezone.now(), revoke_reason=reason)
    if not revoked:
        return
    audit.record("licence.revoke", licence, actor=actor, reason=reason)
    if licence.replaces is not None and Licence.objects.filter(pk=licence.replaces.pk, revoked_at__isnull=True).update(replaced_at=None):
        audit.record("licence.unreplace", licence.replaces, actor=actor, reason=reason)


def lock_licence(*, order_id: uuid.UUID) -> Licence:
    """Return the locked licence of an order: until the end of the transaction, no download of it is recorded.

    Raises:
        NotFound: there is none.
    """
    return lock(Licence.objects.all(), order_id=order_id)


def suspend_licences(*, order_ids: Iterable[uuid.UUID], reason: str) -> None:
    """Suspend the licences of these orders that are not revoked, and with them their download links."""
    _set_suspended(order_ids, reason, suspended=True)


def reinstate_licences(*, order_ids: Iterable[uuid.UUID], reason: str) -> None:
    """End the suspension of licences of these orders."""
    _set_suspended(order_ids, reason, suspended=False)


def _set_suspended(order_ids: Iterable[uuid.UUID], reason: str, *, suspended: bool) -> None:
    licences = Licence.objects.filter(order_id__in=list(order_ids), revoked_at__isnull=True, suspended_at__isnull=suspended)
    for licence in licences.select_for_update(no_key=True).order_by("pk"):
        licence.suspended_at = timezone.now() if suspended else None
        licence.save(update_fields=["suspended_at"])
        audit.record("licence.suspend" if suspended else "licence.reinstate", licence, actor=None, reason=reason)

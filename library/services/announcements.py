"""Mails about files: to licence holders about a new one, at most one a day for each listing, and to whoever downloaded a malicious one."""

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from catalog.comparison.public import changes_of
from catalog.selectors import listings_for_sale, version_of_file
from marketplace.accounts.models import MailTopic, User
from marketplace.ui.mail import mail

from ..models import Download, DownloadLink, Licence, UpdateAnnouncement

BATCH = 200
# The most sentences of a mail on what changed; its page has all.
SENTENCES = 8
_INTERVAL = timedelta(days=1)


@transaction.atomic
def announce_update(*, listing_id: uuid.UUID, postpone: Callable[[datetime], object], send: Callable[[uuid.UUID], object]) -> None:
    """Announce a new file to the licence holders of a listing on sale, unless it was announced before.

    Args:
        listing_id: The listing.
        postpone: Called if the last announcement is less than a day old, with the time at which to call this again.
        send: Called with the id of the file if there are holders to mail.
    """
    listing = listings_for_sale().select_for_update(no_key=True, of=("self",)).filter(pk=listing_id).first()
    if listing is None:
        return
    file_id, last = listing.approved_deliverable_id, UpdateAnnouncement.objects.filter(listing=listing).first()
    if file_id is None or (last is not None and last.deliverable_id == file_id):
        return
    if last is not None and last.announced_at + _INTERVAL > timezone.now():
        postpone(last.announced_at + _INTERVAL)
        return
    if _holders(listing_id, file_id, None).exists():
        UpdateAnnouncement.objects.update_or_create(listing=listing, defaults={"deliverable_id": file_id, "announced_at": timezone.now()})
        send(file_id)


@transaction.atomic
def tell_holders(*, listing_id: uuid.UUID, deliverable_id: uuid.UUID, after: uuid.UUID | None) -> uuid.UUID | None:
    """Send the mail to a batch of holders in the order of their ids; return the id to continue after, None at the end."""
    listing = listings_for_sale().select_related("store", "approved_deliverable").filter(pk=listing_id).first()
    # The mail links to what changed, a page of listings on sale.
    if listing is None:
        return None
    file = listing.approved_deliverable
    # A newer file has an announcement of its own.
    if file is None or file.pk != deliverable_id or file.blocked_at is not None:
        return None
    holder_ids = list(_holders(listing_id, deliverable_id, after)[:BATCH])
    told = {"listing": listing, "version": version_of_file(file, listing), "changes": changes_of(listing).summary[:SENTENCES]}
    for holder in User.objects.filter(pk__in=holder_ids, is_active=True).order_by("pk"):
        mail(holder, "library/updated", topic=MailTopic.UPDATE, **told)
    return holder_ids[-1] if len(holder_ids) == BATCH else None


@transaction.atomic
def warn_downloaders(*, sha256: str, reason: str, after: uuid.UUID | None) -> uuid.UUID | None:
    """Mail a batch of those who downloaded a file with these bytes; return the id of the user to continue after, None at the end."""
    used = DownloadLink.objects.filter(Exists(Download.objects.filter(link=OuterRef("pk"))), deliverable__sha256=sha256)
    users = used.order_by("user_id").values_list("user_id", flat=True).distinct()
    user_ids = list((users if after is None else users.filter(user__gt=after))[:BATCH])
    links = used.filter(user__in=user_ids, user__is_active=True).select_related("user", "licence")
    # Of several downloads, the last.
    for link in {link.user_id: link for link in links.order_by("id")}.values():
        facts: dict[str, Any] = {"licence": link.licence, "file_name": link.file_name, "downloaded_at": link.issued_at}
        mail(link.user, "library/file_blocked", reason=reason, **facts)
    return user_ids[-1] if len(user_ids) == BATCH else None


def _holders(listing_id: uuid.UUID, deliverable_id: uuid.UUID, after: uuid.UUID | None) -> QuerySet[Licence, uuid.UUID]:
    """Return the ids of those who can download a listing and did not buy it with this file."""
    current = Licence.objects.filter(
        listing=listing_id, holder__isnull=False, revoked_at__isnull=True, replaced_at__isnull=True, suspended_at__isnull=True
    )
    others = (
        current.exclude(deliverable=deliverable_id)
        if after is None
        else current.exclude(deliverable=deliverable_id).filter(holder__gt=after)
    )
    return others.order_by("holder_id").values_list("holder_id", flat=True).distinct()

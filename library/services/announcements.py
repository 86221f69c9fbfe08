"""Mails about files: to licence holders about a new one, at most one a day for each listing, and to whoever downloaded a malicious one."""

import uuid
from collections import defaultdict
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from catalog.comparison.public import changes_of
from catalog.models import Deliverable
from catalog.selectors.listings import listings_on_sale, version_of_file
from marketplace.accounts.models import MailTopic, User
from marketplace.jobs.policy import job
from marketplace.ui.mail import mail

from ..models import Download, DownloadLink, Licence, UpdateAnnouncement
from ..models.licences import CURRENT

BATCH = 200
# The most sentences in a mail on what changed; the page that it links to has all.
MAX_SENTENCES = 8
_INTERVAL = timedelta(days=1)


@job()
@transaction.atomic
def announce_new_file(*, listing_id: str) -> None:
    """Tell the licence holders of a listing on sale about its new file, unless it was announced before, and at most once a day."""
    listing = listings_on_sale().select_for_update(no_key=True, of=("self",)).filter(pk=listing_id).first()
    if listing is None:
        return
    file_id, last = listing.approved_deliverable_id, UpdateAnnouncement.objects.filter(listing=listing).first()
    if file_id is None or (last is not None and last.deliverable_id == file_id):
        return
    if last is not None and last.announced_at + _INTERVAL > timezone.now():
        announce_new_file.using(run_after=last.announced_at + _INTERVAL).enqueue(listing_id=listing_id)
        return
    if _holder_ids(listing.pk, file_id, None).exists():
        UpdateAnnouncement.objects.update_or_create(listing=listing, defaults={"deliverable_id": file_id, "announced_at": timezone.now()})
        tell_holders_of_file.enqueue(listing_id=listing_id, deliverable_id=str(file_id))


@job()
@transaction.atomic
def tell_holders_of_file(*, listing_id: str, deliverable_id: str, after: str | None = None) -> None:
    """Send the mail to a batch of holders, in the order of their ids from `after`; another job sends the next batch."""
    listing = listings_on_sale().select_related("store", "approved_deliverable").filter(pk=listing_id).first()
    # The mail links to what changed, a page of listings on sale.
    if listing is None:
        return
    file = listing.approved_deliverable
    # A newer file has an announcement of its own.
    if file is None or str(file.pk) != deliverable_id or file.blocked_at is not None:
        return
    holder_ids = list(_holder_ids(listing.pk, file.pk, after)[:BATCH])
    context = {"listing": listing, "version": version_of_file(file, listing), "changes": changes_of(listing).summary[:MAX_SENTENCES]}
    for holder in User.objects.filter(pk__in=holder_ids, is_active=True).order_by("pk"):
        mail(holder, "library/updated", topic=MailTopic.UPDATE, **context)
    if len(holder_ids) == BATCH:
        tell_holders_of_file.enqueue(listing_id=listing_id, deliverable_id=deliverable_id, after=str(holder_ids[-1]))


@job()
@transaction.atomic
def tell_downloaders(*, sha256: str, blocked: bool, reason: str, after: str | None = None) -> None:
    """Tell a batch of those who downloaded a file with these bytes that it is malicious, or that it is not, unless that has changed; another job tells the next batch."""
    # Read first, so that the queries below find links by the ids of the files and do not search for the digest in each batch.
    blocked_at = dict(Deliverable.objects.filter(sha256=sha256).values_list("pk", "blocked_at"))
    if any(blocked_at.values()) != blocked:
        return
    used = DownloadLink.objects.filter(Exists(Download.objects.filter(link=OuterRef("pk"))), deliverable__in=blocked_at)
    users = used if after is None else used.filter(user__gt=after)
    user_ids = list(users.order_by("user_id").values_list("user_id", flat=True).distinct()[:BATCH])
    downloaded = defaultdict(list)
    rows = used.filter(user__in=user_ids).values_list("user_id", "licence__title", "file_name").distinct()
    for user_id, *names in rows.order_by("user_id", "licence__title", "file_name"):
        downloaded[user_id].append(names)
    for user in User.objects.filter(pk__in=user_ids, is_active=True).order_by("pk"):
        mail(user, "library/file_blocked" if blocked else "library/file_unblocked", files=downloaded[user.pk], reason=reason)
    if len(user_ids) == BATCH:
        tell_downloaders.enqueue(sha256=sha256, blocked=blocked, reason=reason, after=str(user_ids[-1]))


def _holder_ids(listing_id: uuid.UUID, deliverable_id: uuid.UUID, after: str | None) -> QuerySet[Licence, uuid.UUID]:
    """Return the ids of those who can download a listing and did not buy it with this file."""
    usable = Licence.objects.filter(CURRENT, listing=listing_id, holder__isnull=False, suspended_at__isnull=True)
    others = usable.exclude(deliverable=deliverable_id)
    if after is not None:
        others = others.filter(holder__gt=after)
    return others.order_by("holder_id").values_list("holder_id", flat=True).distinct()

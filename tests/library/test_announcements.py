"""Mails about a new version: to those whose licence covers it, at most once a day for each listing."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from catalog.events import ListingPublished
from catalog.models import Deliverable, FileFacts, Listing, Store
from catalog.services.review import block_deliverable, unblock_deliverable
from library.models import UpdateAnnouncement
from library.services import announcements
from library.services.announcements import announce_new_file
from library.services.links import issue_link, record_download
from marketplace.accounts.mail_preferences import set_mail_topics
from marketplace.accounts.models import User
from marketplace.core.events import emit
from marketplace.jobs.models import Job
from tests.eager import EagerBackend, drain, sent_mails
from tests.factories import DeliverableFactory, UserFactory
from tests.shop import archive, bought, on_sale
from wallet.models import Order
from wallet.services.refunds import refund_order

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def publish(listing: Listing, version: str, **fields: Any) -> Deliverable:
    """Put a new file on sale, as an approval does."""
    file: Deliverable = DeliverableFactory(listing=listing, version=version, approved_at=timezone.now(), **fields)
    Listing.objects.filter(pk=listing.pk).update(approved_deliverable=file)
    announce_new_file.enqueue(listing_id=str(listing.pk))
    return file


def told(user: User) -> list[str]:
    """Return the bodies of the mails about new versions that the user got."""
    return [str(message.body) for message in sent_mails() if message.to == [user.email] and "new version" in message.subject]


def test_owners_are_mailed_once_about_a_new_version_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcements, "BATCH", 2)
    listing = on_sale()
    owner, refunded, opted_out = bought(listing), bought(listing), bought(listing)
    more = [bought(listing).buyer for _ in range(3)]
    elsewhere = bought(on_sale()).buyer
    refund_order(order=refunded, reason="test", actor=None)
    set_mail_topics(user=opted_out.buyer, topics=["purchase"])
    bought(listing, owner.buyer, license_slug="commercial")
    publish(listing, "2.0")
    later = bought(listing)
    (body,) = told(owner.buyer)
    assert "version 2.0" in body
    assert f"/dashboard/library/{listing.slug}" in body
    assert [len(told(each)) for each in more] == [1] * 3
    assert told(refunded.buyer) == told(opted_out.buyer) == told(later.buyer) == told(elsewhere) == []
    # The same file again, as after a time off sale, is nothing new.
    announce_new_file.enqueue(listing_id=str(listing.pk))
    assert len(told(owner.buyer)) == 1


def test_mail_about_a_new_version_says_what_changed() -> None:
    owner = bought(on_sale())
    for sha256, hosts in ((owner.deliverable.sha256, {}), ("2" * 64, {"api.example.com": ["SKILL.md"]})):
        FileFacts.objects.create(listing=owner.listing, sha256=sha256, facts={"hosts": hosts})
    publish(owner.listing, "2.0", sha256="2" * 64)
    (body,) = told(owner.buyer)
    assert "- The file now names the host api.example.com." in body


def test_second_version_of_a_day_is_announced_the_next_day_and_only_the_newest() -> None:
    order = bought(on_sale())
    for version in ("2.0", "2.1", "2.2"):
        publish(order.listing, version)
        assert len(told(order.buyer)) == 1
    UpdateAnnouncement.objects.update(announced_at=timezone.now() - timedelta(days=1, seconds=1))
    Job.objects.filter(status="READY").update(run_after=timezone.now())
    drain()
    first, second = told(order.buyer)
    assert ("version 2.0" in first, "version 2.2" in second) == (True, True)


def test_replaced_or_blocked_file_is_not_announced() -> None:
    order = bought(on_sale())
    file = publish(order.listing, "2.0")
    UpdateAnnouncement.objects.all().delete()
    Deliverable.objects.filter(pk=file.pk).update(blocked_at=timezone.now())
    before = len(told(order.buyer))
    announce_new_file.enqueue(listing_id=str(order.listing_id))
    assert len(told(order.buyer)) == before


@pytest.mark.parametrize("leaves", [lambda: Listing.objects.update(status="Draft"), lambda: Store.objects.update(is_open=False)])
def test_version_of_a_listing_that_left_the_catalog_is_not_announced(leaves: Callable[[], object]) -> None:
    order = bought(on_sale())
    publish(order.listing, "2.0")
    assert len(told(order.buyer)) == 1
    file = publish(order.listing, "2.1")
    assert len(told(order.buyer)) == 1
    leaves()
    UpdateAnnouncement.objects.update(announced_at=timezone.now() - timedelta(days=1, seconds=1))
    Job.objects.filter(status="READY").update(run_after=timezone.now())
    drain()
    # As for a later batch of the mails.
    announcements.tell_holders_of_file.enqueue(listing_id=str(order.listing_id), deliverable_id=str(file.pk))
    assert len(told(order.buyer)) == 1


def test_publication_of_a_new_version_mails_its_owners() -> None:
    order = bought(on_sale())
    file = DeliverableFactory(listing=order.listing, approved_at=timezone.now())
    Listing.objects.filter(pk=order.listing_id).update(approved_deliverable=file)
    emit(ListingPublished(order.listing_id))
    assert len(told(order.buyer)) == 1


def told_of(words: str) -> list[str]:
    """Return whom a mail with these words in its subject was sent to."""
    return sorted(message.to[0] for message in sent_mails() if words in message.subject)


def downloaded(order: Order, times: int = 1) -> User:
    """Download what was bought; return the buyer."""
    for _ in range(times):
        record_download(link=issue_link(licence=order.buyer.licences.get(listing=order.listing)), byte_range="")
    return order.buyer


def block(listing: Listing) -> Deliverable:
    file = Deliverable.objects.get(listing=listing)
    return block_deliverable(deliverable=file, reason="It steals passwords.", actor=UserFactory())


def test_whoever_downloaded_a_malicious_file_is_told_once_and_once_more_if_it_was_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcements, "BATCH", 1)
    listing, copy, other = on_sale(archive("bad")), on_sale(archive("bad")), on_sale(archive("good"))
    buyers = [downloaded(bought(listing)), downloaded(bought(listing), times=2)]
    downloaded(bought(copy, buyers[1]))
    issue_link(licence=bought(listing).buyer.licences.get())
    downloaded(bought(other))
    gone = downloaded(bought(listing))
    User.objects.filter(pk=gone.pk).update(is_active=False)
    blocked = block(listing)
    assert told_of("Delete a file") == sorted(buyer.email for buyer in buyers)
    (message,) = [message for message in sent_mails() if message.to == [buyers[1].email] and "Delete" in message.subject]
    for words in ("It steals passwords.", listing.title, copy.title):
        assert words in message.body
    unblock_deliverable(deliverable=blocked, reason="A false alarm.", actor=UserFactory())
    assert told_of("is not malicious") == sorted(buyer.email for buyer in buyers)


def test_block_that_was_undone_before_the_mails_were_sent_warns_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    listing = on_sale(archive("bad"))
    downloaded(bought(listing))
    monkeypatch.setattr(EagerBackend, "on", False)
    unblock_deliverable(deliverable=block(listing), reason="A false alarm.", actor=UserFactory())
    drain()
    assert told_of("Delete a file") == []


def test_copy_that_is_blocked_later_warns_nobody_again() -> None:
    listing, copy = on_sale(archive("bad")), on_sale(archive("other"))
    buyer = downloaded(bought(listing))
    Deliverable.objects.filter(listing=copy).update(sha256=block(listing).sha256)
    block(copy)
    assert told_of("Delete a file") == [buyer.email]

"""The admin's first page: what waits, charts, what was decided last."""

from datetime import timedelta
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.models import Listing, ListingReview
from catalog.services.review import approve_listing, takedown_listing
from developers.models import ApiUsage, DeveloperApplication
from marketplace.core.ids import new_id
from marketplace.settings.environment import redis_caches
from marketplace.web.admin.queues import queues
from tests.admin import subjects
from tests.admin.pages import address, press, staff, text_of
from tests.callers import signed_in
from tests.catalog.cases import PASSED, add_candidate, draft, open_review, published, submitted
from tests.factories import UserFactory
from tests.servers.ports import free_port

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]
HOME = reverse("admin:index")
EVERYTHING = {queue.permission for queue in queues()} | {"wallet.view_order", "developers.view_app", "core.view_auditentry"}


def cards(client: Client) -> dict[str, str]:
    page = BeautifulSoup(client.get(HOME).content, "html.parser")
    return {str(card.h2 and card.h2.get_text(strip=True)): " ".join(card.get_text(" ").split()) for card in page.select(".home-card")}


def test_staff_without_any_permission_sees_no_queue_chart_or_decision() -> None:
    subjects.application(), subjects.review()
    client = signed_in(staff())
    page = BeautifulSoup(client.get(HOME).content, "html.parser")
    assert cards(client) == {}
    assert not page.select(".chart-figure, table")
    assert "You have no permission for any review queue" in page.get_text()


def test_charts_are_drawn_anew_while_the_cache_is_down(settings: Any) -> None:
    client = signed_in(staff(*EVERYTHING))
    settings.CACHES = redis_caches(f"redis://127.0.0.1:{free_port()}/0")
    assert BeautifulSoup(client.get(HOME).content, "html.parser").select(".chart-figure")


def test_vendors_with_held_payouts_are_not_offered_for_review() -> None:
    subjects.held_vendor()
    found = cards(signed_in(staff(*EVERYTHING)))["Vendors with held payouts"]
    assert "Start reviewing" not in found
    assert found.endswith("Open")


def test_queue_cards_are_shown_to_staff_with_their_permission_only() -> None:
    for queue in queues():
        permitted = {each.title for each in queues() if each.permission == queue.permission}
        assert cards(signed_in(staff(queue.permission))).keys() == permitted


def test_card_tells_how_many_cases_wait_for_how_long_and_who_has_claimed_them() -> None:
    reviewer, other = staff("developers.decide_developerapplication"), UserFactory()
    now = timezone.now()
    for actor in (None, reviewer, other):
        DeveloperApplication.objects.filter(pk=subjects.application().pk).update(
            submitted_at=now - timedelta(days=3, minutes=1), claimed_by=actor, claimed_at=actor and now
        )
    words = cards(signed_in(reviewer))["Developer applications"]
    assert "3 The oldest: 3 days ago . Claimed: 1 by you, 1 by others." in words


@pytest.mark.slow
def test_charts_show_sales_decisions_with_their_wait_and_calls() -> None:
    now = timezone.now()
    ApiUsage.objects.create(day=now.date(), kind="api_key", credential_id=new_id(), operation="GET x", status=200, calls=41)
    ApiUsage.objects.create(
        day=now.date() - timedelta(days=31), kind="api_key", credential_id=new_id(), operation="GET x", status=200, calls=7
    )
    for hours, status in ((1, "Approved"), (3, "Approved"), (50, "Approved"), (0.1, "Rejected")):
        listing = draft()
        ListingReview.objects.create(
            listing=listing,
            submitted_by=listing.store.owner,
            submitted_at=now - timedelta(hours=hours),
            status=status,
            checks=PASSED,
            decided_at=now,
        )
    # A takedown decides on no submission.
    listing = Listing.objects.get(pk=published().pk)
    ListingReview.objects.filter(listing=listing).update(submitted_at=now - timedelta(hours=3))
    takedown_listing(listing=listing, reason="Copied.", actor=UserFactory())
    words = text_of(signed_in(staff(*EVERYTHING)).get(HOME))
    assert "Median wait: 3 hours until approved, 6 minutes until rejected." in words
    assert "Done 41" in words
    assert "Approved 4 Rejected 1" in words


def test_decisions_of_staff_are_listed_and_nobody_elses(client: Client) -> None:
    reviewer = staff(*EVERYTHING)
    browser = signed_in(reviewer)
    case = subjects.application()
    press(browser, address(DeveloperApplication, "reject", case.pk), {"reason": "Too vague."})
    page = BeautifulSoup(browser.get(HOME).content, "html.parser")
    rows = [" ".join(row.get_text(" ").split()) for row in page.select(".home > .panel tbody tr")]
    assert len(rows) == 1
    assert "Application: reject" in rows[0]
    assert "Too vague." in rows[0]
    # An approved update leaves the listing without one, in no state.
    approve_listing(review=open_review(submitted(add_candidate(published()))), actor=reviewer)
    assert "Listing update: approve" in text_of(browser.get(HOME))

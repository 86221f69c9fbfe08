"""The admin's first page: what waits, charts, what was decided last."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_tasks.base import TaskResultStatus

from catalog.models import ListingReview
from catalog.models.reviews import ReviewStatus
from developers.models import ApiUsage, DeveloperApplication, WebhookEndpoint
from marketplace.accounts.models import User
from marketplace.core.ids import new_id
from marketplace.core.models import AuditEntry
from marketplace.jobs.models import Job
from marketplace.settings.environment import redis_caches
from marketplace.web.admin.queues import queues
from tests.admin import subjects
from tests.admin.pages import address, press, staff, text_of
from tests.callers import signed_in
from tests.catalog.cases import PASSED, draft
from tests.factories import UserFactory
from tests.servers.ports import free_port
from vendors.models import VendorProfile

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]
HOME = reverse("admin:index")
EVERYTHING = {queue.permission for queue in queues()} | {"wallet.view_order", "developers.view_app", "core.view_auditentry"}


def cards(client: Client) -> dict[str, str]:
    """Return what each card says, by its heading."""
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


@pytest.mark.slow
def test_empty_queues_say_so_and_have_no_start_button() -> None:
    client = signed_in(staff(*EVERYTHING))
    page = BeautifulSoup(client.get(HOME).content, "html.parser")
    assert set(cards(client)) == {queue.title for queue in queues()}
    assert all("Nothing is waiting" in words for words in cards(client).values())
    assert not page.select(".home-card button")
    for words in ("No sales in 30 days", "No decisions in 30 days", "No calls in 30 days", "No decisions yet"):
        assert words in page.get_text()


@pytest.mark.slow
def test_queues_in_which_something_waits_come_first() -> None:
    client = signed_in(staff(*EVERYTHING))
    assert next(iter(cards(client))) != "Developer applications"
    subjects.application()
    caches["responses"].clear()
    assert next(iter(cards(client))) == "Developer applications"


def test_card_tells_how_many_cases_wait_for_how_long_and_who_has_claimed_them() -> None:
    reviewer, other = staff("developers.decide_developerapplication"), UserFactory()
    now = timezone.now()
    for actor in (None, reviewer, other):
        DeveloperApplication.objects.filter(pk=subjects.application().pk).update(
            submitted_at=now - timedelta(days=3, minutes=1), claimed_by=actor, claimed_at=actor and now
        )
    words = cards(signed_in(reviewer))["Developer applications"]
    assert "3 The oldest: 3 days ago . Claimed: 1 by you, 1 by others." in words


def test_start_reviewing_claims_the_first_case_that_nobody_has_claimed() -> None:
    reviewer, now = staff("developers.decide_developerapplication"), timezone.now()
    taken, first, _ = (subjects.application() for _ in range(3))
    DeveloperApplication.objects.filter(pk=taken.pk).update(claimed_by=UserFactory(), claimed_at=now)
    client = signed_in(reviewer)
    response = press(client, HOME, {}, action=address(DeveloperApplication, "next"))
    first.refresh_from_db()
    assert first.claimed_by == reviewer
    assert str(first.user) in text_of(response)
    assert response.redirect_chain[-1][0].startswith(address(DeveloperApplication, "change", first.pk))


@pytest.mark.slow
def test_charts_show_sales_decisions_with_their_wait_and_calls() -> None:
    now = timezone.now()
    ApiUsage.objects.create(day=now.date(), kind="api_key", credential_id=new_id(), operation="GET x", status=200, calls=41)
    ApiUsage.objects.create(
        day=now.date() - timedelta(days=31), kind="api_key", credential_id=new_id(), operation="GET x", status=200, calls=7
    )
    for hours, status in ((1, "Approved"), (3, "Approved"), (50, "Approved"), (0.1, "Rejected")):
        case = ListingReview.objects.create(listing=draft(), submitted_at=now - timedelta(hours=hours), status=status, checks=PASSED)
        ListingReview.objects.filter(pk=case.pk).update(decided_at=now)
    words = text_of(signed_in(staff(*EVERYTHING)).get(HOME))
    assert "Median wait: 3 hours until approved, 6 minutes until rejected." in words
    assert "Done 41" in words
    assert "Approved 3" in words


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


def _one_each(make: Callable[[User, int], Any], model: Any, users: list[User]) -> None:
    model.objects.bulk_create([make(user, number) for number, user in enumerate(users)])


@pytest.mark.slow
def test_home_with_many_of_each_costs_at_most_fifteen_queries(django_assert_max_num_queries: Any) -> None:
    now = timezone.now()
    users = User.objects.bulk_create([User(email=f"u{n}@example.com", password="!") for n in range(30)])
    _one_each(lambda user, _: DeveloperApplication(user=user, what="x", why="y", submitted_at=now), DeveloperApplication, users)
    listing = draft()
    _one_each(
        lambda _, n: ListingReview(
            listing=listing, submitted_at=now - timedelta(hours=n), decided_at=now - timedelta(minutes=n), status=ReviewStatus.APPROVED
        ),
        ListingReview,
        users,
    )
    app = subjects.approved_app()
    _one_each(lambda _, n: WebhookEndpoint(app=app, url=f"https://a.example/{n}", failing_since=now, failures=1), WebhookEndpoint, users)
    _one_each(lambda user, _: AuditEntry(action="x.y", subject_type="x", subject_id="1", actor=user, to_state="z"), AuditEntry, users)
    _one_each(
        lambda _, n: ApiUsage(day=now.date(), kind="api_key", credential_id=new_id(), operation=f"GET {n}", status=200 + n % 400, calls=n),
        ApiUsage,
        users,
    )
    _one_each(
        lambda _user, _n: Job(
            status=TaskResultStatus.FAILED,
            finished_at=now,
            args_kwargs={},
            task_path="x",
            run_after=now,
            exception_class_path="",
            traceback="",
        ),
        Job,
        users,
    )
    VendorProfile.objects.filter(pk=subjects.vendor().pk).update(applied_at=now)
    client = signed_in(staff(*EVERYTHING))
    caches["responses"].clear()
    with django_assert_max_num_queries(15):
        response = client.get(HOME)
    assert response.status_code == 200
    assert "30" in cards(client)["Failed jobs"]

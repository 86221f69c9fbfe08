"""Appeals on pages, in the API and in the admin."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from catalog.models import Listing
from catalog.services.review import takedown_listing
from marketplace.accounts.models import User
from marketplace.review.appeals import uphold_decision
from marketplace.review.models import Appeal
from tests.admin.pages import address as admin_address
from tests.admin.pages import staff
from tests.callers import signed_in
from tests.catalog.cases import published, rejected, submitted
from tests.factories import UserFactory
from tests.review.cases import APPEALABLE, appealed, decision_on, owner_of, taken_down
from tests.vendors.cases import make_vendor
from tests.web.markup import read
from vendors.models import VendorProfile, VendorStatus

pytestmark = pytest.mark.django_db
API = "/api/v1/appeals"
TEXT = {"text": "It is my own work."}
# The page on which the owner learns of each decision.
PAGES = {
    "listing": lambda subject: reverse("studio-listing", args=[subject.slug]),
    "listing_update": lambda subject: reverse("studio-listing", args=[subject.slug]),
    "vendor": lambda _subject: reverse("studio"),
    "app": lambda subject: reverse("app-detail", args=[subject.pk]),
    "application": lambda _subject: reverse("developer-application"),
}
KINDS = {"listing": "asset", "listing_update": "asset", "vendor": "store", "app": "app", "application": "application"}


def ensure_vendor(subject: Any) -> None:
    """Let the owner of a listing see its pages."""
    if isinstance(subject, Listing) and not hasattr(subject.store, "vendor_profile"):
        VendorProfile.objects.create(user=subject.store.owner, store=subject.store, status=VendorStatus.APPROVED)


def test_second_appeal_in_another_window_keeps_what_was_typed_and_says_that_it_was_not_sent() -> None:
    subject = taken_down()
    owner, address = signed_in(owner_of(subject)), reverse("appeal", args=[decision_on(subject).pk])
    assert owner.post(address, TEXT).status_code == 302
    page = read(owner.post(address, {"text": "I found the contract."}), 400)
    assert "I found the contract." in page
    assert "Not sent" in page
    assert Appeal.objects.get().text == TEXT["text"]
    assert "Not sent" not in read(owner.get(address))


@pytest.mark.slow
@pytest.mark.parametrize("action", ["listing.takedown", "listing_update.reject", "vendor.suspend", "app.reject", "application.withdraw"])
def test_owner_finds_the_appeal_on_the_page_of_the_decision_and_appeals_there_or_by_the_api(
    action: str, bearer_client: Callable[..., APIClient]
) -> None:
    subject = APPEALABLE[action][0]()
    ensure_vendor(subject)
    kind, owner, program = action.partition(".")[0], signed_in(owner_of(subject)), bearer_client(owner_of(subject))
    page, address = PAGES[kind](subject), reverse("appeal", args=[decision_on(subject).pk])
    assert address in read(owner.get(page))
    assert f'href="{page}"' in read(owner.get(address))
    body = TEXT | {"kind": KINDS[kind], "subjectId": str(subject.pk)}
    if kind == "vendor":
        assert "Send appeal" in read(owner.post(address, {"text": " "}, follow=True), 400)
        assert "number" not in read(owner.post(address, TEXT, follow=True))
    else:
        made = program.post(API, body, format="json")
        assert made.status_code == 200, made.json()
        assert (made.json()["decision"], made.json()["queue"]) == (action, {"position": 1, "usualHours": None})
        assert program.get(f"{API}/{made.json()['id']}").json() == made.json()
    appeal = Appeal.objects.get()
    assert (appeal.text, appeal.appellant) == (TEXT["text"], owner_of(subject))
    again = program.post(API, body, format="json")
    assert (again.status_code, again.json()["code"], again.json()["appealId"]) == (409, "appeal_exists", str(appeal.pk))
    assert TEXT["text"] in read(owner.post(address, {"text": "I ask again."}), 400)
    assert "See your appeal" in read(owner.get(page))
    assert TEXT["text"] in read(owner.get(address))


@pytest.mark.slow
def test_waiting_listing_and_vendor_have_their_position_in_the_api(bearer_client: Callable[..., APIClient]) -> None:
    submitted()
    profile = make_vendor()
    listing = submitted(rejected(store=profile.store))
    reviews = bearer_client(profile.user).get(f"/api/v1/vendor/assets/{listing.pk}/reviews").json()["items"]
    assert [review["queue"] and review["queue"]["position"] for review in reviews] == [2, None]
    _, pending = make_vendor(VendorStatus.PENDING), make_vendor(VendorStatus.PENDING)
    assert bearer_client(pending.user).get("/api/v1/vendor/application-status").json()["queue"]["position"] == 2


@pytest.mark.slow
def test_owner_sees_all_appeals_with_their_places_and_answers(django_assert_max_num_queries: Any) -> None:
    appealed()
    store = make_vendor().store
    user, listings = store.owner, [published(store=store, title=f"Listing {number}") for number in range(4)]
    for listing in listings:
        takedown_listing(listing=listing, reason="Copied.", actor=UserFactory())
    first, *_ = [appealed(listing) for listing in listings]
    uphold_decision(appeal=first, reason="It is a copy.", actor=staff("review.decide_appeal"))
    client = signed_in(user)
    with django_assert_max_num_queries(9):
        page = read(client.get("/dashboard/appeals"))
    rows = [row.get_text(" ") for row in BeautifulSoup(page, "html.parser").select("tbody tr")]
    assert [re.findall(r"Listing (\d)|number (\d) in the queue", row) for row in rows] == [
        [("3", ""), ("", "4")],
        [("2", ""), ("", "3")],
        [("1", ""), ("", "2")],
        [("0", "")],
    ]


def test_appeals_of_others_are_neither_listed_nor_made_and_a_page_that_is_not_there_is_not_found(
    bearer_client: Callable[..., APIClient],
) -> None:
    other, user = appealed(), UserFactory()
    client, program = signed_in(user), bearer_client(user)
    assert str(other.decision_id) not in read(client.get("/dashboard/appeals"))
    assert program.get(API).json()["items"] == []
    for subject_id in (other.decision.subject_id, "no-id"):
        assert program.post(API, TEXT | {"kind": "asset", "subjectId": subject_id}, format="json").status_code == 404
    for page in ("0", "2", "x"):
        assert client.get("/dashboard/appeals", {"page": page}).status_code == 404


@pytest.mark.slow
def test_queue_offers_a_reviewer_what_others_decided(client: Client) -> None:
    me = staff("review.view_appeal", "review.decide_appeal")
    mine, other = appealed(taken_down(me)), appealed()
    client.force_login(me)
    overturn = {each: admin_address(Appeal, "overturn", each.pk) for each in (mine, other)}
    for each in (mine, other):
        page = read(client.get(admin_address(Appeal, "change", each.pk)))
        assert ("It is my own work." in page, "Copied." in page, overturn[each] in page) == (True, True, each == other)
    client.post(admin_address(Appeal, "uphold", mine.pk), {"reason": "It is the same."}, follow=True)
    mine.refresh_from_db()
    assert mine.status == "Pending"
    assert client.post(reverse("admin:review_appeal_next"))["Location"].startswith(admin_address(Appeal, "change", other.pk))


def test_superuser_is_offered_appeals_against_their_own_decisions_only_if_nobody_else_can_decide() -> None:
    root = UserFactory(is_staff=True, is_superuser=True)
    appeal = appealed(taken_down(root))
    browser, queue, take_next = signed_in(root), admin_address(Appeal, "changelist"), admin_address(Appeal, "next")
    # The appellant's own permission does not count.
    User.objects.filter(pk=appeal.appellant_id).update(is_staff=True, is_superuser=True)
    assert "For you to review in this list: 1," in read(browser.get(queue))
    assert str(appeal.pk) in browser.post(take_next)["Location"]
    Appeal.objects.update(claimed_by=None, claimed_at=None)
    staff("review.decide_appeal")
    assert "For you to review in this list: 0," in read(browser.get(queue))
    assert browser.post(take_next)["Location"] == queue

"""Appeals on pages, in the API and in the admin."""

from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from catalog.models import Listing
from catalog.services.review import takedown_listing
from marketplace.core.models import AuditEntry
from marketplace.review.appeals import uphold_decision
from marketplace.review.models import Appeal
from tests.callers import bearer, personal_token, signed_in
from tests.catalog.cases import published, rejected, submitted
from tests.factories import UserFactory
from tests.review.cases import APPEALABLE, appealed, application, decision_on, owner_of, reviewer, suspended_vendor, taken_down
from tests.vendors.cases import make_vendor
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


def read(response: Any, status: int = 200) -> str:
    """Return the page."""
    assert response.status_code == status
    return str(response.content.decode())


def ensure_vendor(subject: Any) -> None:
    """Let the owner of a listing see its pages."""
    if isinstance(subject, Listing) and not hasattr(subject.store, "vendor_profile"):
        VendorProfile.objects.create(user=subject.store.owner, store=subject.store, status=VendorStatus.APPROVED)


def client_of(user: Any) -> APIClient:
    """Return a program with the user's token."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=bearer(personal_token(user)[1])["Authorization"])
    return client


@pytest.mark.slow
@pytest.mark.parametrize("action", ["listing.takedown", "listing_update.reject", "vendor.suspend", "app.reject", "application.withdraw"])
def test_owner_finds_the_appeal_on_the_page_of_the_decision_and_appeals_there_or_by_the_api(action: str) -> None:
    subject = APPEALABLE[action][0]()
    ensure_vendor(subject)
    kind, owner, program = action.partition(".")[0], signed_in(owner_of(subject)), client_of(owner_of(subject))
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
    assert "See your appeal" in read(owner.get(page))
    assert TEXT["text"] in read(owner.get(address))


@pytest.mark.slow
def test_listing_on_sale_has_nothing_to_appeal() -> None:
    listing = published(store=make_vendor().store)
    browser, program = signed_in(listing.store.owner), client_of(listing.store.owner)
    refused = program.post(API, TEXT | {"kind": "asset", "subjectId": str(listing.pk)}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "appeal_unavailable")
    assert "appeal" not in read(browser.get(reverse("studio-listing", args=[listing.slug])))
    approval = AuditEntry.objects.get(action="listing.approve")
    assert browser.get(reverse("appeal", args=[approval.pk])).status_code == 404


@pytest.mark.slow
def test_vendor_sees_the_position_of_a_waiting_listing_in_the_queue() -> None:
    submitted()
    profile = make_vendor()
    listing = submitted(rejected(store=profile.store))
    assert "number 2 in the queue" in read(signed_in(profile.user).get(reverse("studio-listing", args=[listing.slug])))
    reviews = client_of(profile.user).get(f"/api/v1/vendor/assets/{listing.pk}/reviews").json()["items"]
    assert [review["queue"] and review["queue"]["position"] for review in reviews] == [2, None]
    make_vendor(VendorStatus.PENDING)
    pending = make_vendor(VendorStatus.PENDING)
    assert "number 2 in the queue" in read(signed_in(pending.user).get(reverse("studio")))
    assert client_of(pending.user).get("/api/v1/vendor/application-status").json()["queue"]["position"] == 2
    application()
    assert "number 2 in the queue" in read(signed_in(application().user).get(reverse("developer-application")))
    appealed()
    appeal = appealed(suspended_vendor())
    assert "number 2 in the queue" in read(signed_in(appeal.appellant).get(reverse("appeal", args=[appeal.decision_id])))


def admin_address(appeal: Appeal, step: str) -> str:
    """Return the address of a page of an appeal in the admin."""
    return reverse(f"admin:review_appeal_{step}", args=[appeal.pk])


@pytest.mark.slow
def test_owner_sees_all_appeals_with_their_places_and_answers(django_assert_max_num_queries: Any) -> None:
    appealed()
    store = make_vendor().store
    user, listings = store.owner, [published(store=store, title=f"Listing {number}") for number in range(4)]
    for listing in listings:
        takedown_listing(listing=listing, reason="Copied.", actor=UserFactory())
    first, *others = [appealed(listing) for listing in listings]
    uphold_decision(appeal=first, reason="It is a copy.", actor=reviewer())
    client = signed_in(user)
    with django_assert_max_num_queries(9):
        page = read(client.get("/dashboard/appeals"))
    text = BeautifulSoup(page, "html.parser").find("table")
    assert text is not None
    rows = [" ".join(row.get_text(" ").split()) for row in text.find_all("tr")[1:]]
    assert [f"number {place} in the queue" in row for place, row in zip((4, 3, 2), rows, strict=False)] == [True] * 3
    assert [f"Listing {number}" in row for number, row in zip((3, 2, 1, 0), rows, strict=True)] == [True] * 4
    assert "queue" not in rows[3]
    assert all(reverse("appeal", args=[each.decision_id]) in page for each in (first, *others))


def test_appeals_of_others_are_neither_listed_nor_made_and_a_page_that_is_not_there_is_not_found() -> None:
    other, user = appealed(), UserFactory()
    client, program = signed_in(user), client_of(user)
    assert str(other.decision_id) not in read(client.get("/dashboard/appeals"))
    assert program.get(API).json()["items"] == []
    for subject_id in (other.decision.subject_id, "no-id"):
        assert program.post(API, TEXT | {"kind": "asset", "subjectId": subject_id}, format="json").status_code == 404
    for page in ("0", "2", "x"):
        assert client.get("/dashboard/appeals", {"page": page}).status_code == 404


@pytest.mark.slow
def test_queue_offers_a_reviewer_what_others_decided(client: Client) -> None:
    me = reviewer()
    mine, other = appealed(taken_down(me)), appealed()
    client.force_login(me)
    page = read(client.get(admin_address(mine, "change")))
    assert admin_address(mine, "overturn") not in page
    assert "It is my own work." in page
    read(client.post(admin_address(mine, "uphold"), {"reason": "It is the same."}, follow=True))
    mine.refresh_from_db()
    assert mine.status == "Pending"
    response = client.post(reverse("admin:review_appeal_next"))
    assert admin_address(other, "change") in response.url  # type: ignore[attr-defined]  # of a redirect
    page = read(client.get(admin_address(other, "change")))
    assert admin_address(other, "overturn") in page
    assert "Copied." in page
    client.post(admin_address(other, "overturn"), {"reason": "It is licensed."})
    assert Listing.objects.get(pk=other.decision.subject_id).status == "Published"

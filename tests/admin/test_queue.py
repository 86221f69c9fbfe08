"""The editors' queue and the page to decide on: what is shown, how it is narrowed down, and the way from one to the next."""

from datetime import timedelta
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.models import Deliverable, FileFacts, Listing, ListingReview, RejectionReason
from catalog.services import review as services
from catalog.services import submission
from developers.models import DeveloperApplication
from marketplace.accounts.models import User
from marketplace.core.errors import InvalidTransition
from marketplace.core.models import AuditEntry
from marketplace.http.pages import PAGE_POLICY
from marketplace.review import claims
from tests.admin.pages import address, press, staff, text_of
from tests.admin.subjects import APPROVAL, FINDINGS
from tests.callers import signed_in
from tests.catalog.cases import PASSED, add_candidate, claim_review, draft, make_deliverable, open_review, published, rejected, submitted
from tests.factories import CategoryFactory, PreviewFactory, StoreFactory, UserFactory
from tests.review.cases import application, rejected_application
from vendors.models import VendorProfile
from vendors.services.listings import update_listing

pytestmark = pytest.mark.django_db

QUEUE = address(ListingReview, "changelist")
NEXT = reverse("admin:catalog_listingreview_next")
REVIEW = "catalog.review_listing"


def waiting(days: float = 0, **fields: Any) -> ListingReview:
    """Return a submission that has waited for so long."""
    review = open_review(submitted(draft(**fields)))
    review.submitted_at = timezone.now() - timedelta(days=days, minutes=1)
    review.save()
    return review


def page_of(review: ListingReview) -> str:
    return address(ListingReview, "change", review.pk)


@pytest.mark.slow
def test_warning_of_a_check_stands_in_the_case(browser: Client) -> None:
    listing = draft()
    checks = [{**PASSED[0], "warning": "Slot 0 is 1 by 1 pixels."}, *PASSED[1:]]
    submission.submit_listing(listing=listing, checks=checks, actor=listing.store.owner)
    rows = BeautifulSoup(browser.get(page_of(open_review(listing))).content, "html.parser").select("table.checks tr")
    warned = [row for row in rows if "Slot 0 is 1 by 1 pixels." in row.get_text()]
    assert len(warned) == 1
    assert "warning" in warned[0].select("td")[0].get_text()


def titles(browser: Client, **query: Any) -> list[str]:
    response: Any = browser.get(QUEUE, query)
    assert response.status_code == 200
    return [str(review.listing.title) for review in response.context_data["cl"].result_list]


def test_queue_of_anything_lists_first_what_waits_and_the_oldest_of_that_on_top(root: Client) -> None:
    decided, newer, older = rejected_application(), application(), application()
    for days, row in ((9, decided), (1, newer), (5, older)):
        DeveloperApplication.objects.filter(pk=row.pk).update(submitted_at=timezone.now() - timedelta(days=days))
    response: Any = root.get(address(DeveloperApplication, "changelist"))
    assert list(response.context_data["cl"].result_list) == [older, newer, decided]


@pytest.mark.slow
def test_queue_shows_what_waits_for_how_long_and_who_has_claimed_it(browser: Client) -> None:
    rejected()
    waiting(days=4, title="Older")
    claimed = waiting(days=0.1, title="Newer")
    other = UserFactory()
    claim_review(claimed, other)
    assert titles(browser) == ["Older", "Newer"]
    words = text_of(browser.get(QUEUE))
    assert "4 days" in words
    assert "2 hours" in words
    assert other.email in words
    assert "has been reviewing it since" in text_of(browser.get(page_of(claimed)))
    # A claim that has ended is not shown.
    ListingReview.objects.update(claimed_at=timezone.now() - timedelta(hours=1))
    assert other.email not in text_of(browser.get(QUEUE))
    assert "has been reviewing it since" not in text_of(browser.get(page_of(claimed)))


@pytest.mark.slow
def test_claim_of_another_is_taken_over_on_the_page(browser: Client, editor: User) -> None:
    review = waiting()
    claim_review(review, UserFactory())
    press(browser, page_of(review), {}, action=address(ListingReview, "take_over", review.pk))
    review.refresh_from_db()
    assert review.claimed_by == editor


def test_page_of_ones_own_submission_has_no_forms() -> None:
    review = waiting()
    owner = review.listing.store.owner
    owner.is_staff = owner.is_superuser = True
    owner.save()
    page = signed_in(owner).get(page_of(review))
    assert "You cannot decide on this" in text_of(page)
    assert not BeautifulSoup(page.content, "html.parser").select(".subject-decide form, .claims form")


@pytest.mark.slow
@pytest.mark.database_full
def test_filters_narrow_the_queue(browser: Client, editor: User) -> None:
    store = StoreFactory(name="Foundry", slug="foundry")
    mine = waiting(days=8, title="Mine", store=store)
    theirs = waiting(days=2, title="Theirs", category=CategoryFactory(slug="motion", name="Motion"))
    waiting(title="Free")
    open_review(submitted(add_candidate(published(title="Update"))))
    claim_review(mine, editor)
    claim_review(theirs, UserFactory())
    assert titles(browser, claimed="me") == ["Mine"]
    assert titles(browser, claimed="others") == ["Theirs"]
    assert titles(browser, claimed="nobody") == ["Free", "Update"]
    assert titles(browser, category="motion") == ["Theirs"]
    assert titles(browser, kind="Update") == ["Update"]
    assert titles(browser, vendor="foundry") == ["Mine"]
    assert titles(browser, days="7") == ["Mine"]
    assert titles(browser, days="1", claimed="others") == ["Theirs"]
    assert titles(browser, q="Free") == ["Free"]
    assert titles(browser, status__exact="Approved") == ["Update"]
    assert len(titles(browser, status__exact="all")) == 5


@pytest.mark.slow
@pytest.mark.database_full
def test_queue_filter_with_an_invalid_value_finds_nothing(browser: Client) -> None:
    waiting()
    for name in ("claimed", "category", "kind", "vendor", "days", "status__exact"):
        assert titles(browser, **{name: "nonsense"}) == [], name
        assert browser.get(QUEUE, {name: "\x00"}).status_code == 400, name


@pytest.mark.database_full
def test_next_claims_the_oldest_and_leads_to_it(browser: Client, editor: User) -> None:
    newer, older = waiting(days=1), waiting(days=2)
    response = browser.post(NEXT)
    assert (response.status_code, response["Location"]) == (302, page_of(older))
    older.refresh_from_db()
    assert older.claimed_by == editor
    assert browser.post(NEXT, {"after": str(older.pk)})["Location"] == page_of(newer)
    older.refresh_from_db()
    # Skipping gives it up.
    assert older.claimed_by is None


@pytest.mark.slow
@pytest.mark.database_full
def test_next_and_the_number_beside_it_are_of_the_filtered_and_searched_list(browser: Client) -> None:
    store = StoreFactory(name="Foundry", slug="foundry")
    waiting(days=9)
    chosen = waiting(days=8, title="Chosen", store=store)
    fresh = waiting(title="Fresh", store=store)
    motion = waiting(title="Motion", category=CategoryFactory(slug="motion", name="Motion"))
    for query, offered in (
        ({"vendor": "foundry", "days": "7"}, [chosen]),
        ({"q": "Fresh"}, [fresh]),
        ({"claimed": "nobody", "category": "motion"}, [motion]),
        ({"status__exact": "Approved"}, []),
    ):
        listed = browser.get(QUEUE, query)
        assert f"For you to review in this list: {len(offered)}," in text_of(listed), query
        asked = BeautifulSoup(listed.content, "html.parser").select('form.next input[type="hidden"]')
        assert query.items() <= {(field["name"], field["value"]) for field in asked}
        address, _, kept = browser.post(NEXT, query)["Location"].partition("?")
        assert address == (page_of(offered[0]) if offered else QUEUE), query
        # The decision leads to the next of them.
        page = BeautifulSoup(browser.get(f"{address}?{kept}").content, "html.parser")
        for name, value in query.items() if offered else ():
            assert {field["value"] for field in page.select(f'.subject-decide input[name="{name}"]')} == {value}
        ListingReview.objects.update(claimed_by=None, claimed_at=None)


@pytest.mark.database_full
def test_next_of_an_empty_queue_says_so(browser: Client, root: Client) -> None:
    assert "Nothing else in this list is open to you" in text_of(browser.post(NEXT, follow=True))
    assert "Nothing else in this list is open to you" in text_of(
        browser.post(NEXT, {"category": "\x00", "kind": "x", "after": "nonsense"}, follow=True)
    )
    invalid = root.post(address(VendorProfile, "next"), {"payouts_held_at__isempty": "x"}, follow=True)
    assert "Nothing else in this list is open to you" in text_of(invalid)


def test_next_is_for_reviewers_and_by_post(client: Client) -> None:
    waiting()
    assert client.post(NEXT).status_code == 302
    assert signed_in(staff("catalog.view_listingreview", "catalog.takedown_listing")).post(NEXT).status_code == 403
    assert signed_in(staff(REVIEW)).get(NEXT).status_code == 405
    assert signed_in(staff(REVIEW), checked=True).post(NEXT).status_code == 403
    assert not AuditEntry.objects.filter(action="review.claim").exists()


def test_next_goes_on_when_the_claimed_case_was_taken_over_meanwhile(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    older, newer = waiting(days=2), waiting(days=1)
    browser.post(NEXT)

    def refuse(*_row: Any, **_asked: Any) -> None:
        raise InvalidTransition("You have not claimed it.")

    monkeypatch.setattr(claims, "release", refuse)
    assert browser.post(NEXT, {"after": str(older.pk)})["Location"] == page_of(newer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "answers", "outcome", "codes"),
    [("approve", APPROVAL | {"tier_requirement": "free"}, "Approved", []), ("reject", FINDINGS, "Rejected", ["preview_poor", "other"])],
)
def test_decision_on_the_page_of_a_review_opens_the_next_case_if_that_was_asked_for(
    verb: str, answers: dict[str, str], outcome: str, codes: list[str], browser: Client, editor: User
) -> None:
    first, second, third = waiting(days=3), waiting(days=2), waiting(days=1)
    response = press(browser, page_of(first), answers, action=address(ListingReview, verb, first.pk))
    assert response.redirect_chain[-1][0] == page_of(first)
    first.refresh_from_db()
    assert (first.status, [finding["code"] for finding in first.findings]) == (outcome, codes)
    response = browser.post(address(ListingReview, verb, second.pk), answers | {"then": "next"})
    assert response["Location"] == page_of(third)
    third.refresh_from_db()
    assert third.claimed_by == editor


@pytest.mark.slow
def test_refused_decision_stays_on_the_page_and_says_who_decided_first(browser: Client) -> None:
    review, winner = waiting(), UserFactory()
    waiting()
    services.approve_listing(review=review, actor=winner)
    response = browser.post(address(ListingReview, "reject", review.pk), FINDINGS | {"then": "next"}, follow=True)
    assert response.redirect_chain[-1][0] == page_of(review)
    assert f"{winner.email} decided on it" in text_of(response)


@pytest.mark.slow
def test_review_page_shows_images_plays_sounds_and_sets_specimens(browser: Client) -> None:
    review = waiting()
    listing = review.listing
    image = PreviewFactory(listing=listing, details={"width": 64, "height": 48})
    sound = PreviewFactory(listing=listing, kind="AudioPreview", content_type="audio/mpeg", details={"durationSeconds": 2.5})
    axes = [{"tag": "wght", "min": 100, "default": 400, "max": 900}]
    font = PreviewFactory(
        listing=listing,
        kind="FontSpecimen",
        content_type="font/woff2",
        details={"axes": axes, "variableAxes": ["wght"], "unicodeRanges": ["Cyrillic"]},
    )
    page = BeautifulSoup(browser.get(page_of(review)).content, "html.parser")
    assert page.select_one(f'#subject-previews img[src="{image.url}"][alt]')
    assert page.select_one(f'#subject-previews audio[controls][src="{sound.url}"]')
    assert page.select_one('#type-tester input[data-axis="wght"][min="100"][max="900"][value="400"]')
    sheet = page.select_one('#subject-previews link[rel="stylesheet"]')
    assert sheet is not None
    css = browser.get(str(sheet["href"]))
    assert css["Content-Type"] == "text/css; charset=utf-8"
    assert f'src:url("{font.url}")' in css.content.decode()
    assert signed_in(staff()).get(str(sheet["href"])).status_code == 403


@pytest.mark.slow
def test_review_page_shows_the_history_of_the_vendor_and_copies_of_the_file(browser: Client) -> None:
    store = StoreFactory()
    published(store=store)
    rejected(store=store)
    down = published(store=store)
    services.takedown_listing(listing=down, reason="Copied from elsewhere.", actor=UserFactory())
    bad = make_deliverable(draft(store=store))
    services.block_deliverable(deliverable=bad, reason="Bad.", actor=UserFactory())
    review = waiting(store=store)
    copy = draft(title="The first of its kind")
    Deliverable.objects.filter(listing=copy).update(sha256=review.snapshot["file"]["checksum"])
    # Of the nine files inside, some are not listed.
    inside = {"entries": [["a.otf", 10], ["b.otf", 11], ["new.txt", 1]], "technical": {"contentsByExtension": {"otf": 2, "txt": 7}}}
    Deliverable.objects.filter(listing=review.listing).update(**inside)
    page = BeautifulSoup(browser.get(page_of(review)).content, "html.parser")
    record = {pair.dt.get_text(): pair.dd.get_text() for pair in page.select(".record div") if pair.dt and pair.dd}
    figures = {"Approved": "2", "Rejected": "1", "Withdrawn": "0", "Takedowns": "1", "Malicious files": "1"}
    assert record == figures | {"Listings": "5, 1 on sale"}
    words = page.get_text()
    assert "3 files inside, 6 more not listed" in words
    assert "Copied from elsewhere." in words
    assert "The first of its kind" in words


@pytest.mark.slow
def test_texts_of_a_vendor_are_escaped_on_the_review_page(browser: Client) -> None:
    mark = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'"
    listing = draft(title=mark, short_description=mark, description=mark, readme=mark, tags=[mark], file_type=mark, version="<b>1")
    skill = {"name": mark, "description": mark, "text": f"Read it.\u202e{mark}", "truncated": False}
    technical = {
        "format": "zip",
        "contentsByExtension": {"<b>": 1},
        "skill": skill,
        "members": [{"path": mark, "familyNames": [mark]}],
        "warnings": [{"code": "unsafe_path", "count": 1, "examples": [mark]}],
        "axes": [{"tag": "<b>", "min": 0, "max": 1, "default": 0}],
    }
    Deliverable.objects.filter(listing=listing).update(original_filename=mark, technical=technical, entries=[[mark, 1]])
    review = open_review(submitted(Listing.objects.get(pk=listing.pk)))
    response = browser.get(page_of(review))
    page = BeautifulSoup(response.content, "html.parser")
    assert not page.select('img[src="x"], [onerror]')
    assert not [script for script in page.select("script") if "alert(" in script.get_text()]
    assert page.get_text().count(mark) >= 8
    assert "Read it.[U+202E]<script>" in page.get_text()
    assert response["Content-Security-Policy"] == PAGE_POLICY


@pytest.mark.slow
def test_reviewer_sees_what_a_skill_asks_for_if_it_was_recorded(browser: Client) -> None:
    listing = draft()
    skill = {"name": "x", "description": "", "text": "", "truncated": False}
    Deliverable.objects.filter(listing=listing).update(technical={"format": "zip", "skill": skill})
    page, file = page_of(open_review(submitted(listing))), Deliverable.objects.get(listing=listing)

    def shown() -> dict[str, str | None]:
        rows = BeautifulSoup(browser.get(page).content, "html.parser").select("#subject-file details tr")
        found = {row.th.get_text(): " ".join(row.td.get_text().split()) for row in rows if row.th and row.td}
        return {name: found.get(name) for name in ("Tools", "Hosts", "Scripts")}

    assert set(shown().values()) == {None}
    asked = {"tools": ["Bash"], "hosts": {"a.example": ["run", "b.md"]}, "scripts": {"run": ["executable", "shebang"]}}
    FileFacts.objects.create(listing=listing, sha256=file.sha256, facts=asked)
    assert shown() == {"Tools": "Bash", "Hosts": "a.example in run, b.md", "Scripts": "run (executable, shebang)"}


@pytest.mark.slow
def test_confirmation_of_a_malicious_file_says_what_will_happen_there_and_in_listings_with_the_same_bytes() -> None:
    review, copy = waiting(), published(title="The first of its kind")
    browser, file = signed_in(staff(REVIEW, "catalog.block_deliverable")), review.listing.candidate_deliverable
    assert file is not None
    Deliverable.objects.filter(listing=copy).update(sha256=file.sha256)
    for page in (address(ListingReview, "block", review.pk), address(Deliverable, "block", file.pk)):
        words = text_of(browser.get(page))
        for expected in (
            "The file can no longer be downloaded, in any listing",
            "This submission is rejected",
            "get an email with your reason",
            file.sha256,
            "The first of its kind",
            "they are blocked there as well",
        ):
            assert expected in words, page
    assert "is taken down" in text_of(browser.get(address(ListingReview, "block", copy.reviews.get().pk)))


@pytest.mark.slow
@pytest.mark.database_full
def test_reasons_are_written_by_staff_and_offered_to_reviewers(browser: Client, root: Client, reviewer: User) -> None:
    add = address(RejectionReason, "add")
    answers = {"code": "kerning_poor", "field": "file", "message": "The kerning is poor.", "hint": "Kern it.", "is_active": "on"}
    assert signed_in(staff(REVIEW)).get(add).status_code == 403
    codes = ({"code": code} for code in ("other", "takedown", "preview_poor", "no code"))
    for wrong in (*codes, {"message": ""}, {"message": " "}, {"hint": "x" * 301}):
        assert root.post(add, answers | wrong).status_code == 200, wrong
    root.post(add, answers)
    reason = RejectionReason.objects.get(code="kerning_poor")
    assert AuditEntry.objects.get(action="rejectionreason.create").actor == reviewer
    review = waiting()
    assert "The kerning is poor." in text_of(browser.get(page_of(review)))
    root.post(address(RejectionReason, "change", reason.pk), {"field": "file", "message": "The kerning is poor.", "hint": "Kern it."})
    reason.refresh_from_db()
    assert (reason.code, reason.is_active) == ("kerning_poor", False)
    assert "The kerning is poor." not in text_of(browser.get(page_of(review)))
    assert root.post(address(RejectionReason, "delete", reason.pk), {"post": "yes"}).status_code == 403


def test_several_findings_with_own_texts_are_given_in_one_rejection(browser: Client) -> None:
    review = waiting()
    answers = {
        "reason_file_broken": "on",
        "details_preview_poor": "Picture 2 is blurred.",
        "other_message_1": "A typo.",
        "other_field_1": "title",
    }
    press(browser, page_of(review), answers, action=address(ListingReview, "reject", review.pk))
    review.refresh_from_db()
    assert [(finding["code"], finding["field"]) for finding in review.findings] == [
        ("file_broken", "file"),
        ("preview_poor", "previews"),
        ("other", "title"),
    ]
    assert review.findings[1]["message"].endswith("Picture 2 is blurred.")


@pytest.mark.slow
@pytest.mark.database_full
def test_listings_that_were_edited_since_their_approval_are_found(root: Client) -> None:
    published(title="As approved")
    edited = published(title="Edited")
    update_listing(listing=edited, actor=edited.store.owner, title="Edited since")
    draft(title="Draft")
    response: Any = root.get(address(Listing, "changelist"), {"edited": "since"})
    assert [listing.title for listing in response.context_data["cl"].result_list] == ["Edited since"]
    words = text_of(root.get(address(Listing, "change", edited.pk)))
    assert "Changed since the last approval" in words
    assert "Edited since" in words

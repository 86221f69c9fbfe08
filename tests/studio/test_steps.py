"""A listing on its way: the checklist, submitting, withdrawing, leaving the shop, and what reviewers said."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.test import Client

from catalog.models import Listing
from catalog.services.review import reject_listing, takedown_listing
from marketplace.accounts.models import User
from tests.web.markup import faults_of
from vendors.studio.views import reviews

from .cases import published, ready, submitted
from .forms import at

pytestmark = pytest.mark.django_db

Queries = Callable[[int], AbstractContextManager[object]]


def take(client: Client, name: str, listing: Listing) -> str:
    """Press a button; return the page that it leads to, which is the listing's."""
    response = client.post(at(name, listing), follow=True)
    assert response.redirect_chain[-1][0] == at("listing", listing)
    assert faults_of(response.content) == []
    listing.refresh_from_db()
    return str(response.content.decode())


@pytest.mark.slow
def test_page_of_an_unfinished_listing_says_what_to_do_and_where(client: Client, listing: Listing) -> None:
    page = client.get(at("listing", listing)).content.decode()
    assert page.count("To do") == 2
    assert "Upload what buyers get" in page
    assert f'href="{at("files", listing)}"' in page
    assert "Send for review" not in page
    assert client.get(at("submit", listing)).status_code == 405
    assert "It was not submitted" in take(client, "submit", listing)
    assert listing.status == "Draft"


@pytest.mark.slow
def test_finished_listing_is_sent_once_however_often_the_button_is_pressed(client: Client, listing: Listing) -> None:
    ready(listing)
    assert "Send for review" in client.get(at("listing", listing)).content.decode()
    assert "with our reviewers" in take(client, "submit", listing)
    assert "has changed in the meantime" in take(client, "submit", listing)
    assert (listing.status, listing.reviews.count()) == ("PendingReview", 1)


@pytest.mark.slow
def test_published_listing_without_a_new_file_is_not_sent_and_the_page_says_so(client: Client, listing: Listing) -> None:
    assert "no new file" in take(client, "submit", published(listing))


@pytest.mark.slow
def test_page_of_a_listing_that_was_taken_down_says_why(client: Client, listing: Listing, editor: User) -> None:
    listing = published(listing)
    takedown_listing(listing=listing, reason="A complaint was right.", actor=editor)
    page = client.get(at("listing", listing)).content.decode()
    assert "A reviewer took it off sale" in page
    assert "A complaint was right." in page


@pytest.mark.slow
@pytest.mark.parametrize(("step", "make"), [("withdraw", submitted), ("unpublish", published)])
def test_listing_becomes_a_draft_again_once_after_a_confirmation(
    client: Client, listing: Listing, step: str, make: Callable[[Listing], object]
) -> None:
    assert client.get(at(step, listing))["Location"] == at("listing", listing)
    make(listing)
    assert faults_of(client.get(at(step, listing)).content) == []
    assert "has changed in the meantime" not in take(client, step, listing)
    assert listing.status == "Draft"
    assert "has changed in the meantime" in take(client, step, listing)


@pytest.mark.slow
def test_rejected_listing_says_what_was_found_and_goes_back(client: Client, listing: Listing, editor: User) -> None:
    findings = [{"code": "description_thin"}, {"code": "other", "field": "gallery of <b>mine</b>", "message": "Too dark.", "hint": ""}]
    reject_listing(review=submitted(listing), findings=findings, note="Nearly there.", actor=editor)
    page = client.get(at("listing", listing))
    assert faults_of(page.content) == []
    text = page.content.decode()
    for words in ("leaves out what a buyer needs", "Say what is inside", "Too dark.", "Nearly there.", "gallery of &lt;b&gt;"):
        assert words in text
    assert f'href="{at("details", listing)}"' in text
    assert editor.name not in text
    take(client, "submit", listing)
    assert listing.status == "PendingReview"
    # What was found before is history now.
    assert "Too dark." not in client.get(at("listing", listing)).content.decode()
    assert "Too dark." in client.get(at("reviews", listing)).content.decode()


@pytest.mark.slow
def test_reviews_are_shown_page_by_page(
    client: Client, listing: Listing, editor: User, django_assert_max_num_queries: Queries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "ROWS", 3)
    assert "Nothing submitted yet" in client.get(at("reviews", listing)).content.decode()
    for number in range(5):
        findings = [{"code": "other", "field": "", "message": f"Round {number}.", "hint": "Mend it."}]
        reject_listing(review=submitted(listing), findings=findings, actor=editor)
        listing.refresh_from_db()
    with django_assert_max_num_queries(8):
        page = client.get(at("reviews", listing))
    assert faults_of(page.content) == []
    assert "Round 4." in page.content.decode()
    assert "Round 1." not in page.content.decode()
    assert "Round 1." in client.get(page.context["next"]).content.decode()
    assert client.get(f"{at('reviews', listing)}?after=1").status_code == 404


@pytest.mark.slow
def test_manifest_is_made_anew_unless_the_listing_is_in_review(client: Client, listing: Listing) -> None:
    ready(listing)
    assert "Up to date" in client.post(at("manifest", listing), follow=True).content.decode()
    Listing.objects.filter(pk=listing.pk).update(title="Aurora Serif")
    assert "Out of date" in client.get(at("manifest", listing)).content.decode()
    assert "Up to date" in client.post(at("manifest", listing), follow=True).content.decode()
    listing.refresh_from_db()
    submitted(listing)
    assert "is in review" in client.post(at("manifest", listing), follow=True).content.decode()

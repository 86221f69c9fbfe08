"""The gallery's pictures on the page of files: what they show and their order, by plain forms."""

from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from catalog.models import Listing, Preview
from tests.factories import ListingFactory
from tests.vendors.cases import publish

from .cases import picture
from .forms import at

pytestmark = pytest.mark.django_db


def page_of(answer: Any) -> BeautifulSoup:
    return BeautifulSoup(answer.content, "html.parser")


def moves(page: BeautifulSoup) -> list[list[str]]:
    """Return where each place's picture can go."""
    return [[str(button["value"]) for button in place.select("[data-moves] button")] for place in page.select(".slot")]


def test_picture_of_another_own_listing_and_an_unknown_slot_are_not_found(client: Client, listing: Listing) -> None:
    beside, mine = picture(ListingFactory(store=listing.store), 0), picture(listing, 0)
    for name, sent in (("alt-text", {"alt_text": "x"}), ("move", {"slot": "1"})):
        assert client.post(at(f"picture-{name}", listing, beside.pk), sent).status_code == 404
    for slot in ("5", "-1", "x", ""):
        assert client.post(at("picture-move", listing, mine.pk), {"slot": slot}).status_code == 404
    assert set(Preview.objects.values_list("slot", "alt_text")) == {(0, "")}


def test_overlong_alt_text_is_kept_with_its_error(client: Client, listing: Listing) -> None:
    picture(listing, 0)
    second = picture(listing, 1)
    answer = client.post(at("picture-alt-text", listing, second.pk), {"alt_text": "y" * 251})
    page = page_of(answer)
    assert answer.status_code == 400
    [field] = page.select("[aria-invalid]")
    assert (field["id"], field.get_text(strip=True)) == (f"{second.pk}-alt_text", "y" * 251)
    [error] = page.select(f"[id='{second.pk}-alt_text_error']")
    assert "at most 250" in error.get_text()
    assert Preview.objects.get(pk=second.pk).alt_text == ""


def test_pictures_move_by_one_slot_and_the_cover_slot_stays_filled(client: Client, listing: Listing) -> None:
    first, second = picture(listing, 0), picture(listing, 2)
    path = at("files", listing)
    # The first one would only leave its place empty; the other one can come nearer.
    assert moves(page_of(client.get(path))) == [[], [], ["1"], [], []]
    answer = client.post(at("picture-move", listing, second.pk), {"slot": "1"})
    assert answer["Location"] == f"{path}#picture-1"
    page = page_of(client.get(path))
    assert moves(page) == [["1"], ["0"], [], [], []]
    publish(listing)
    client.post(at("picture-move", listing, second.pk), {"slot": "0"})
    assert dict(Preview.objects.values_list("slot", "pk")) == {0: second.pk, 1: first.pk}
    refused = client.post(at("picture-move", listing, second.pk), {"slot": "4"})
    assert refused.status_code == 409
    assert "needs a cover picture" in refused.content.decode()
    # Once more, from another window: it is as it was asked to be.
    assert client.post(at("picture-move", listing, second.pk), {"slot": "0"}).status_code == 302


@pytest.mark.slow
def test_alt_text_changed_elsewhere_is_not_overwritten_without_asking(client: Client, listing: Listing) -> None:
    preview = picture(listing, 0)
    seen = page_of(client.get(at("files", listing))).select_one(".words input[name=seen]")
    assert seen is not None
    Preview.objects.update(alt_text="Theirs")
    answer = client.post(at("picture-alt-text", listing, preview.pk), {"alt_text": "Mine", "seen": seen["value"]})
    assert answer.status_code == 400
    assert Preview.objects.get().alt_text == "Theirs"
    page = page_of(answer)
    box, now = page.select_one(".words textarea"), page.select_one(".words input[name=seen]")
    assert box is not None
    assert now is not None
    assert box.get_text().strip() == "Mine"
    assert client.post(at("picture-alt-text", listing, preview.pk), {"alt_text": " Mine\r\nnow ", "seen": now["value"]}).status_code == 302
    # A line break of the box of several lines is a space.
    assert Preview.objects.get().alt_text == "Mine now"


def test_description_of_a_picture_that_was_replaced_meanwhile_is_shown_again(client: Client, listing: Listing) -> None:
    gone = picture(listing, 0)
    gone_pk = gone.pk
    gone.delete()
    picture(listing, 0)
    for name, sent in (("alt-text", {"alt_text": "Letters on a wall"}), ("move", {"slot": "1"})):
        answer = client.post(at(f"picture-{name}", listing, gone_pk), sent)
        assert answer.status_code == 404
        refused = page_of(answer).select_one("#refused")
        assert refused is not None
        assert "This picture was replaced or removed in the meantime." in refused.get_text()
        assert ("Letters on a wall" in refused.get_text()) is (name == "alt-text")


@pytest.mark.slow
def test_change_of_a_picture_under_review_is_refused_on_the_page(client: Client, listing: Listing) -> None:
    preview = picture(listing, 0)
    Listing.objects.filter(pk=listing.pk).update(status="PendingReview")
    for name, sent in (("alt-text", {"alt_text": "x"}), ("move", {"slot": "1"})):
        answer = client.post(at(f"picture-{name}", listing, preview.pk), sent)
        page = page_of(answer)
        assert answer.status_code == 409
        [refused] = page.select("#refused")
        assert "in review" in refused.get_text()
        assert page.select(".slot form, .slot textarea") == []

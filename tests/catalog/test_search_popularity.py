"""Popular and new listings in search, stores that close, and the command that ranks."""

import itertools
import random
from functools import partial
from uuid import UUID

import pytest

from catalog.models import Listing, SearchDocument
from catalog.search import full_text, popular, query
from catalog.search.documents import heading_words, words_in
from catalog.search.full_text import Among, FullTextQuery, fetch
from catalog.search.popular import update_popular
from catalog.search.rebuild import rebuild
from catalog.services.purchase_counts import count_purchases, record_purchase
from catalog.services.visibility import listing_changed, store_visibility_changed
from tests.callers import said
from tests.factories import PublishedListingFactory, StoreFactory
from tests.races import at_once

from .searching import titles

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def four_are_popular(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four listings are popular, and three results enough."""
    for module in (popular, full_text):
        monkeypatch.setattr(module, "popular_count", lambda _total: 4)
    monkeypatch.setattr(full_text, "ENOUGH_RESULTS", 3)
    monkeypatch.setattr(query, "ENOUGH_ROWS", 3)


run = partial(said, "mark_popular_listings")


def popular_titles() -> list[str]:
    return list(SearchDocument.objects.filter(is_popular=True).order_by("listing__title").values_list("listing__title", flat=True))


def commons(count: int) -> list[Listing]:
    return [PublishedListingFactory(title=f"Common {number}", purchases=number) for number in range(count)]


@pytest.mark.usefixtures("four_are_popular")
def test_marking_popular_listings_writes_only_what_changed() -> None:
    assert run() == "0 of 0 listings changed.\n"
    listings = commons(7)
    assert len(popular_titles()) == 7
    assert run() == "7 of 7 listings changed.\n"
    assert popular_titles() == ["Common 3", "Common 4", "Common 5", "Common 6"]
    assert run() == "0 of 7 listings changed.\n"
    for _ in range(9):
        record_purchase(listing_id=listings[0].pk)
    assert run() == "2 of 7 listings changed.\n"
    assert popular_titles() == ["Common 0", "Common 4", "Common 5", "Common 6"]


@pytest.mark.usefixtures("four_are_popular")
def test_common_word_is_looked_for_among_popular_listings_and_a_rarer_one_everywhere() -> None:
    listings = commons(7)
    listings[0].description = "rare"
    listings[0].save()
    listing_changed(listings[0])
    run()
    assert titles("common") == ["Common 6", "Common 5", "Common 4", "Common 3"]
    assert query.search("common", limit=2).total_is_exact is False
    assert titles("common rare") == ["Common 0"]
    assert query.search("rare", limit=2).total_is_exact is True
    # A whole title is found wherever it stands.
    assert titles("common 0")[0] == "Common 0"


@pytest.mark.usefixtures("four_are_popular")
def test_search_with_too_few_popular_results_covers_all_listings(monkeypatch: pytest.MonkeyPatch) -> None:
    commons(7)
    run()
    monkeypatch.setattr(query, "ENOUGH_ROWS", 5)
    assert len(titles("common")) == 7


@pytest.mark.usefixtures("four_are_popular")
def test_new_listing_is_searched_among_the_popular_until_they_are_marked_again() -> None:
    commons(9)
    run()
    PublishedListingFactory(title="Common 9")
    assert titles("common") == ["Common 8", "Common 7", "Common 6", "Common 5", "Common 9"]
    run()
    assert titles("common") == ["Common 8", "Common 7", "Common 6", "Common 5"]
    assert "Common 9" not in popular_titles()


def test_edit_of_a_listing_that_was_marked_before_does_not_make_it_new() -> None:
    listing = PublishedListingFactory(title="Before", purchases=3)
    run()
    listing.title = "After"
    listing.save()
    listing_changed(listing)
    assert SearchDocument.objects.get().is_new is False


def test_many_very_common_words_are_looked_for_among_popular_listings_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many words are asked for, no list of listings is read whole."""
    for number in range(4):
        PublishedListingFactory(title="One Two Three Four Five Six Seven", purchases=number)
    monkeypatch.setattr(popular, "popular_count", lambda _total: 2)
    run()
    monkeypatch.setattr(full_text, "popular_count", lambda _total: 2)
    results = query.search("six five four three two one", limit=10)
    assert (len(results.hits), results.total_is_exact) == (2, False)


def test_listing_published_while_its_store_is_closed_is_found_when_it_opens() -> None:
    store = StoreFactory(is_open=False)
    listing = PublishedListingFactory(store=store, title="Grotesk")
    # Marking popular listings does not bring it back.
    run()
    assert query.search("grotesk", limit=10).hits == []
    store.is_open = True
    store.save()
    store_visibility_changed(store)
    assert [hit.id for hit in query.search("grotesk", limit=10).hits] == [listing.id]


def test_partial_search_indexes_stay_correct_after_many_changes() -> None:
    """The database keeps indexes for popular and new listings: none may keep what left them, or miss what came."""
    dice = random.Random(1)
    words = ["sans", "serif", "brush", "mono"]
    listings = [PublishedListingFactory(title="First") for _ in range(16)]
    for number in range(80):
        listing = dice.choice(listings)
        if number % 2:
            marks = {mark: dice.random() < 0.5 for mark in ("is_shown", "is_popular", "is_new")}
            SearchDocument.objects.filter(listing=listing).update(**marks)
        else:
            listing.title, listing.description = dice.choice(words), dice.choice(words)
            listing.status = dice.choice(["Published", "Published", "Draft"])
            listing.save()
            listing_changed(listing)
    documents = [document for document in SearchDocument.objects.all() if document.is_shown]
    assert documents
    searched: dict[Among, list[SearchDocument]] = {
        "all": documents,
        "popular": [each for each in documents if each.is_popular],
        "new": [each for each in documents if each.is_new],
    }
    for heading, among, word in itertools.product([True, False], searched, words):
        ask = FullTextQuery(((word,),), headings_only=heading, among=among, limit=20)
        known = heading_words if heading else words_in
        there = {document.listing_id for document in searched[among] if word in known(document)}
        assert {UUID(str(row.listing_id)) for row in fetch([ask], ())} == there, ask


@pytest.mark.django_db(transaction=True)
def test_marking_and_rebuilding_during_publications_never_lose_a_listing() -> None:
    listings = commons(8)
    found: list[int] = []

    def read() -> None:
        found.extend(len(query.search("common", limit=20).hits) for _ in range(40))

    rankings = [update_popular] * 2
    edits = [lambda listing=listing: listing_changed(listing) for listing in listings[:2]]
    at_once(read, *rankings, rebuild, *edits)
    assert set(found) == {8}
    count_purchases()
    assert list(SearchDocument.objects.order_by("listing__stats__purchases").values_list("popularity", flat=True)) == list(range(8))

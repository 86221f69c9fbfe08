"""The tiers of search: who is asked first, newcomers, stores that close, and the command that ranks."""

import itertools
import random
import threading
from collections.abc import Callable, Sequence
from io import StringIO
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection

from catalog.models import Listing, ListingStats, SearchDocument
from catalog.models.search import Tier
from catalog.search import plan, search
from catalog.search.documents import all_terms, heading_terms
from catalog.search.plan import LookUp
from catalog.search.postings import fetch
from catalog.search.ranks import rank
from catalog.search.rebuild import rebuild
from catalog.services.visibility import listing_changed, store_changed
from tests.factories import PublishedListingFactory, StoreFactory


@pytest.fixture
def small_tiers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two listings at the top, two more above the rest."""
    monkeypatch.setitem(plan.TIER_SIZES, Tier.TOP, 2)
    monkeypatch.setitem(plan.TIER_SIZES, Tier.UPPER, 4)
    monkeypatch.setattr(plan, "MARGIN", 1)


def run() -> str:
    out = StringIO()
    call_command("rank_listings", stdout=out, stderr=StringIO())
    return out.getvalue()


def tiers() -> list[int]:
    return list(SearchDocument.objects.order_by("listing__stats__purchases", "pk").values_list("tier", flat=True))


def titles(q: str, limit: int) -> list[str]:
    return [hit.title for hit in search(q, limit)]


def commons(count: int) -> list[Listing]:
    return [PublishedListingFactory(title=f"Common {number}", purchases=number) for number in range(count)]


@pytest.mark.django_db
def test_ranking_nothing_says_so() -> None:
    assert run() == "Ranked 0 listings; 0 moved, 0 had new purchases.\n"


@pytest.mark.django_db
def test_ranking_writes_what_differs_and_nothing_twice(small_tiers: None) -> None:
    listings = commons(7)
    assert tiers() == [Tier.NEWCOMER] * 7
    assert run() == "Ranked 7 listings; 7 moved, 6 had new purchases.\n"
    assert tiers() == [Tier.REST] * 3 + [Tier.UPPER] * 2 + [Tier.TOP] * 2
    assert run() == "Ranked 7 listings; 0 moved, 0 had new purchases.\n"
    ListingStats.objects.filter(listing=listings[0]).update(purchases=99)
    assert run() == "Ranked 7 listings; 3 moved, 1 had new purchases.\n"
    assert SearchDocument.objects.get(listing=listings[0]).tier == Tier.TOP


@pytest.mark.django_db
def test_upper_tiers_are_asked_first_and_lower_ones_when_needed(small_tiers: None) -> None:
    listings = commons(7)
    listings[0].description = "rare"
    listings[0].save()
    listing_changed(listings[0])
    run()
    assert titles("common", 2) == ["Common 6", "Common 5"]
    assert titles("common", 4) == ["Common 6", "Common 5", "Common 4", "Common 3"]
    assert len(titles("common", 20)) == 7
    assert titles("common rare", 2) == ["Common 0"]
    # A whole title is found wherever it stands.
    assert titles("common 0", 1) == ["Common 0"]


@pytest.mark.django_db
@pytest.mark.usefixtures("small_tiers")
def test_newcomer_is_seen_among_the_popular_until_the_next_ranking() -> None:
    commons(9)
    run()
    new = PublishedListingFactory(title="Common 9")
    assert titles("common", 5) == ["Common 8", "Common 7", "Common 6", "Common 5", "Common 9"]
    assert titles("common", 10)[4] == "Common 9"
    run()
    assert "Common 9" not in titles("common", 5)
    assert SearchDocument.objects.get(listing=new).tier == Tier.REST


@pytest.mark.django_db
def test_edit_of_a_ranked_listing_makes_no_newcomer_of_it() -> None:
    listing = PublishedListingFactory(title="Before", purchases=3)
    run()
    listing.title = "After"
    listing.save()
    listing_changed(listing)
    assert SearchDocument.objects.get().tier == Tier.TOP


@pytest.mark.django_db
def test_closing_a_store_hides_its_listings_at_once_and_opening_shows_them() -> None:
    store = StoreFactory()
    listing = PublishedListingFactory(store=store, title="Grotesk")
    other = PublishedListingFactory(title="Grotesk Other")
    for is_open, found in ((False, [other.id]), (True, [listing.id, other.id])):
        store.is_open = is_open
        store.save()
        store_changed(store)
        assert [hit.id for hit in search("grotesk", 10)] == found
        run()
        assert [hit.id for hit in search("grotesk", 10)] == found


@pytest.mark.django_db
def test_listing_published_while_its_store_is_closed_is_found_when_it_opens() -> None:
    store = StoreFactory(is_open=False)
    listing = PublishedListingFactory(store=store, title="Grotesk")
    assert SearchDocument.objects.get().tier == Tier.HIDDEN
    assert search("grotesk", 10) == []
    store.is_open = True
    store.save()
    store_changed(store)
    assert [hit.id for hit in search("grotesk", 10)] == [listing.id]


@pytest.mark.django_db
def test_loading_an_empty_index_sets_the_same_tiers(small_tiers: None) -> None:
    closed = StoreFactory()
    commons(6)
    PublishedListingFactory(store=closed, title="Closed", purchases=50)
    closed.is_open = False
    closed.save()
    store_changed(closed)
    run()
    ranked = list(SearchDocument.objects.order_by("listing_id").values_list("listing_id", "tier", "popularity"))
    SearchDocument.objects.all().delete()
    rebuild(lambda _done, _total: None)
    assert list(SearchDocument.objects.order_by("listing_id").values_list("listing_id", "tier", "popularity")) == [
        (pk, tier, 50 if tier == Tier.HIDDEN else popularity) for pk, tier, popularity in ranked
    ]


@pytest.mark.django_db
def test_each_look_up_finds_the_documents_of_its_tiers_after_many_changes() -> None:
    """The database keeps an index for each: none may keep what left its tier, or miss what came."""
    dice = random.Random(1)
    words = ["sans", "serif", "brush", "mono"]
    listings = [PublishedListingFactory(title="First") for _ in range(16)]
    asks = [(True, Tier.NEWCOMER), *((heading, tier) for heading in (True, False) for tier in (Tier.TOP, Tier.UPPER, Tier.REST))]
    for number in range(80):
        listing = dice.choice(listings)
        if number % 2:
            SearchDocument.objects.filter(listing=listing).update(tier=dice.choice(list(Tier)))
        else:
            listing.title, listing.description = dice.choice(words), dice.choice(words)
            listing.status = dice.choice(["Published", "Published", "Draft"])
            listing.save()
            listing_changed(listing)
    for place, pk in enumerate(SearchDocument.objects.order_by("pk").values_list("pk", flat=True)):
        SearchDocument.objects.filter(pk=pk).update(tier=list(Tier)[place % len(Tier)])
    documents = list(SearchDocument.objects.all())
    assert {document.tier for document in documents} == set(Tier)
    for (heading, tier), word in itertools.product(asks, words):
        newcomers = tier == Tier.NEWCOMER
        ask = LookUp(((word,),), heading=heading, tier=Tier.TOP if newcomers else tier, limit=20, newcomers=newcomers)
        known = heading_terms if heading else all_terms
        there = {document.listing_id for document in documents if document.tier <= tier and word in known(document)}
        assert {UUID(str(row.listing_id)) for row in fetch([ask], [-1])} == there, ask


def at_once(jobs: Sequence[Callable[[], object]]) -> list[BaseException]:
    """Run jobs in threads of their own and return what went wrong."""
    failures: list[BaseException] = []

    def run_one(job: Callable[[], object]) -> None:
        try:
            job()
        except BaseException as error:  # noqa: BLE001 - told to the main thread
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run_one, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


@pytest.mark.django_db(transaction=True)
def test_ranking_and_rebuilding_at_once_with_publications_never_lose_a_listing() -> None:
    listings = commons(8)
    found: list[int] = []

    def read() -> None:
        found.extend(len(search("common", 20)) for _ in range(40))

    rankings = [lambda: rank(lambda _done, _total: None)] * 2
    edits = [lambda listing=listing: listing_changed(listing) for listing in listings[:2]]
    assert at_once([read, *rankings, lambda: rebuild(lambda _done, _total: None), *edits]) == []
    assert set(found) == {8}
    rank(lambda _done, _total: None)
    assert list(SearchDocument.objects.order_by("listing__stats__purchases").values_list("popularity", flat=True)) == list(range(8))

"""Pages of results, what is said of their number, words for when nothing is found, and synonyms."""

import uuid

import pytest

from catalog.models import Listing, SearchSynonym
from catalog.search import search
from catalog.services.taxonomy import MAX_ACTIVE_SYNONYMS
from catalog.services.visibility import listing_changed
from marketplace.core.errors import InvalidInput
from marketplace.core.models import AuditEntry
from tests.admin.pages import address
from tests.callers import signed_in
from tests.factories import PublishedListingFactory, UserFactory

from .searching import titles

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def pages(q: str, limit: int) -> list[list[uuid.UUID]]:
    results = search(q, limit=limit)
    found = [[hit.id for hit in results.hits]]
    while results.next_cursor is not None:
        results = search(q, limit=limit, cursor=results.next_cursor)
        found.append([hit.id for hit in results.hits])
    return found


def test_pages_hold_every_result_once_in_the_order_of_a_single_page() -> None:
    for number in range(8):
        PublishedListingFactory(title=f"Script {number}", purchases=number % 3)
    whole = search("script", limit=100)
    assert (len(whole.hits), whole.total, whole.total_is_exact, whole.next_cursor) == (8, 8, True, None)
    for limit in (1, 3, 7, 8):
        assert [pk for page in pages("script", limit) for pk in page] == [hit.id for hit in whole.hits]


def test_next_page_goes_on_after_the_last_result_though_the_catalog_has_changed() -> None:
    listings = [PublishedListingFactory(title=f"Script {number}", purchases=9 - number) for number in range(6)]
    first = search("script", limit=3)
    listing = Listing.objects.get(pk=listings[0].pk)
    listing.status = "Draft"
    listing.save()
    listing_changed(listing)
    second = search("script", limit=3, cursor=first.next_cursor)
    assert [hit.id for hit in second.hits] == [listing.pk for listing in listings[3:]]


def test_cursor_of_another_query_or_a_made_up_one_is_refused() -> None:
    for number in range(3):
        PublishedListingFactory(title=f"Script {number}")
    cursor = search("script", limit=1).next_cursor
    assert cursor is not None
    for wrong in ("x", "é", cursor[:-3], "WzEsMiwzXQ", "bnVsbA", "W10", cursor * 9):
        with pytest.raises(InvalidInput):
            search("script", limit=1, cursor=wrong)
    with pytest.raises(InvalidInput):
        search("scripts", limit=1, cursor=cursor)


def test_search_without_results_suggests_words_that_have_some() -> None:
    PublishedListingFactory(title="Grotesk Sans", tags=["helvetica"])
    PublishedListingFactory(title="Gothic", store__is_open=False)
    results = search("groteskerino", limit=5)
    assert (results.hits, list(results.alternatives)) == ([], ["grotesk"])
    assert [hit.id for hit in search(results.alternatives[0], limit=5).hits]
    assert search("gothicarello", limit=5).alternatives == []
    assert search("qqqqxxxx", limit=5).alternatives == []
    assert search("grotesk", limit=5).alternatives == ()
    assert search("groteskerino", within=Listing.objects.none(), limit=5).alternatives == []


def test_synonym_is_found_after_the_word_itself() -> None:
    PublishedListingFactory(title="Night Loops", purchases=99)
    PublishedListingFactory(title="Other", description="Music.")
    SearchSynonym.objects.update_or_create(word="music", defaults={"synonyms": "loops sounds"})
    assert titles("music") == ["Other", "Night Loops"]
    assert titles("night music") == ["Night Loops"]


def test_staff_edit_synonyms_which_count_at_once_and_are_audited() -> None:
    PublishedListingFactory(title="Neon Gobo")
    root = UserFactory(is_staff=True, is_superuser=True)
    client = signed_in(root)
    add = address(SearchSynonym, "add")
    assert titles("lantern") == []
    assert client.post(add, {"word": "Lantern", "synonyms": "Gobo, flare", "is_active": "on"}).status_code == 302
    synonym = SearchSynonym.objects.get(word="lantern")
    assert (synonym.synonyms, AuditEntry.objects.get(action="searchsynonym.create").actor) == ("gobo flare", root)
    assert titles("lantern") == ["Neon Gobo"]
    assert client.post(address(SearchSynonym, "change", synonym.pk), {"synonyms": "gobo"}).status_code == 302
    assert titles("lantern") == []
    assert client.post(address(SearchSynonym, "delete", synonym.pk), {"post": "yes"}).status_code == 403
    assert signed_in(UserFactory(is_staff=True)).get(add).status_code == 403


def test_synonym_that_is_no_word_or_no_other_word_is_refused() -> None:
    client = signed_in(UserFactory(is_staff=True, is_superuser=True))
    before = SearchSynonym.objects.count()
    for wrong in (
        *({"word": word} for word in ("two words", "!", "", "music")),
        *({"synonyms": synonyms} for synonyms in ("...", "lantern", "x " * 101)),
    ):
        answers = {"word": "lantern", "synonyms": "gobo", "is_active": "on"} | wrong
        page = client.post(address(SearchSynonym, "add"), answers)
        # The error is at the field that is wrong.
        assert (page.status_code, page.context["adminform"].errors.keys()) == (200, wrong.keys()), wrong
    assert SearchSynonym.objects.count() == before


def test_synonyms_in_use_are_bounded() -> None:
    client = signed_in(UserFactory(is_staff=True, is_superuser=True))
    room = MAX_ACTIVE_SYNONYMS - SearchSynonym.objects.count()
    SearchSynonym.objects.bulk_create([SearchSynonym(word=f"word{number}", synonyms="gobo") for number in range(room - 1)])
    SearchSynonym.objects.create(word="unused", synonyms="gobo", is_active=False)
    add = address(SearchSynonym, "add")
    assert client.post(add, {"word": "last", "synonyms": "gobo", "is_active": "on"}).status_code == 302
    assert client.post(add, {"word": "lantern", "synonyms": "gobo", "is_active": "on"}).status_code == 200
    assert client.post(add, {"word": "lantern", "synonyms": "gobo"}).status_code == 302

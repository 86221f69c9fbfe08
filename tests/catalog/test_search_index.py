"""The index after many changes, rebuilt, and written by several at once."""

import random
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from catalog.models import Listing, SearchDocument, SearchTerm
from catalog.search import rebuild
from catalog.search.vocabulary import current_vocabulary
from catalog.services.visibility import listing_changed
from tests.callers import said
from tests.factories import PublishedListingFactory, StoreFactory
from tests.races import at_once

from .searching import titles

pytestmark = [pytest.mark.django_db, pytest.mark.database]

WORDS = ["sans", "serif", "fonts", "brush", "script", "Café", "mono", "display", "hand-drawn", "title", "titles", "明朝体"]


def contents() -> Any:
    """Return the index as values, without row numbers."""
    return (
        sorted(SearchDocument.objects.values_list("listing_id", "title_key", "title", "tags", "summary", "body")),
        sorted(SearchTerm.objects.values_list("term", "documents", "headings")),
    )


def scramble(listing: Listing, dice: random.Random) -> None:
    listing.title = " ".join(dice.sample(WORDS, 2))
    listing.tags = dice.sample(WORDS, 2)
    listing.description = " ".join(dice.sample(WORDS, 5))
    listing.status = dice.choice(["Published", "Published", "Draft"])
    listing.save()
    listing_changed(listing)


def test_search_index_after_many_changes_equals_a_rebuilt_one() -> None:
    dice = random.Random(1)
    listings = [PublishedListingFactory() for _ in range(6)]
    for _ in range(25):
        scramble(dice.choice(listings), dice)
    grown = contents()
    SearchDocument.objects.all().delete()
    SearchTerm.objects.all().delete()
    rebuild.rebuild()
    assert contents() == grown
    assert all(documents > 0 for _, documents, _ in grown[1])


def test_rebuild_repairs_and_tells_what_it_did() -> None:
    kept, stale, lost = (PublishedListingFactory(title=title) for title in ("Kept", "Stale", "Lost"))
    good = contents()
    SearchDocument.objects.filter(listing=lost).delete()
    SearchDocument.objects.filter(listing=kept).update(title="wrong | ")
    SearchTerm.objects.filter(term="one").update(documents=99)
    Listing.objects.filter(pk=stale.pk).update(status="Draft")
    assert said("rebuild_search").startswith("2 listings checked; 3 documents and ")
    stale.status = "Published"
    stale.save()
    listing_changed(stale)
    assert contents() == good
    assert titles("kept") == ["Kept"]
    assert said("rebuild_search") == "3 listings checked; 0 documents and 0 words corrected.\n"


def test_long_description_is_indexed_within_a_bound() -> None:
    words = " ".join(f"word{number}" for number in range(5000))
    PublishedListingFactory(description=words)
    assert len(titles("word3")) == 1
    assert SearchTerm.objects.filter(term__startswith="word").count() == 1000


@pytest.mark.django_db(transaction=True)
def test_concurrent_publications_are_all_counted() -> None:
    store = StoreFactory()
    listings = [PublishedListingFactory(store=store, title=f"Shared words {number}") for number in range(6)]

    def change(listing: Listing) -> None:
        for status in ("Draft", "Published"):
            listing.status = status
            listing.save()
            listing_changed(listing)

    at_once(*(partial(change, listing) for listing in listings))
    assert SearchTerm.objects.get(term="shared").documents == 6
    assert len(titles("shared")) == 6


@pytest.mark.django_db(transaction=True)
def test_words_of_a_new_listing_are_corrected_to_at_once_in_a_process_with_a_cached_vocabulary() -> None:
    PublishedListingFactory(title="Helvetica")
    assert titles("helvitica") == ["Helvetica"]
    before = current_vocabulary()
    PublishedListingFactory(title="Garamond")
    assert titles("garamont") == ["Garamond"]
    # What was read before is built upon.
    assert current_vocabulary().read_at == before.read_at


@pytest.mark.django_db(transaction=True)
def test_words_of_a_rolled_back_publication_are_not_in_the_vocabulary() -> None:
    PublishedListingFactory(title="Helvetica")
    with transaction.atomic():
        PublishedListingFactory(title="Garamond")
        assert titles("garamont") == ["Garamond"]
        transaction.set_rollback(True)
    assert "garamond" not in current_vocabulary()
    PublishedListingFactory(title="Bodoni")
    assert titles("bodini") == ["Bodoni"]

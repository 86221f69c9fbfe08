"""GET /api/v1/assets/suggest: listings for what has been typed so far."""

from typing import Any

import pytest

from catalog.search import suggest
from catalog.services.visibility import listing_changed
from tests.factories import CategoryFactory, ListingFactory, PublishedListingFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def suggested(q: str) -> list[str]:
    return [item.title for item in suggest(q)]


def test_suggestions_have_few_fields_and_repeat_the_query(get: Any) -> None:
    listing = PublishedListingFactory(title="Grotesk", slug="grotesk", category=CategoryFactory(slug="motion"))
    assert get("assets/suggest", q=" GRO") == {
        "query": " GRO",
        "suggestions": [{"id": str(listing.id), "slug": "grotesk", "title": "Grotesk", "category": "motion"}],
    }


def test_listings_that_are_not_for_sale_are_not_suggested(get: Any) -> None:
    ListingFactory(title="Grotesk Draft")
    PublishedListingFactory(title="Grotesk Closed", store__is_open=False)
    gone = PublishedListingFactory(title="Grotesk Gone")
    gone.status = "Rejected"
    gone.save()
    listing_changed(gone)
    assert get("assets/suggest", q="grotesk")["suggestions"] == []
    PublishedListingFactory(title="Grotesk Shown")
    assert suggested("grotesk") == ["Grotesk Shown"]
    assert get("assets/suggest", q="!")["suggestions"] == []


def test_at_most_ten_suggestions_are_returned_by_popularity() -> None:
    for purchases in range(12):
        PublishedListingFactory(title=f"Common {purchases:02}", purchases=purchases)
    assert suggested("co") == [f"Common {purchases:02}" for purchases in range(11, 1, -1)]


def test_suggestions_list_titles_beginning_with_the_query_before_those_containing_it() -> None:
    PublishedListingFactory(title="Neo Script", purchases=9)
    PublishedListingFactory(title="Scripted Serif Deluxe Edition")
    PublishedListingFactory(title="Tagged", tags=["script"], purchases=99)
    assert suggested("scri") == ["Scripted Serif Deluxe Edition", "Neo Script", "Tagged"]


def test_descriptions_are_not_suggested_from() -> None:
    PublishedListingFactory(title="Plain", short_description="grotesk", description="grotesk")
    assert suggested("plain") == ["Plain"]
    assert suggested("grotesk") == []


def test_suggestions_match_from_the_first_letter_and_with_typos() -> None:
    PublishedListingFactory(title="Helvetica Revival")
    PublishedListingFactory(title="ロゴ Kit")
    for q in ("h", "he", "hel", "hevlet", "hlevetica", "helvetica r", "helveticarevival", "revival helv", "ロゴ", "ロ"):
        assert suggested(q) == ["ロゴ Kit" if q.startswith("ロ") else "Helvetica Revival"], q

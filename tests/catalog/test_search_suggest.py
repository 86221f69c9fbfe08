"""GET /api/v1/assets/suggest: listings for what has been typed so far."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from catalog.search import suggest
from catalog.services.visibility import listing_changed
from tests.factories import CategoryFactory, ListingFactory, PublishedListingFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def suggested(q: str) -> list[str]:
    return [item.title for item in suggest(q)]


def test_missing_blank_and_long_queries_are_refused(refused: Any) -> None:
    assert refused("assets/suggest") == [("?q", "required")]
    assert refused("assets/suggest", q=" \t") == [("?q", "blank")]
    assert refused("assets/suggest", q="x" * 201) == [("?q", "max_length")]
    assert refused("assets/suggest", q="a\x00") == [("?q", "null_characters_not_allowed")]


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


@pytest.mark.parametrize("q", ["h", "he", "hel", "hevlet", "hlevetica", "helvetica r", "helveticarevival", "revival helv", "ロゴ", "ロ"])
def test_suggestions_match_from_the_first_letter_and_with_typos(q: str) -> None:
    PublishedListingFactory(title="Helvetica Revival")
    PublishedListingFactory(title="ロゴ Kit")
    assert suggested(q) == ["ロゴ Kit" if q.startswith("ロ") else "Helvetica Revival"]


@pytest.mark.parametrize("q", ["helv", "zzzz", "hevletic", "helvetica x y z", "a b c d e f g h i j k l m"])
def test_suggesting_takes_few_queries(anonymous: APIClient, q: str, django_assert_max_num_queries: Any) -> None:
    PublishedListingFactory(title="Helvetica Revival")
    # The vocabulary is in memory until the catalog changes.
    suggest("x")
    with django_assert_max_num_queries(6 if " " in q else 5):
        response = anonymous.get("/api/v1/assets/suggest", {"q": q})
    assert response["Cache-Control"].startswith("public, max-age=0, s-maxage=")
    again = anonymous.get("/api/v1/assets/suggest", {"q": q}, HTTP_IF_NONE_MATCH=response["ETag"])
    assert again.status_code == 304


def test_suggestions_are_allowed_from_any_origin(anonymous: APIClient) -> None:
    response = anonymous.get("/api/v1/assets/suggest", {"q": "x"}, headers={"Origin": "https://elsewhere.example"})
    assert response["Access-Control-Allow-Origin"] == "*"

"""The filters and facets of browsing, on a search."""

from typing import Any

import pytest

from catalog.search import full_text, popular
from catalog.search.popular import update_popular
from tests.factories import CategoryFactory, PublishedListingFactory, StoreFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def catalog() -> None:
    """Scripts of two vendors on two shelves."""
    first, second = StoreFactory(slug="first"), StoreFactory(slug="second")
    motion = CategoryFactory(slug="motion", name="Motion")
    PublishedListingFactory(title="Brush Script", store=first, tags=["Hand"], price_inr_minor=50_000, file_type="OTF family", purchases=9)
    PublishedListingFactory(
        title="Neon Script", store=second, category=motion, tags=["Glow"], price_inr_minor=90_000, tier_requirement="pro"
    )
    PublishedListingFactory(title="Plain Script", store=second, tags=["Hand"], supported_platforms="Figma, Sketch 99+")
    PublishedListingFactory(title="Brush Serif", store=first, tags=["Hand"], price_inr_minor=50_000)


def found(get: Any, **query: Any) -> list[str]:
    return [item["title"] for item in get("assets/search", **query)["results"]]


# Each filter once: which values find what is tried on browsing, which has the same filters.
FILTERS: list[tuple[dict[str, str], list[str]]] = [
    ({}, ["Brush Script", "Plain Script", "Neon Script"]),
    ({"category": "motion"}, ["Neon Script"]),
    ({"vendor": "first"}, ["Brush Script"]),
    ({"tier": "pro"}, ["Neon Script"]),
    ({"tag": "hand"}, ["Brush Script", "Plain Script"]),
    ({"fileType": "otf", "platform": "paper"}, []),
    ({"platform": "sketch"}, ["Plain Script"]),
    ({"fileType": "otf  FAMILY"}, ["Brush Script"]),
    ({"license": "personal"}, ["Brush Script", "Plain Script", "Neon Script"]),
    ({"minPrice": "600"}, ["Neon Script"]),
    ({"maxPrice": "600"}, ["Brush Script"]),
    ({"minPrice": "5", "currency": "USD"}, ["Brush Script", "Plain Script", "Neon Script"]),
    ({"vendor": "second", "category": "motion", "tag": "glow"}, ["Neon Script"]),
]


def test_search_filters_keep_matching_listings(catalog: None, get: Any) -> None:
    for query, titles in FILTERS:
        assert found(get, q="script", **query) == titles, query
        assert found(get, q="scirpt", **query) == titles, query


def test_filters_reach_beyond_popular_listings(catalog: None, get: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (popular, full_text):
        monkeypatch.setattr(module, "popular_count", lambda _total: 1)
    monkeypatch.setattr(full_text, "ENOUGH_RESULTS", 0.01)
    update_popular()
    assert found(get, q="script", category="motion") == ["Neon Script"]


def test_total_and_facets_of_a_search_are_exact_only_where_everything_that_matches_was_read(
    get: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        PublishedListingFactory(title=f"Script {number}")
    assert get("assets/search", q="script", facets="tier")["facetsAreExact"] is True
    # What a look-up gives at most.
    for name in ("HEADINGS_LIMIT", "ANYWHERE_LIMIT"):
        monkeypatch.setattr(full_text, name, 4)
    answer = get("assets/search", q="script", facets="tier", limit="1")
    assert (answer["total"], answer["totalIsExact"]) == (4, False)
    assert (answer["facets"]["tier"], answer["facetsAreExact"]) == ([{"value": "free", "count": 4}], False)

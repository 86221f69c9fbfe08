"""The filters and facets of browsing, on a search."""

from typing import Any

import pytest

from catalog.search import full_text, popular
from catalog.search.popular import update_popular
from tests.factories import CategoryFactory, PublishedListingFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_filters_reach_beyond_popular_listings(get: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    PublishedListingFactory(title="Brush Script", purchases=9)
    PublishedListingFactory(title="Neon Script", category=CategoryFactory(slug="motion", name="Motion"))
    for module in (popular, full_text):
        monkeypatch.setattr(module, "popular_count", lambda _total: 1)
    monkeypatch.setattr(full_text, "ENOUGH_RESULTS", 0.01)
    update_popular()
    assert [item["title"] for item in get("assets/search", q="script", category="motion")["results"]] == ["Neon Script"]


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

"""What a public address may cost, whatever it is asked for; browsing is counted where its answers are checked.

Reading the catalog's version, once or twice in each anonymous request, is left out of the counts.
"""

import random
from typing import Any

import pytest
from django.core.cache import caches
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from catalog.models import Listing, SearchTerm

from .test_browse_by_hand import FACETS, catalog, is_kept, queries

__all__ = ["catalog"]

pytestmark = pytest.mark.django_db


def cold(path: str, query: dict[str, Any]) -> tuple[Any, int]:
    """Return an answer that is not cached, and how many queries it took."""
    for store in caches.all():
        store.clear()
    with CaptureQueriesContext(connection) as context:
        response = APIClient().get(f"/api/v1/{path}", query)
    assert response.status_code == 200, response.content
    return response.json(), sum("FROM catalog_catalogversion" not in asked["sql"] for asked in context.captured_queries)


@pytest.mark.slow
def test_search_takes_six_queries_at_most_and_keeps_to_the_filters(catalog: list[Listing]) -> None:
    assert SearchTerm.objects.exists()
    # Found; misspelt; no listing has every word; none has any; nothing to look for; few have the beginning, and others are misspelt.
    for q in ("sample", "smaple 22", "sample zzzz", "zzzzqqqq", "\u2026", "b", "zzzzqqqqx sample yyyyvvvvx"):
        for query in random.Random(q).sample(list(queries()), 6):
            kept = {str(listing.pk) for listing in catalog if is_kept(listing, query)}
            for faceted in ({}, {"facets": ",".join(FACETS)}):
                answer, taken = cold("assets/search", query | faceted | {"q": q, "limit": 50})
                # What was found is shown by one more, and its facets are counted by one.
                assert taken <= 6, (q, query, faceted)
                assert {result["id"] for result in answer["results"]} <= kept, (q, query)


@pytest.mark.slow
def test_detail_categories_and_suggestions_take_few_queries(catalog: list[Listing], key_client: Any) -> None:
    listing = catalog[0]
    for path, most in ((f"assets/{listing.pk}", 3), (f"assets/{listing.slug}", 3), ("categories", 1)):
        assert cold(path, {})[1] <= most, path
    # The vocabulary is read once after a change.
    cold("assets/suggest", {"q": "sample"})
    for q in ("b", "sample", "smaple", "sample 2", "zzzzqqqq", "a b c d e f g h i j k l m"):
        assert cold("assets/suggest", {"q": q})[1] <= 4, q
    client, path = key_client(), f"/api/v1/assets/{listing.pk}/manifest"
    # The first notes the use of the key and makes the manifest.
    client.get(path)
    with CaptureQueriesContext(connection) as context:
        assert client.get(path).status_code == 200
    # The credential, the listing, its manifest, the licence tiers.
    assert sum("FROM catalog_catalogversion" not in asked["sql"] for asked in context.captured_queries) <= 4

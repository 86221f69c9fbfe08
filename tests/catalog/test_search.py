"""GET /api/v1/assets/search and the index behind it."""

import pytest

from catalog.search import search
from tests.factories import PublishedListingFactory

pytestmark = pytest.mark.django_db


def test_smoke():
    a = PublishedListingFactory(title="Roboto Mono", tags=["typeface"])
    assert [h.id for h in search("robto", 10)] == [a.id]

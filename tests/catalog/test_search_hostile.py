"""Queries made to break search or to slow it down: refused, or answered in few, short statements.

How long they take beside an ordinary search is measured by `benchmarks/search`, at up to a million listings; here it is what
bounds that time: statements, their length, and the words that are compared.
"""

import string
from itertools import product
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from catalog.models import SearchTerm
from catalog.search import search, suggest, vocabulary
from catalog.search.vocabulary import Vocabulary, current_vocabulary
from tests.factories import PublishedListingFactory

from .searching import titles

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.full]

PATHS = ("assets/search", "assets/suggest")
STATEMENTS = 4
# Of SQL with its parameters, in all statements of one search.
SQL_CHARACTERS = 60_000
LONG = [
    "lorem ipsum " * 900,
    "x" * 5000,
    "Z" + "\u0351\u036b\u0343" * 3000,
    "明" * 5000,
    "(" * 10_000,
    "\u202e\u200b" * 5000,
    " OR ".join(["helvetica"] * 900),
]
SHORT = [
    "%",
    '"',
    "\\",
    "!!a & (b | c) <-> d",
    '"helvetica" * ^ OR NOT AND',
    "'; DROP TABLE catalog_searchterm; --",
    "' UNION SELECT * FROM accounts_user --",
    "\x01\x02\x7f\x9f",
    "\u202ehelvetica\u202c",
    "👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈",
    "\u0301" * 150,
    "\ufdfa" * 150,
    "\uffff\ufffe\U0010ffff",
    "९९९ ٣٣٣ ४",
    "\U0001d573\U0001d58a\U0001d591\U0001d59b\U0001d58a\U0001d599\U0001d58e\U0001d588\U0001d586",
]


@pytest.fixture(autouse=True)
def catalog() -> None:
    """Something that could be found."""
    PublishedListingFactory(title="Helvetica Revival", tags=["sans"], short_description="A Swiss classic.", description="Of the fifties.")
    PublishedListingFactory(title="The Art Of Type", tags=["a", "b"], short_description="And more.", description="The the the.")


def cost_of(q: str) -> tuple[int, int]:
    """Return the statements of a search and the length of their SQL."""
    with CaptureQueriesContext(connection) as context:
        search(q, limit=50)
    return len(context), sum(len(query["sql"]) for query in context.captured_queries)


def test_every_short_search_query_is_plain_text(anonymous: APIClient, unlimited: None) -> None:
    for path, q in product(PATHS, SHORT):
        response = anonymous.get(f"/api/v1/{path}?q={quote(q)}")
        if response.status_code == 400:
            assert [error["code"] for error in response.json()["errors"]] == ["blank"], q
        else:
            assert response.status_code == 200, q
            assert response.json()["query"] == q
    assert SearchTerm.objects.filter(term="helvetica").exists()


def test_any_search_query_takes_four_short_statements_at_most() -> None:
    # The vocabulary is in memory until the catalog changes.
    current_vocabulary()
    for q in [*LONG, *SHORT, *(" ".join(letters * 16 for letters in string.ascii_lowercase[start : start + 12]) for start in range(12))]:
        statements, characters = cost_of(q)
        assert statements <= STATEMENTS, q[:50]
        assert characters <= SQL_CHARACTERS, (q[:50], characters)


def test_search_vocabulary_in_memory_is_limited_and_keeps_the_words_of_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A vendor who fills descriptions with made-up words neither fills the memory nor crowds out others."""
    monkeypatch.setattr(vocabulary, "MAX_WORDS", 60)
    made_up = " ".join(f"helvetic{a}{b}" for a in string.ascii_lowercase for b in string.ascii_lowercase[:8])
    PublishedListingFactory(title="Crowd", description=made_up)
    assert len(current_vocabulary().counts) <= 60
    assert titles("helvetjca")[0] == "Helvetica Revival"
    # Beyond those, a word is found as it is typed.
    assert "Crowd" in titles("helveticzh")


def test_rare_words_of_descriptions_are_not_corrected_to() -> None:
    PublishedListingFactory(title="Crowd", description="garamont")
    assert "garamont" in current_vocabulary()
    assert current_vocabulary().corrections("garamond") == []


def test_completions_of_a_common_prefix_are_limited() -> None:
    words = Vocabulary().extended([(f"a{number:05}", number % 7 + 1, 0) for number in range(500)])
    assert len(words.completions("a")) == vocabulary.MAX_COMPLETIONS
    assert titles("a")[0] == "The Art Of Type"
    assert [item.title for item in suggest("a")] == ["The Art Of Type"]

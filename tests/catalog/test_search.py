"""GET /api/v1/assets/search, and what its index makes of a catalog."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from catalog.search import search
from catalog.search.vocabulary import Vocabulary
from catalog.search.words import fold, pieces, singular, words_of
from catalog.services.purchase_counts import count_purchases, record_purchase
from catalog.services.visibility import listing_changed
from tests.factories import ListingFactory, PublishedListingFactory

from .searching import titled, titles

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def catalog() -> None:
    """A few listings that are alike and not alike."""
    PublishedListingFactory(title="Helvetica Revival", tags=["sans"], short_description="A Swiss classic.", description="Made for signs.")
    PublishedListingFactory(title="Brush Script", tags=["hand-drawn"], short_description="Painted letters.", description="Swiss quality.")
    PublishedListingFactory(title="Kinetic Titles", tags=["motion"], short_description="Openers.", description="Forty title cards.")


def test_query_of_200_characters_is_taken(get: Any) -> None:
    assert get("assets/search", q="é" * 200)["count"] == 0


def test_unpublished_listings_are_never_found(get: Any) -> None:
    ListingFactory(title="Secret")
    listing = ListingFactory(title="Secret", status="PendingReview")
    listing_changed(listing)
    PublishedListingFactory(title="Secret", store__is_open=False)
    shown = PublishedListingFactory(title="Secret")
    assert [result["id"] for result in get("assets/search", q="secret")["results"]] == [str(shown.pk)]


def test_nothing_found_is_an_empty_response_with_words_that_would_find_something(catalog: None, get: Any) -> None:
    assert get("assets/search", q="zzzzqqqq") == {"query": "zzzzqqqq", "count": 0, "results": [], "total": 0, "nextCursor": None}
    assert get("assets/search", q="kineticerino")["suggestions"] == ["kinetic"]


def test_known_word_is_also_corrected_as_a_misspelling() -> None:
    PublishedListingFactory(title="Fort Builder")
    PublishedListingFactory(title="Font Archive")
    assert titles("fort archive") == ["Font Archive"]
    assert titles("fort nowhere builder archive") == ["Fort Builder", "Font Archive"]


def test_compound_and_separate_words_are_both_found_with_the_query_spelling_first() -> None:
    PublishedListingFactory(title="Type Face")
    PublishedListingFactory(title="Typeface")
    assert titles("typeface") == ["Typeface", "Type Face"]
    assert titles("type face") == ["Type Face", "Typeface"]


def test_search_weighs_title_tags_summary_and_description_in_this_order() -> None:
    for title, column in (("D", "description"), ("C", "short_description"), ("B", "tags"), ("Kerning", "title")):
        text: dict[str, Any] = {"title": title, "tags": ["t"], "short_description": "s", "description": "d"}
        text[column] = ["kerning"] if column == "tags" else "Kerning"
        PublishedListingFactory(**text)
    hits = titled("kerning")
    assert [hit.title for hit in hits] == ["Kerning", "B", "C", "D"]
    scores = [hit.score for hit in hits]
    assert scores == sorted(set(scores), reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_whole_title_comes_before_a_longer_one_and_exact_before_prefix() -> None:
    PublishedListingFactory(title="Inter for Presentations", purchases=9)
    PublishedListingFactory(title="Interlude", purchases=9)
    PublishedListingFactory(title="Inter")
    assert titles("inter") == ["Inter", "Inter for Presentations", "Interlude"]


def test_equal_search_results_are_ordered_by_popularity_then_publication() -> None:
    now = timezone.now()
    rows = [PublishedListingFactory(title="Same", published_at=now - timedelta(days=age)) for age in (1, 2, 3)]
    record_purchase(listing_id=rows[2].id)
    count_purchases()
    assert [hit.id for hit in search("same", limit=10).hits] == [rows[2].id, rows[0].id, rows[1].id]


def test_both_engines_use_their_index(catalog: None) -> None:
    """The plan must name the full-text index: a slip in its expression would scan every document."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # A handful of rows is read whole whatever it costs.
            cursor.execute("SET LOCAL enable_seqscan = off")
            sql = "EXPLAIN SELECT id FROM catalog_searchdocument WHERE is_popular AND catalog_words(title, tags) && ARRAY['x']::text[]"
        else:
            sql = "EXPLAIN QUERY PLAN SELECT rowid FROM catalog_searchfts WHERE catalog_searchfts MATCH '\"x\"'"
        cursor.execute(sql)
        plan = str(cursor.fetchall())
    assert "searchdocument_heading" in plan or "VIRTUAL TABLE INDEX" in plan


def test_one_typo_is_corrected_from_four_letters_and_two_from_eight() -> None:
    pairs: list[tuple[str, str, int | None]] = [
        ("font", "fnot", 1),
        ("kitten", "mitten", 1),
        ("kitten", "sitting", None),
        ("caf", "cafe", 1),
        ("abd", "abc", None),
        ("helvitika", "helvetica", 2),
        # Two letters left out of a word of eight.
        ("lvetia", "elvetian", 2),
        ("abcdefg", "abxdexg", None),
        ("typeface", "typeface", None),
    ]
    for word, term, typos in pairs:
        expected = [] if typos is None else [typos]
        for known, typed in ((term, word), (word, term)):
            corrections = Vocabulary().extended([(known, 1, 1)]).corrections(typed)
            assert corrections == [(known, typos) for typos in expected], (word, term)


def test_beginning_of_a_longer_word_may_be_misspelt_too() -> None:
    vocabulary = Vocabulary().extended([("helvetica", 1, 1), ("helpful", 1, 1), ("elvet", 1, 1)])
    assert vocabulary.corrected_completions("hevlet") == [("helvetica", 1)]
    assert vocabulary.corrected_completions("hevl") == []


def test_singular_form_of_a_word_is_found() -> None:
    words = ("fonts", "stories", "boxes", "brushes", "glass", "bus", "lies")
    assert [singular(word) for word in words] == ["font", "story", "box", "brush", "glass", "bus", "lie"]


def test_end_of_a_long_text_without_spaces_is_found() -> None:
    text = "แบบอักษรภาษาไทยสำหรับงานออกแบบโปสเตอร์และบรรจุภัณฑ์สินค้าคุณภาพสูงสุดเพื่อนักออกแบบกราฟิกมืออาชีพ"
    PublishedListingFactory(title="Thai", description=text)
    # Has a part of the word only.
    PublishedListingFactory(title="กราฟ")
    assert titles("กราฟิก") == ["Thai"]
    run = "".join(map(chr, range(0x4E00, 0x4E00 + 200)))
    assert set(pieces(run)) == {pair for word in words_of(run) for pair in pieces(word)}
    assert max(map(len, words_of(run))) == 64


def test_name_with_a_trademark_sign_is_found_without_it() -> None:
    PublishedListingFactory(title="Acme™ Sans")
    PublishedListingFactory(title="Acme Other")
    assert titles("acme sans") == titles("Acme™ Sans") == ["Acme™ Sans"]


def test_text_is_split_into_normalised_words() -> None:
    assert fold("ŁÓDŹ Straße \uff21\uff22\uff23 Ǆ") == "lodz strasse abc dz"
    assert fold("\u0130stanbul \u0131l\u0131k \u1e9e ﬁne Ἀθῆναι ΣΊΣΥΦΟΣ Ёлка") == "istanbul ilik ss fine αθηναι σισυφοσ елка"
    assert words_of("Don't—panic! v2.0 hand_drawn 한글") == ["dont", "panic", "v2", "0", "hand", "drawn", "한글"]
    assert words_of("C++ and C# at 100%, #tag") == ["cplusplus", "and", "csharp", "at", "100", "tag"]
    assert words_of("שָׁלוֹם مُحَمَّد كتــاب soft\u00adware") == ["שלום", "محمد", "كتاب", "software"]
    assert words_of("🔥Fire❤️Pack 👩🏽\u200d🎨") == ["🔥", "fire", "❤", "pack", "👩", "🎨"]
    assert words_of("Z\u0351\u036b\u0343\u0489a\u20ddlgo") == ["zalgo"]
    assert pieces("明朝体abc") == ["明朝", "朝体", "abc"]
    assert words_of("\u0939\u093f\u0928\u094d\u0926\u0940") == ["\u0939\u093f\u0928\u094d\u0926\u0940"]

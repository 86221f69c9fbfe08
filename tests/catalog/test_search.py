"""GET /api/v1/assets/search, and what its index makes of a catalog."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.search import search
from catalog.search.vocabulary import Vocabulary
from catalog.search.words import fold, pieces, singular, words_of
from catalog.services.purchase_counts import count_purchases, record_purchase
from catalog.services.visibility import listing_changed
from tests.factories import ListingFactory, PublishedListingFactory

from .searching import titled, titles

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def found(q: str, limit: int = 50) -> list[str]:
    return titles(q, limit)


@pytest.fixture
def catalog() -> None:
    """A few listings that are alike and not alike."""
    rows: list[dict[str, Any]] = [
        {
            "title": "Helvetica Revival",
            "tags": ["sans", "grotesque"],
            "short_description": "A Swiss classic.",
            "description": "Made for signs.",
        },
        {
            "title": "Brush Script",
            "tags": ["hand-drawn", "display"],
            "short_description": "Painted letters.",
            "description": "Swiss quality.",
        },
        {"title": "Café Noir", "tags": ["serif"], "short_description": "A typeface for menus.", "description": "Elegant."},
        {"title": "Kinetic Titles", "tags": ["motion"], "short_description": "Animated openers.", "description": "Forty title cards."},
        {"title": "Łódź Gothic", "tags": ["blackletter"], "short_description": "Sharp.", "description": "Polish heritage."},
        {"title": "明朝体フォント", "tags": ["日本語"], "short_description": "横書き。", "description": "縦書きにも。"},
        {"title": "Весенний шрифт", "tags": ["кириллица"], "short_description": "Лёгкий.", "description": "Кисть."},
        {"title": "خط النسخ", "tags": ["عربي"], "short_description": "Naskh.", "description": "Arabic."},
    ]
    for row in rows:
        PublishedListingFactory(**row)


# --- refusals -----------------------------------------------------------------------------------
def test_missing_query_is_required(refused: Any) -> None:
    assert refused("assets/search") == [("?q", "required")]


@pytest.mark.parametrize("q", ["", " ", "\t\n ", "\u3000\u2003"])
def test_blank_query_is_refused(refused: Any, q: str) -> None:
    assert refused("assets/search", q=q) == [("?q", "blank")]


def test_query_may_have_200_characters_and_no_more(refused: Any, get: Any) -> None:
    assert refused("assets/search", q="x" * 201) == [("?q", "max_length")]
    assert get("assets/search", q="é" * 200)["count"] == 0


@pytest.mark.parametrize(("limit", "code"), [("0", "min_value"), ("-1", "min_value"), ("NaN", "invalid"), ("ten", "invalid")])
def test_bad_limit_is_named(refused: Any, limit: str, code: str) -> None:
    assert refused("assets/search", q="font", limit=limit) == [("?limit", code)]


HOSTILE_QUERIES = [
    "'",
    '"',
    "a' OR '1'='1' --",
    "'; DROP TABLE catalog_searchdocument; --",
    "helvetica & | ! ( ) <-> :*",
    "a:* & !b",
    'title:("x" NEAR/3 "y")',
    "NEAR(helvetica script, 5)",
    "NOT AND OR",
    "{title} : x",
    "* ^ - +",
    "%_\\%",
    "\\",
    "🎨🔤",
    "\u202eactivleh\u202c",
    "\u0301\u0301\u0301",
    "\x01\x02\x1b",
    "\ufeff\u200b\u00ad",
    "(" * 200,
    "a " * 100,
    "ab " * 66,
    "\U0001d573\U0001d58a\U0001d591\U0001d59b\U0001d58a\U0001d599\U0001d58e\U0001d588\U0001d586",
    "ﬁne",
    "\ud7ff\ue000\U0010ffff",
    "|",
    "null",
    "0",
    "-1",
    "明" * 200,
]


def test_hostile_search_query_is_plain_text(catalog: None, get: Any, unlimited: None, subtests: pytest.Subtests) -> None:
    for q in HOSTILE_QUERIES:
        with subtests.test(q=q):
            answer = get("assets/search", q=q)
            assert answer["query"] == q
            assert answer["count"] == len(answer["results"])


def test_search_query_with_a_nul_character_is_refused(refused: Any) -> None:
    assert refused("assets/search", q="a\x00b") == [("?q", "null_characters_not_allowed")]


def test_bytes_that_are_not_utf8_are_no_crash(anonymous: APIClient) -> None:
    response = anonymous.get("/api/v1/assets/search?q=%ff%fe")
    assert response.status_code in {200, 400}


def test_unpublished_listings_are_never_found(get: Any) -> None:
    ListingFactory(title="Secret")
    listing = ListingFactory(title="Secret", status="PendingReview")
    listing_changed(listing)
    PublishedListingFactory(title="Secret", store__is_open=False)
    shown = PublishedListingFactory(title="Secret")
    assert [result["id"] for result in get("assets/search", q="secret")["results"]] == [str(shown.pk)]


# --- answers ------------------------------------------------------------------------------------
def test_search_response_has_the_documented_fields(get: Any) -> None:
    listing = PublishedListingFactory(title="Grotesk")
    answer = get("assets/search", q=" GROTESK ")
    assert (answer["query"], answer["count"], answer["total"], answer["nextCursor"]) == (" GROTESK ", 1, 1, None)
    [result] = answer["results"]
    assert {"id": str(listing.id), "title": "Grotesk", "score": 1.0}.items() <= result.items()


def test_nothing_found_is_an_empty_response(catalog: None, get: Any) -> None:
    assert get("assets/search", q="zzzzqqqq") == {"query": "zzzzqqqq", "count": 0, "results": [], "total": 0, "nextCursor": None}


MEANT = [
    # Case, accents, letters that do not decompose.
    ("HELVETICA", "Helvetica Revival"),
    ("cafe", "Café Noir"),
    ("CAFÉ", "Café Noir"),
    ("lodz", "Łódź Gothic"),
    # The last word cut short.
    ("helv", "Helvetica Revival"),
    ("helvetica re", "Helvetica Revival"),
    ("kin", "Kinetic Titles"),
    # One typo from four letters: left out, added, wrong, swapped.
    ("caef", "Café Noir"),
    ("cafee noir", "Café Noir"),
    ("brash script", "Brush Script"),
    ("scirpt", "Brush Script"),
    # Two typos from eight.
    ("helvitika", "Helvetica Revival"),
    ("elvetcia", "Helvetica Revival"),
    # Plural and singular.
    ("scripts", "Brush Script"),
    ("title", "Kinetic Titles"),
    ("brushes", "Brush Script"),
    # Written as one word or as two.
    ("brushscript", "Brush Script"),
    ("type face", "Café Noir"),
    ("handdrawn", "Brush Script"),
    ("hand-drawn", "Brush Script"),
    # Tags, short description, description.
    ("blackletter", "Łódź Gothic"),
    ("menus", "Café Noir"),
    ("heritage", "Łódź Gothic"),
    # Words from different columns.
    ("helvetica grotesque swiss signs", "Helvetica Revival"),
    # Other scripts.
    ("明朝", "明朝体フォント"),
    ("朝", "明朝体フォント"),
    ("フォント", "明朝体フォント"),
    ("日本", "明朝体フォント"),
    ("縦書き", "明朝体フォント"),
    ("шрифт", "Весенний шрифт"),
    ("ВЕСЕННИЙ", "Весенний шрифт"),
    ("весений", "Весенний шрифт"),
    ("النسخ", "خط النسخ"),
    # No listing has every word: the best partial one.
    ("helvetica unobtainium", "Helvetica Revival"),
]


def test_intended_listing_is_the_first_search_result(catalog: None, subtests: pytest.Subtests) -> None:
    for q, title in MEANT:
        with subtests.test(q=q):
            assert found(q)[:1] == [title]


def test_known_word_is_also_corrected_as_a_misspelling() -> None:
    PublishedListingFactory(title="Fort Builder")
    PublishedListingFactory(title="Font Archive")
    assert found("fort archive") == ["Font Archive"]
    assert found("fort nowhere builder archive") == ["Fort Builder", "Font Archive"]


def test_compound_and_separate_words_are_both_found_with_the_query_spelling_first() -> None:
    PublishedListingFactory(title="Type Face")
    PublishedListingFactory(title="Typeface")
    assert found("typeface") == ["Typeface", "Type Face"]
    assert found("type face") == ["Type Face", "Typeface"]


def test_short_words_are_not_corrected() -> None:
    PublishedListingFactory(title="Abc Defghij", tags=[], short_description="x", description="")
    assert [found(q) for q in ("abd", "adc", "defg", "dexg", "defxxij")] == [[], [], ["Abc Defghij"], [], []]


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
    assert found("inter") == ["Inter", "Inter for Presentations", "Interlude"]


def test_equal_search_results_are_ordered_by_popularity_then_publication() -> None:
    now = timezone.now()
    rows = [PublishedListingFactory(title="Same", published_at=now - timedelta(days=age)) for age in (1, 2, 3)]
    record_purchase(listing_id=rows[2].id)
    count_purchases()
    assert [hit.id for hit in search("same", limit=10).hits] == [rows[2].id, rows[0].id, rows[1].id]


def test_search_limit_is_20_by_default_and_at_most_50(get: Any) -> None:
    for _ in range(55):
        PublishedListingFactory(title="Same")
    assert [get("assets/search", q="same", **query)["count"] for query in ({}, {"limit": 7}, {"limit": 51})] == [20, 7, 50]
    assert get("assets/search", q="same", limit=3)["results"] == get("assets/search", q="same")["results"][:3]


# --- the moment of change -----------------------------------------------------------------------
def test_search_reflects_edits_unpublishing_and_republishing_at_once(get: Any) -> None:
    listing = PublishedListingFactory(title="Before")
    assert get("assets/search", q="before")["count"] == 1
    listing.title = "After"
    listing.save()
    listing_changed(listing)
    assert (get("assets/search", q="before")["count"], get("assets/search", q="after")["count"]) == (0, 1)
    for status, count in (("Rejected", 0), ("Published", 1)):
        listing.status = status
        listing.save()
        listing_changed(listing)
        assert get("assets/search", q="after")["count"] == count


def test_search_is_revalidated_and_cached(anonymous: APIClient, django_assert_num_queries: Any) -> None:
    PublishedListingFactory(title="Grotesk")
    first = anonymous.get("/api/v1/assets/search", {"q": "grotesk"})
    assert first["Cache-Control"].startswith("public, max-age=0, s-maxage=")
    with django_assert_num_queries(1):
        again = anonymous.get("/api/v1/assets/search", {"q": "grotesk"}, HTTP_IF_NONE_MATCH=first["ETag"])
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("q", "queries"),
    # The version before and after, and for what is in memory; what has the words, once more when that was too little; titles.
    [("helvetica", 5), ("helvitika", 5), ("zzzzqqqqx", 4), ("\u2026", 2), ("helvetica brush", 6), ("zzzzqqqqx helvetica yyyyvvvvx", 6)],
)
def test_search_sends_a_fixed_number_of_queries(
    catalog: None, anonymous: APIClient, django_assert_num_queries: Any, q: str, queries: int
) -> None:
    search("x", limit=1)
    with django_assert_num_queries(queries):
        anonymous.get("/api/v1/assets/search", {"q": q})


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


# --- the pieces ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("word", "term", "typos"),
    [
        ("font", "fnot", 1),
        ("abcd", "abdc", 1),
        ("kitten", "mitten", 1),
        ("kitten", "sitting", None),
        ("caf", "cafe", 1),
        ("abd", "abc", None),
        ("helvitika", "helvetica", 2),
        # Two letters left out of a word of eight.
        ("lvetia", "elvetian", 2),
        ("abcdefg", "abxdexg", None),
        ("typeface", "typeface", None),
    ],
)
def test_one_typo_is_corrected_from_four_letters_and_two_from_eight(word: str, term: str, typos: int | None) -> None:
    expected = [] if typos is None else [(term, typos)]
    assert Vocabulary().extended([(term, 1, 1)]).corrections(word) == expected
    assert [typos for _, typos in Vocabulary().extended([(word, 1, 1)]).corrections(term)] == [typos for _, typos in expected]


def test_beginning_of_a_longer_word_may_be_misspelt_too() -> None:
    vocabulary = Vocabulary().extended([("helvetica", 1, 1), ("helpful", 1, 1), ("elvet", 1, 1)])
    assert vocabulary.corrected_completions("hevlet") == [("helvetica", 1)]
    assert vocabulary.corrected_completions("hevl") == []


@pytest.mark.parametrize(
    ("word", "expected"),
    [("fonts", "font"), ("stories", "story"), ("boxes", "box"), ("brushes", "brush"), ("glass", "glass"), ("bus", "bus"), ("lies", "lie")],
)
def test_singular_form_of_a_word_is_found(word: str, expected: str) -> None:
    assert singular(word) == expected


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


def test_removing_what_is_not_indexed_is_no_error() -> None:
    listing = ListingFactory(id=uuid.uuid4())
    listing_changed(listing)
    listing_changed(listing)

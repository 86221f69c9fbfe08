"""What a query of many words that are everywhere costs at most: no list is read whole, nothing is corrected."""

from types import SimpleNamespace
from typing import Any

import pytest

from catalog.models.search import Tier
from catalog.search import query
from catalog.search.plan import OF_WORDS_EVERYWHERE, TIER_SIZES, Planner
from catalog.search.vocabulary import Vocabulary

pytestmark = pytest.mark.engineless

DOCUMENTS = 100_000
EVERYWHERE = TIER_SIZES[Tier.UPPER] + 1


def planner(frequencies: list[int]) -> Planner:
    """Return the planner of a query of words that are each in so many documents."""
    words = {f"word{place}": documents for place, documents in enumerate(frequencies)}
    vocabulary = Vocabulary({"": DOCUMENTS, **words}, dict.fromkeys(words, 0))
    meaning: Any = SimpleNamespace(vocabulary=vocabulary, asked=lambda: [{word: 1.0} for word in words])
    return Planner(meaning, 20, filtered=False)


def test_many_words_that_are_everywhere_are_looked_for_among_the_more_popular_only() -> None:
    asked = planner([EVERYWHERE] * 12)
    assert asked.is_of_words_everywhere
    look_ups = asked.further(complete=True, partial=False)
    assert [(ask.tier, ask.limit) for ask in look_ups] == [(Tier.UPPER, OF_WORDS_EVERYWHERE)]
    assert not query._are_all([], look_ups)


@pytest.mark.parametrize("frequencies", [[EVERYWHERE] * 5, [EVERYWHERE] * 11 + [TIER_SIZES[Tier.UPPER]], [EVERYWHERE] * 11 + [0]])
def test_few_words_or_a_rarer_one_among_them_are_looked_for_everywhere(frequencies: list[int]) -> None:
    asked = planner(frequencies)
    assert not asked.is_of_words_everywhere
    assert {ask.tier for ask in asked.further(complete=True, partial=False)} == {Tier.REST}


@pytest.mark.parametrize(("everywhere", "found", "corrected"), [(True, 1, False), (True, 0, True), (False, 1, True)])
def test_words_that_are_everywhere_are_corrected_only_where_nothing_was_found(
    everywhere: bool,  # noqa: FBT001 - a parameter of the test
    found: int,
    corrected: bool,  # noqa: FBT001 - as above
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    corrections: list[object] = []
    vocabulary = SimpleNamespace(total=DOCUMENTS)
    meaning = SimpleNamespace(vocabulary=vocabulary, unknown=[], doubtful=[0], words=["a", "b"], titles=list, correct=corrections.append)
    plan = SimpleNamespace(is_of_words_everywhere=everywhere, first=list, further=lambda **_how: [])
    monkeypatch.setattr(query, "Meaning", lambda _typed: meaning)
    monkeypatch.setattr(query, "Planner", lambda *_args, **_how: plan)
    monkeypatch.setattr(query, "fetch", lambda *_args: [SimpleNamespace(listing_id=number) for number in range(found)])
    monkeypatch.setattr(query, "_ranked", lambda _meaning, rows: [(0.1, row) for row in rows])
    query._find("a b", 20)
    assert bool(corrections) is corrected

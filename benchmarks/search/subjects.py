"""The queries by kind; the same catalog always gives the same queries."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from catalog.models import Listing, SearchTerm
from catalog.search.documents import ALL_DOCUMENTS
from tests.catalog.misspelling import MIX, Misspelt, misspell
from tests.catalog.test_search_hostile import SHORT

SEED = 1
TITLES = 5_000
# Shorter words are not names of assets.
NAME = 6


@dataclass(frozen=True)
class Subject:
    """A kind of query; hostile ones are compared with ordinary ones."""

    name: str
    queries: Sequence[str]
    hostile: bool = False
    suggest: bool = False


def titles() -> list[str]:
    """Return titles of the catalog, evenly distributed."""
    count = Listing.objects.count()
    step = max(1, count // TITLES)
    return list(Listing.objects.order_by("pk").values_list("title", flat=True))[::step]


def misspelt_titles(known: Sequence[str]) -> list[Misspelt]:
    """Return five hundred misspelt titles, in the mix that the suite uses."""
    return misspell(known, SEED)


def subjects(known: Sequence[str], count: int) -> list[Subject]:
    """Return every kind, each with at most `count` queries."""
    dice = random.Random(SEED)
    terms = SearchTerm.objects.exclude(term=ALL_DOCUMENTS)
    common = list(terms.order_by("-headings", "term").values_list("term", flat=True)[:100])
    everywhere = list(terms.order_by("-documents", "term").values_list("term", flat=True)[:100])
    rare = [term for term in terms.filter(headings__range=(1, 3)).order_by("term").values_list("term", flat=True) if len(term) >= NAME]
    names = sorted({word for title in known for word in title.split() if len(word) >= NAME and word.isalpha() and word.isascii()})
    long_names = [name for name in names if len(name) >= 8]
    mixed = [case.query for case in misspelt_titles(known)]

    def some(items: Sequence[str]) -> list[str]:
        return dice.sample(items, min(count, len(items)))

    def typos(words: Sequence[str], kind: str) -> list[str]:
        return [case.query for case in misspell(words, SEED, {kind: min(count, len(words) // 2)})]

    pairs = [" ".join(dice.sample(common, 2)) for _ in range(count)]
    return [
        Subject("common word", some(common)),
        Subject("rare word", some(rare)),
        Subject("one typo in a word", typos(names, "replaced")),
        Subject("two typos in a word", typos(long_names, "two in a word")),
        Subject("two common words", pairs),
        Subject("word of descriptions", some(everywhere)),
        Subject("whole title", some(known)),
        Subject(f"whole title, misspelt ({len(MIX)} kinds)", some(mixed)),
        Subject("beginning: one letter", list("abcdefghijklmnoprstvw")),
        Subject("beginning: three letters", [name[:3].lower() for name in some(names)]),
        Subject("no hit", [f"zxqj{number}wvkq" for number in range(count)]),
        Subject("suggest: three letters", [name[:3].lower() for name in some(names)], suggest=True),
        Subject("suggest: a title half typed", [title[: len(title) // 2] for title in some(known)], suggest=True),
        Subject("hostile: syntax, marks, scripts", SHORT, hostile=True),
        Subject("hostile: twelve common words", [" ".join(dice.sample(everywhere[:40], 12)) for _ in range(count)], hostile=True),
        Subject("hostile: twelve misspelt words", [" ".join(dice.sample(mixed, 8)) for _ in range(count)], hostile=True),
        Subject("hostile: single letters", [" ".join(dice.sample("abcdefghijklmnopqrstuvwxyz", 12)) for _ in range(20)], hostile=True),
    ]

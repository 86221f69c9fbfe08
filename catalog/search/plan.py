"""Plans the look-ups of a query: which popularity tiers to ask, so that enough is found and little is read.

A common word may be in a third of a million documents, of which only the best few are shown. So a group is looked up among
the most popular listings first, in the smallest tier that is expected to contain enough; if it does not, among all.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from marketplace.core import bounds

from ..models.search import Tier
from .meaning import Group, Meaning

# The sizes of the upper tiers, each of which contains the one before; `rank_listings` maintains them.
TIER_SIZES = {Tier.TOP: 4_000, Tier.UPPER: 32_000}
# A tier is asked when it is expected to contain this many times the wanted results: the estimate assumes independent words.
MARGIN = 3
# The most results of a look-up, most popular first. Nobody pages further, and ranking everything takes 70 times as long.
HEADINGS, ANYWHERE, NEWCOMERS, SAME_TITLE = 150, 100, 20, 50
# Of many words that are everywhere, as many as a page has: documents that have them all differ little.
OF_WORDS_EVERYWHERE = bounds.SEARCH_LIMIT
# The assumed share of results that pass filters, until it is known.
FILTERED = 0.1
# Queries of up to this many words are also tried with one word left out.
LEAVE_OUT = 5


@dataclass(frozen=True)
class LookUp:
    """One query to the full-text index.

    Attributes:
        groups: Sorted words; a document must have one of each group, or of any group when `every` is false.
        heading: Look in titles and tags only.
        tier: The greatest tier to look in.
        limit: The most documents to return.
        every: Whether each group must be met.
        newcomers: Return the newest of those published since the last ranking, instead of the most popular.
    """

    groups: tuple[tuple[str, ...], ...]
    heading: bool
    tier: Tier
    limit: int
    every: bool = True
    newcomers: bool = False


class Planner:
    """Plans the look-ups of one query."""

    def __init__(self, meaning: Meaning, wanted: int, *, filtered: bool, headings_only: bool = False) -> None:
        self._meaning = meaning
        self._headings_only = headings_only
        self._wanted = MARGIN * wanted / (FILTERED if filtered else 1)

    @property
    def is_of_words_everywhere(self) -> bool:
        """Tell whether there are many words and each of them is everywhere: nobody misspelt one and hit upon such a word each time."""
        return self._everywhere(self._meaning.asked())

    def first(self) -> list[LookUp]:
        """Return the look-ups that should find enough; none when no word is known."""
        groups = [group for group in self._meaning.asked() if group]
        return self._all_of(groups, complete=False) if groups else []

    def further(self, *, complete: bool, partial: bool) -> list[LookUp]:
        """Return the look-ups for when that was too little.

        Args:
            complete: Ask every tier.
            partial: Take documents, too, that have some of the words only.
        """
        groups = [group for group in self._meaning.asked() if group]
        if not groups:
            return []
        found = self._all_of(groups, complete=complete)
        if partial and len(groups) > 1:
            found += self._some_of(groups)
        return found

    def _all_of(self, groups: Sequence[Group], *, complete: bool) -> list[LookUp]:
        documents, headings = self._meaning.vocabulary.documents, self._meaning.vocabulary.headings
        words = _sorted(groups)
        expected = self._share(groups, headings)
        lowest, anywhere = Tier.REST, ANYWHERE
        if self._everywhere(groups):
            # Reading the posting lists of all of them would take too long.
            lowest, anywhere = Tier.UPPER, OF_WORDS_EVERYWHERE
        tier = lowest if complete else min(lowest, self._tier(expected))
        found = []
        # Where a word is in no title and no tag, reading the other words' lists is useless.
        if expected:
            found.append(LookUp(words, heading=True, tier=tier, limit=HEADINGS))
            if tier < Tier.REST:
                found.append(LookUp(words, heading=True, tier=Tier.TOP, limit=NEWCOMERS, newcomers=True))
        # Where titles and tags should hold enough, descriptions cannot add anything better.
        if tier == lowest and not self._headings_only:
            tier = lowest if complete else min(lowest, self._tier(self._share(groups, documents)))
            found.append(LookUp(words, heading=False, tier=tier, limit=anywhere))
        return found

    def _everywhere(self, groups: Sequence[Group]) -> bool:
        documents = self._meaning.vocabulary.documents
        return len(groups) > LEAVE_OUT and min(_sum(group, documents) for group in groups) > TIER_SIZES[Tier.UPPER]

    def _some_of(self, groups: Sequence[Group]) -> list[LookUp]:
        """Return look-ups for all words but one, whichever it is, and for any of them."""
        documents = self._meaning.vocabulary.documents
        found = []
        if 2 < len(groups) <= LEAVE_OUT:
            for left_out in range(len(groups)):
                others = [*groups[:left_out], *groups[left_out + 1 :]]
                tier = self._tier(self._share(others, documents))
                found.append(LookUp(_sorted(others), heading=False, tier=tier, limit=ANYWHERE))
        return [*found, self._any_of(groups)]

    def _any_of(self, groups: Sequence[Group]) -> LookUp:
        """Return the look-up for any of the rarest words, as few as should give enough: they say most of what was meant."""
        counts = self._meaning.vocabulary.headings if self._headings_only else self._meaning.vocabulary.documents
        rarest = sorted(groups, key=lambda group: _sum(group, counts))
        share, few = 0.0, 0
        while few < len(rarest) and share * self._meaning.vocabulary.total < self._wanted:
            share += self._share([rarest[few]], counts)
            few += 1
        heading = self._headings_only
        return LookUp(_sorted(rarest[:few]), heading=heading, tier=self._tier(min(share, 1.0)), limit=HEADINGS, every=False)

    def _share(self, groups: Sequence[Group], counts: Mapping[str, int]) -> float:
        """Return the part of all documents that should have a word of every group."""
        total = max(self._meaning.vocabulary.total, 1)
        return math.prod(min(1.0, _sum(group, counts) / total) for group in groups)

    def _tier(self, share: float) -> Tier:
        total = self._meaning.vocabulary.total
        return next((tier for tier, size in TIER_SIZES.items() if size < total and share * size >= self._wanted), Tier.REST)


def _sum(group: Collection[str], counts: Mapping[str, int]) -> int:
    return sum(counts.get(term, 0) for term in group)


def _sorted(groups: Sequence[Group]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(sorted(group)) for group in groups)

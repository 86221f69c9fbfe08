"""What the words of a query may stand for: themselves, other forms of them, completions, corrections.

Each word becomes a group of words of the vocabulary, each with how well it stands for the one that was typed. A document
answers the query when it has a word of every group.
"""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence

from . import vocabulary as reading
from .documents import title_key
from .spelling import correctable, near, near_beginning
from .words import is_unspaced, joined, pieces, singular, splits, words_of

# More words than these do not narrow a search further, and more characters are no search.
QUERY_WORDS = 12
QUERY_CHARS = 1000
CORRECTIONS = 4
# Words that are corrected, the longest first: a query with more unknown ones is no misspelling.
CORRECTED = 6
# Titles that are looked up whole, for the combinations of corrections.
TITLES = 24

# How well a word of the vocabulary stands for one of the query.
EXACT, OTHER_FORM, LONGEST_PREFIX, SHORTEST_PREFIX = 1.0, 0.95, 0.9, 0.75
TYPOS = {1: 0.7, 2: 0.5}
# A misspelt beginning of a word.
PREFIX_TYPO = 0.8

Group = dict[str, float]


def words_typed(q: str) -> list[str]:
    """Return the words of a query, folded."""
    return words_of(q[:QUERY_CHARS])


class Meaning:
    """The words of a query and what each may stand for. Reads the vocabulary once, and once more to correct."""

    def __init__(self, typed: Sequence[str]) -> None:
        """Look the words up.

        Args:
            typed: At least one word; the last may be cut short.
        """
        self.typed = typed
        self.words = words = [piece for word in typed for piece in pieces(word)][:QUERY_WORDS]
        last = words[-1]
        parts = (part for word in words for split in splits(word) for part in split)
        self.vocabulary = reading.known({*words, *map(singular, words), *joined(list(words)), *parts}, None if is_unspaced(last) else last)
        self.groups: list[Group] = [{} for _ in words]
        self._corrections: list[Group] | None = None
        self._corrected: set[int] = set()
        self._read()

    @property
    def unknown(self) -> list[int]:
        """The positions of words that nobody has written so."""
        return [i for i, word in enumerate(self.words) if word not in self.vocabulary and singular(word) not in self.vocabulary]

    @property
    def doubtful(self) -> list[int]:
        """The positions of words that could still be corrected: one that is known may be a misspelling of the one that was meant."""
        return [i for i, word in enumerate(self.words) if correctable(word) and i not in self._corrected]

    def correct(self, positions: Collection[int]) -> None:
        """Add to the groups at these positions the likeliest words that were meant."""
        if self._corrections is None:
            self._corrections = self._nearest()
        for i in positions:
            self._corrected.add(i)
            for term, quality in self._corrections[i].items():
                self.groups[i].setdefault(term, quality)

    def asked(self) -> list[Group]:
        """Return the groups, two for each word that may be written as two: the word itself meets both."""
        found: list[Group] = []
        documents = self.vocabulary.documents
        for word, group in zip(self.words, self.groups, strict=True):
            known = [split for split in splits(word) if split[0] in documents and split[1] in documents]
            # The likeliest: both parts are common, and not rarer than the word itself.
            best = max(known, key=lambda split: (min(documents[split[0]], documents[split[1]]), split), default=None)
            if best and min(documents[part] for part in best) >= documents.get(word, 0):
                found += [{part: OTHER_FORM} | group for part in best]
            else:
                found.append(group)
        return found

    def titles(self) -> list[int]:
        """Return the keys of the titles that the query may be the whole of, the one that was typed first."""
        choices = [
            [word, *(self._corrections[i] if self._corrections and i in self._corrected else ())] for i, word in enumerate(self.words)
        ]
        corrected = itertools.islice(itertools.product(*choices), TITLES)
        return list(dict.fromkeys([title_key(self.typed), *map(title_key, corrected)]))

    def _read(self) -> None:
        for group, word in zip(self.groups, self.words, strict=True):
            self._offer(group, {singular(word): OTHER_FORM, word: EXACT})
        last = self.words[-1]
        if not is_unspaced(last):
            completions = (term for term in self.vocabulary.documents if term.startswith(last) and term != last)
            self._offer(self.groups[-1], {term: _completed(last, term) for term in completions})
        for i, (left, right) in enumerate(itertools.pairwise(self.words)):
            for group in self.groups[i : i + 2]:
                self._offer(group, {left + right: OTHER_FORM})

    def _offer(self, group: Group, offers: Mapping[str, float]) -> None:
        for term, quality in offers.items():
            if term in self.vocabulary:
                group[term] = max(quality, group.get(term, 0))

    def _nearest(self) -> list[Group]:
        unknown, last = set(self.unknown), len(self.words) - 1
        places = [i for i, word in enumerate(self.words) if correctable(word)]
        places.sort(key=lambda i: (i not in unknown, -len(self.words[i]), i))
        found: list[Group] = [{} for _ in self.words]
        terms = reading.neighbours([self.words[i] for i in places[:CORRECTED]], self.vocabulary)
        for i in places[:CORRECTED]:
            found[i] = self._likeliest(self.words[i], terms, begun=i == last)
        return found

    def _likeliest(self, word: str, terms: Sequence[str], *, begun: bool) -> Group:
        """Return the few words that a misspelt one most likely meant: near, alike at the beginning, common."""
        offers = {term: (float(typos), TYPOS[typos]) for term, typos in near(word, terms)}
        if begun:
            for term, typos in near_beginning(word, terms):
                offers.setdefault(term, (typos + 1.0, TYPOS[typos] * PREFIX_TYPO))

        def unlikely(term: str) -> tuple[float, str]:
            commonness = 0.05 * math.log(self.vocabulary.documents[term] + self.vocabulary.headings[term])
            return offers[term][0] + 0.5 * (word[0] != term[0]) - commonness, term

        return {term: offers[term][1] for term in sorted(offers, key=unlikely)[:CORRECTIONS]}


def _completed(beginning: str, term: str) -> float:
    return SHORTEST_PREFIX + (LONGEST_PREFIX - SHORTEST_PREFIX) * len(beginning) / len(term)

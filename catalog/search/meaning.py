"""Expands the words of a query: themselves, inflected forms, completions, corrections.

Each word becomes a group of words of the vocabulary, each with a weight for how well it matches the typed one. A document
matches the query when it has a word of every group.
"""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence

from . import vocabulary as reading
from .documents import title_key
from .spelling import correctable, near, near_beginning
from .words import is_unspaced, joined, pieces, singular, splits, words_of

# Limits of a query: words beyond these do not narrow the search further.
QUERY_WORDS = 12
QUERY_CHARS = 1000
CORRECTIONS = 4
# The most words that are corrected, longest first. A query with more unknown words is not a misspelling.
CORRECTED = 6
# The most whole titles that are looked up, for combinations of corrections.
TITLES = 24

# Weights of a word of the vocabulary, by its relation to the typed one.
EXACT, OTHER_FORM, LONGEST_PREFIX, SHORTEST_PREFIX = 1.0, 0.95, 0.9, 0.75
TYPOS = {1: 0.7, 2: 0.5}
# The completion of a misspelt prefix.
PREFIX_TYPO = 0.8

Group = dict[str, float]


def words_typed(q: str) -> list[str]:
    """Return the words of a query, folded."""
    return words_of(q[:QUERY_CHARS])


class Meaning:
    """The words of a query with their groups. It reads the vocabulary in one query, and in a second one for corrections."""

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
        """The positions of words that are not in the vocabulary."""
        return [i for i, word in enumerate(self.words) if word not in self.vocabulary and singular(word) not in self.vocabulary]

    @property
    def doubtful(self) -> list[int]:
        """The positions of words that were not corrected yet: a known word may be a misspelling of another one too."""
        return [i for i, word in enumerate(self.words) if correctable(word) and i not in self._corrected]

    def correct(self, positions: Collection[int]) -> None:
        """Add the likeliest corrections to the groups at these positions."""
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
            # Splits count as likely where both parts are common, and not rarer than the word itself.
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
        """Return the likeliest corrections of a word, by distance, common prefix and frequency."""
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

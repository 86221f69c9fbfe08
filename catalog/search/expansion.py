"""Expands the words of a query by inflected forms, completions, corrections and synonyms.

Each word becomes a group of words of the vocabulary, weighted by how well they match the typed one. A listing matches
the query when it has a word of every group.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from .vocabulary import Vocabulary, correctable
from .words import is_unspaced, pieces, singular, splits, title_key, words_of

# What is beyond these limits of a query does not narrow the search further.
MAX_QUERY_WORDS = 12
MAX_QUERY_CHARS = 1000
# The most corrections of a word.
MAX_CORRECTIONS = 4
# The most words of a query that are corrected, the longest first: a query with more unknown words is no misspelling.
MAX_CORRECTED_WORDS = 6
# The most combinations of corrections that are looked up as whole titles.
MAX_TITLES = 24

# Weights of a word of the vocabulary, by its relation to the typed one.
EXACT, OTHER_FORM, LONGEST_PREFIX, SHORTEST_PREFIX = 1.0, 0.95, 0.9, 0.75
TYPOS = {1: 0.7, 2: 0.5}
# The completion of a misspelt prefix.
PREFIX_TYPO = 0.8
# Low, so that listings with the word itself come first, whatever the column.
SYNONYM = 0.2

Group = dict[str, float]


def query_words(q: str) -> list[str]:
    """Return the normalised words of a query."""
    return words_of(q[:MAX_QUERY_CHARS])


class QueryExpansion:
    """The words of a query, at least one, with their groups; the last word may be incomplete."""

    def __init__(self, typed: Sequence[str], vocabulary: Vocabulary) -> None:
        self.typed = typed
        self.words = [piece for word in typed for piece in pieces(word)][:MAX_QUERY_WORDS]
        self.vocabulary = vocabulary
        self._groups: list[Group] = [{} for _ in self.words]
        self._corrections: list[Group] = [{} for _ in self.words]
        # Longest first; unknown words before all others.
        positions = [i for i, word in enumerate(self.words) if correctable(word)]
        self._correctable = sorted(positions, key=lambda i: (self._is_known(i), -len(self.words[i]), i))[:MAX_CORRECTED_WORDS]
        self._corrected: set[int] = set()
        self._add_forms()

    @property
    def uncorrected(self) -> list[int]:
        """The positions of words that can still be corrected; known words too, since they may be misspellings of others."""
        return [i for i in self._correctable if i not in self._corrected]

    @property
    def unknown(self) -> list[int]:
        """The positions of uncorrected words that are not in the vocabulary."""
        return [i for i in self.uncorrected if not self._is_known(i)]

    def correct(self, positions: Iterable[int]) -> None:
        """Add the likeliest corrections to the groups at these positions."""
        for i in positions:
            self._corrected.add(i)
            self._corrections[i] = self._likeliest(self.words[i], is_prefix=i == len(self.words) - 1)
            for word, weight in self._corrections[i].items():
                self._groups[i].setdefault(word, weight)

    def add_synonyms(self) -> bool:
        """Add the synonyms, and tell whether there are any."""
        found = False
        for word, group in zip(self.words, self._groups, strict=True):
            synonyms = {*self.vocabulary.synonyms.get(word, ()), *self.vocabulary.synonyms.get(singular(word), ())}
            known = [form for synonym in synonyms for form in (synonym, singular(synonym)) if form in self.vocabulary]
            for form in known:
                group.setdefault(form, SYNONYM)
            found = found or bool(known)
        return found

    def groups(self) -> list[Group]:
        """Return the groups. A word that may be a compound has two, one for each part; the word itself is in both."""
        found: list[Group] = []
        counts = self.vocabulary.counts
        for word, group in zip(self.words, self._groups, strict=True):
            known = [split for split in splits(word) if split[0] in counts and split[1] in counts]
            # The likeliest split has the most frequent rarer part, which must not be rarer than the word itself.
            best = max(known, key=lambda split: (min(counts[split[0]], counts[split[1]]), split), default=None)
            if best and min(counts[part] for part in best) >= counts.get(word, 0):
                found += [{part: OTHER_FORM} | group for part in best]
            else:
                found.append(group)
        return found

    def title_keys(self) -> list[int]:
        """Return the keys of titles equal to the query or one of its corrections, the query's first."""
        choices = [[word, *corrections] for word, corrections in zip(self.words, self._corrections, strict=True)]
        corrected = itertools.islice(itertools.product(*choices), MAX_TITLES)
        return list(dict.fromkeys([title_key(self.typed), *map(title_key, corrected)]))

    def alternatives(self, most: int) -> list[str]:
        """Return words of titles and tags that are similar to those of the query, for queries without results."""
        found = [self.vocabulary.similar(self.words[i], most) for i in self._correctable[:most]]
        # The best of each word first.
        return list(dict.fromkeys(filter(None, itertools.chain.from_iterable(itertools.zip_longest(*found)))))[:most]

    def _is_known(self, i: int) -> bool:
        return self.words[i] in self.vocabulary or singular(self.words[i]) in self.vocabulary

    def _add_forms(self) -> None:
        for group, word in zip(self._groups, self.words, strict=True):
            self._add_known(group, {singular(word): OTHER_FORM, word: EXACT})
            if not self.vocabulary.is_complete:
                group[word] = EXACT
        last = self.words[-1]
        if not is_unspaced(last):
            self._add_known(self._groups[-1], {word: _completed(last, word) for word in self.vocabulary.completions(last)})
        for i, (left, right) in enumerate(itertools.pairwise(self.words)):
            for group in self._groups[i : i + 2]:
                self._add_known(group, {left + right: OTHER_FORM})

    def _add_known(self, group: Group, weights: Mapping[str, float]) -> None:
        """Add those of these words to a group that are in the vocabulary; of two weights, the higher one counts."""
        for word, weight in weights.items():
            if word in self.vocabulary:
                group[word] = max(weight, group.get(word, 0))

    def _likeliest(self, word: str, *, is_prefix: bool) -> Group:
        """Return the likeliest corrections of a word, by distance, first letter and frequency."""
        # Distance and weight by term.
        candidates = {term: (float(typos), TYPOS[typos]) for term, typos in self.vocabulary.corrections(word)}
        # A correction with one typo is likelier than any completion.
        if is_prefix and not any(distance == 1 for distance, _ in candidates.values()):
            for term, typos in self.vocabulary.corrected_completions(word):
                candidates.setdefault(term, (typos + 1.0, TYPOS[typos] * PREFIX_TYPO))

        def unlikelihood(term: str) -> tuple[float, str]:
            commonness = 0.05 * math.log(self.vocabulary.counts[term] + self.vocabulary.heading_counts[term])
            distance, _ = candidates[term]
            return distance + 0.5 * (word[0] != term[0]) - commonness, term

        return {term: candidates[term][1] for term in sorted(candidates, key=unlikelihood)[:MAX_CORRECTIONS]}


def _completed(beginning: str, word: str) -> float:
    return SHORTEST_PREFIX + (LONGEST_PREFIX - SHORTEST_PREFIX) * len(beginning) / len(word)

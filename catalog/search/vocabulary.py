"""The words of published listings, kept in memory by each process, to complete, correct and split the words of a query.

They are valid for one version of the catalog. When it changes, only new words are read; counts, which decide
between likely words, are as old as the last full read, at most an hour.
"""

import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from heapq import nsmallest

from django.db import connection
from rapidfuzz import process
from rapidfuzz.distance import OSA, JaroWinkler

from ..catalog_version import current_version
from ..models import SearchSynonym, SearchTerm
from .documents import ALL_DOCUMENTS
from .words import is_unspaced

# The most words in memory: those in the most titles and tags. Other words match only as typed.
MAX_WORDS = 200_000
# The most completions of a prefix, most frequent first.
MAX_COMPLETIONS = 30
# The most prefixes whose completions are cached.
MAX_CACHED_PREFIXES = 5_000
# A word that occurs in descriptions only is a correction if at least this many listings have it: a rarer one may be a misspelling itself.
MIN_CORRECTION_LISTINGS = 3
# The least similarity of suggested words.
MIN_SIMILARITY = 0.75
FULL_READ_SECONDS = 3600
LAST_CHARACTER = "\U0010ffff"
# A typo is a letter omitted, added or replaced, or two adjacent letters swapped (optimal string alignment): one from 4 letters, two from 8,
# counted in the longer of both words, because a misspelling may have lost letters.
MAX_DISTANCE = 2
ONE_TYPO_CHARS = 4
TWO_TYPOS_CHARS = 8


def allowed_distance(a: int, b: int) -> int:
    """Return the most typos between words of these lengths."""
    longest = max(a, b)
    if longest < ONE_TYPO_CHARS:
        return 0
    return 1 if longest < TWO_TYPOS_CHARS else MAX_DISTANCE


def correctable(word: str) -> bool:
    """Tell whether a word can be corrected or be a correction."""
    return len(word) >= ONE_TYPO_CHARS - 1 and not is_unspaced(word)


@dataclass
class Vocabulary:
    """Words with the number of listings that contain them, anywhere and in title or tags; and the synonyms."""

    version: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    heading_counts: dict[str, int] = field(default_factory=dict)
    synonyms: dict[str, list[str]] = field(default_factory=dict)
    # Id and text of the newest word that was read.
    last: tuple[int, str] | None = None
    # When all words were last read, by the monotonic clock.
    read_at: float = 0.0
    # Whether it was read outside of a transaction.
    is_committed: bool = True
    _sorted: list[str] = field(default_factory=list)
    # The words that can be corrections, by their length.
    _by_length: dict[int, list[str]] = field(default_factory=dict)
    _completions: dict[str, list[str]] = field(default_factory=dict)

    def __contains__(self, word: str) -> bool:
        return word in self.counts

    @property
    def total(self) -> int:
        """The number of listings."""
        return self.counts.get(ALL_DOCUMENTS, 0)

    @property
    def is_complete(self) -> bool:
        """Whether all words fit into memory."""
        return len(self.counts) < MAX_WORDS

    def completions(self, prefix: str) -> list[str]:
        """Return the most frequent words with this prefix, without the prefix itself."""
        found = self._completions.get(prefix)
        if found is None:
            words = self._between(prefix, prefix + LAST_CHARACTER)
            longer = (word for word in words if word != prefix)
            found = nsmallest(MAX_COMPLETIONS, longer, key=lambda word: (-self.counts[word], word))
            if len(self._completions) < MAX_CACHED_PREFIXES:
                self._completions[prefix] = found
        return found

    def corrections(self, word: str) -> list[tuple[str, int]]:
        """Return the words of which this may be a misspelling, with the number of typos."""
        found: list[tuple[str, int]] = []
        for length in range(len(word) - MAX_DISTANCE, len(word) + MAX_DISTANCE + 1):
            typos = allowed_distance(len(word), length)
            if abs(length - len(word)) <= typos and length in self._by_length:
                near = process.extract(word, self._by_length[length], scorer=OSA.distance, score_cutoff=typos, limit=None)
                found += [(term, int(distance)) for term, distance, _ in near if distance]
        return found

    def corrected_completions(self, prefix: str) -> list[tuple[str, int]]:
        """Return words with a prefix that differs by a few typos, with their number; they begin with its first or second letter."""
        if len(prefix) <= ONE_TYPO_CHARS:
            return []
        found: dict[str, int] = {}
        first = sorted({*prefix[:2]})
        words = [word for letter in first for word in self._between(letter, letter + LAST_CHARACTER)]
        for size in (len(prefix), len(prefix) - 1, len(prefix) + 1):
            matches = process.extract(
                prefix,
                [word[:size] for word in words],
                scorer=OSA.distance,
                score_cutoff=allowed_distance(len(prefix), size),
                limit=None,
            )
            for _, typos, place in matches:
                word = words[place]
                if len(word) > len(prefix) + 1 and self._is_worth_correcting_to(word):
                    found[word] = min(max(typos, 1), found.get(word, MAX_DISTANCE))
        return list(found.items())

    def similar(self, word: str, most: int) -> list[str]:
        """Return similar words of titles and tags with the same first letter."""
        words = [each for each in self._between(word[0], word[0] + LAST_CHARACTER) if self.heading_counts[each] and correctable(each)]
        return [each for each, *_ in process.extract(word, words, scorer=JaroWinkler.similarity, score_cutoff=MIN_SIMILARITY, limit=most)]

    def extended(self, rows: Iterable[tuple[str, int, int]]) -> "Vocabulary":
        """Return a copy with these words added; this one may be in use by other threads."""
        counts, heading_counts = dict(self.counts), dict(self.heading_counts)
        for word, in_documents, in_headings in rows:
            counts[word], heading_counts[word] = in_documents, in_headings
        new = [word for word in counts if word not in self.counts]
        found = Vocabulary(counts=counts, heading_counts=heading_counts, _sorted=sorted(self._sorted + new), _by_length={**self._by_length})
        by_length = defaultdict(list)
        for word in new:
            if correctable(word) and found._is_worth_correcting_to(word):
                by_length[len(word)].append(word)
        found._by_length |= {length: [*self._by_length.get(length, ()), *words] for length, words in by_length.items()}
        return found

    def _is_worth_correcting_to(self, word: str) -> bool:
        return self.heading_counts[word] > 0 or self.counts[word] >= MIN_CORRECTION_LISTINGS

    def _between(self, first: str, end: str) -> list[str]:
        return self._sorted[bisect_left(self._sorted, first) : bisect_left(self._sorted, end)]


class _Cache:
    """The cached vocabulary of this process."""

    vocabulary = Vocabulary()
    lock = threading.Lock()


def current_vocabulary() -> Vocabulary:
    """Return the vocabulary of the committed catalog, or the transaction's own if it has changed the catalog."""
    version = current_version()
    if _Cache.vocabulary.version != version:
        with _Cache.lock:
            if _Cache.vocabulary.version != version:
                _Cache.vocabulary = _read(_Cache.vocabulary, version)
    return _Cache.vocabulary


def _read(before: Vocabulary, version: str) -> Vocabulary:
    """Return the vocabulary of this version: `before` with the words added since, or all words if `before` cannot be extended."""
    now, is_committed = time.monotonic(), not connection.in_atomic_block
    found = None
    if before.is_committed and is_committed and now - before.read_at < FULL_READ_SECONDS:
        found = _with_new_words(before)
    if found is None:
        last = SearchTerm.objects.order_by("id").values_list("id", "term").last()
        by_use = SearchTerm.objects.order_by("-headings", "-documents", "id").values_list("term", "documents", "headings")
        found = replace(Vocabulary().extended(by_use[:MAX_WORDS]), last=last, read_at=now)
    synonyms = {row.word: row.synonyms.split() for row in SearchSynonym.objects.filter(is_active=True)}
    return replace(found, version=version, synonyms=synonyms, is_committed=is_committed)


def _with_new_words(before: Vocabulary) -> Vocabulary | None:
    """Return the vocabulary with the words added since; None if it does not belong to this database, as after a restore.

    Ids are assigned under the lock of the catalog's version, so that words are committed in their order and all up to `last` are known.
    """
    if before.last is None:
        return None
    since = SearchTerm.objects.filter(id__gte=before.last[0]).order_by("id")
    room = max(0, MAX_WORDS - len(before.counts))
    rows = list(since.values_list("id", "term", "documents", "headings")[: room + 1])
    if not rows or rows[0][:2] != before.last:
        return None
    return replace(before.extended([row[1:] for row in rows[1:]]) if len(rows) > 1 else before, last=rows[-1][:2], read_at=before.read_at)

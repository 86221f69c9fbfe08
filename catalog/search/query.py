"""Answers a query: corrects its words against the vocabulary, asks for candidates, ranks them."""

import itertools
import math
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Q, When

from ..models import SearchDelete, SearchTerm
from .index import SEPARATOR
from .postings import ALL_LEVELS, CANDIDATES, LEVEL_SIZES, candidates
from .spelling import allowed_distance, deletes, osa_distance
from .words import joined, pieces, singular, splits, words_of

# More words than these do not narrow a search further.
QUERY_WORDS = 12
PREFIX_TERMS = 50
CORRECTIONS = 3
LAST_CHARACTER = "\U0010ffff"

# decisions.md section 4: weighted in this order.
TITLE, TAGS, SUMMARY, BODY = 1.0, 0.7, 0.45, 0.25
# How much of the score is whether the whole title was meant, so that `Inter` comes before `Inter for presentations`.
WHOLE_TITLE = 0.1
# How well a word of the vocabulary stands for one of the query.
EXACT, OTHER_FORM, LONGEST_PREFIX, SHORTEST_PREFIX = 1.0, 0.95, 0.9, 0.75
TYPOS = {1: 0.7, 2: 0.5}

# A query's word: the vocabulary's words that may stand for it, each with how well it does.
Group = dict[str, float]


@dataclass(frozen=True)
class Hit:
    """One result; the score is between 0 and 1."""

    id: uuid.UUID
    title: str
    score: float


def search(q: str, limit: int) -> list[Hit]:
    """Return the listings for sale that match best, best first; equally good ones by popularity."""
    words = [piece for word in words_of(q) for piece in pieces(word)][:QUERY_WORDS]
    if not words:
        return []
    groups, documents = _known(words)
    known = [i for i, word in enumerate(words) if word in groups[i] or singular(word) in groups[i]]
    _correct(words, groups, [i for i in range(len(words)) if i not in known])
    asked = _in_two(words, groups, documents)
    found = _all_of(asked, documents, limit)
    if not found and known:
        # A word that is known may still be a misspelling of the one that was meant.
        _correct(words, groups, known)
        asked = _in_two(words, groups, documents)
        found = _all_of(asked, documents, limit)
    if not found:
        found = _any_of(asked)
    return _ranked(asked, found, limit)


def _known(words: Sequence[str]) -> tuple[list[Group], dict[str, int]]:
    """Return for each word what the vocabulary has of it, and in how many documents each of these is."""
    last = words[-1]
    pairs = joined(list(words))
    parts = (part for word in words for split in splits(word) for part in split)
    wanted = {*words, *map(singular, words), *pairs, *parts}
    rows = SearchTerm.objects.filter(Q(term__in=wanted) | Q(term__gte=last, term__lt=last + LAST_CHARACTER))
    # The words themselves, whatever there is beside them; then the most frequent that begin like the last one.
    rows = rows.order_by(Case(When(term__in=wanted, then=0), default=1), "-documents", "term")
    documents = dict(rows.values_list("term", "documents")[: len(wanted) + PREFIX_TERMS])
    groups: list[Group] = [{} for _ in words]
    for group, word in zip(groups, words, strict=True):
        _offer(group, {singular(word): OTHER_FORM, word: EXACT}, documents)
    for term in documents:
        if term.startswith(last) and term != last:
            _offer(groups[-1], {term: SHORTEST_PREFIX + (LONGEST_PREFIX - SHORTEST_PREFIX) * len(last) / len(term)}, documents)
    for i, (left, right) in enumerate(itertools.pairwise(words)):
        _offer(groups[i], {left + right: OTHER_FORM}, documents)
        _offer(groups[i + 1], {left + right: OTHER_FORM}, documents)
    return groups, documents


def _in_two(words: Sequence[str], groups: Sequence[Group], documents: Mapping[str, int]) -> list[Group]:
    """Return the groups, with two for each word that may be written as two: the word itself meets both."""
    found: list[Group] = []
    for word, group in zip(words, groups, strict=True):
        known = [split for split in splits(word) if split[0] in documents and split[1] in documents]
        if known:
            # The likeliest: both parts are common.
            best = max(known, key=lambda split: (min(documents[split[0]], documents[split[1]]), split))
            found += [{part: OTHER_FORM} | group for part in best]
        else:
            found.append(group)
    return found


def _offer(group: Group, offers: Mapping[str, float], documents: Mapping[str, int]) -> None:
    for term, quality in offers.items():
        if term in documents:
            group[term] = max(quality, group.get(term, 0))


def _correct(words: Sequence[str], groups: list[Group], positions: Sequence[int]) -> None:
    """Add to the groups at these positions the likeliest words that were meant."""
    digests: defaultdict[int, set[int]] = defaultdict(set)
    for i in positions:
        if allowed := allowed_distance(words[i]):
            digests[i] = deletes(words[i], allowed)
    if not any(digests.values()):
        return
    near: defaultdict[int, set[tuple[str, int]]] = defaultdict(set)
    rows = SearchDelete.objects.filter(digest__in=sorted(set().union(*digests.values())))
    for digest, term, documents in rows.values_list("digest", "term__term", "term__documents"):
        near[digest].add((term, documents))
    for i, variants in digests.items():
        vocabulary = set().union(*(near[digest] for digest in variants))
        groups[i].update({term: quality for term, quality in _nearest(words[i], vocabulary).items() if term not in groups[i]})


def _nearest(word: str, vocabulary: Iterable[tuple[str, int]]) -> Group:
    """Return the few words that a misspelt one most likely meant: near, alike at the beginning, common."""
    allowed = allowed_distance(word)
    ranked = []
    for term, documents in vocabulary:
        distance = osa_distance(word, term, allowed)
        if 0 < distance <= allowed:
            ranked.append((distance + 0.5 * (word[0] != term[0]) - 0.05 * math.log(documents), term, distance))
    return {term: TYPOS[distance] for _, term, distance in sorted(ranked)[:CORRECTIONS]}


def _all_of(groups: Sequence[Group], documents: Mapping[str, int], limit: int) -> list[Any]:
    """Return candidates that have every word: from titles and tags first, then from anywhere."""
    if not all(groups):
        return []
    fewest = min(sum(documents.get(term, 1) for term in group) for group in groups)
    found: dict[uuid.UUID, Any] = {}
    for level in range(ALL_LEVELS if fewest <= LEVEL_SIZES[0] else 0, ALL_LEVELS + 1):
        for heading in (True, False):
            if len(found) < CANDIDATES:
                for row in candidates(groups, heading=heading, level=level):
                    found.setdefault(row.listing_id, row)
        if len(found) >= limit:
            break
    return list(found.values())


def _any_of(groups: Sequence[Group]) -> list[Any]:
    """Return candidates that have at least one of the words."""
    known = [group for group in groups if group]
    return list(candidates(known, heading=False, level=ALL_LEVELS, every=False)) if known else []


def _ranked(groups: Sequence[Group], found: Sequence[Any], limit: int) -> list[Hit]:
    scored = [(_score(groups, row), row) for row in found]
    scored.sort(key=lambda pair: (-pair[0], -pair[1].purchases, -pair[1].published_at.timestamp(), pair[1].listing_id))
    return [Hit(id=row.listing_id, title=row.name, score=score) for score, row in scored[:limit]]


def _score(groups: Sequence[Group], row: Any) -> float:
    """Return how well a document answers: the mean of its words, and how much of its title was asked for."""
    columns = (
        (TITLE, set(row.title.split())),
        (TAGS, set(row.tags.split())),
        (SUMMARY, set(row.summary.split())),
        (BODY, set(row.text.split())),
    )
    mean = sum(
        max((quality * weight for term, quality in group.items() for weight, column in columns if term in column), default=0.0)
        for group in groups
    ) / len(groups)
    return round((1 - WHOLE_TITLE) * mean + WHOLE_TITLE * mean * _title_share(groups, row.title), 4)


def _title_share(groups: Sequence[Group], title: str) -> float:
    """Return the part of the title's own words that the query asked for."""
    words = title.partition(f" {SEPARATOR}")[0].split()
    asked = {term for group in groups for term in group}
    met = sum(1 for word in words if word in asked or singular(word) in asked or any(piece in asked for piece in pieces(word)))
    return met / len(words) if words else 0.0

"""Asks the database's full-text index which listings have the words: the one statement of search that the ORM cannot make.

Both databases index the same folded words and are asked for the same AND of ORs, so both give the same listings; these are ranked in
Python. Words are letters, marks, digits and pictures (`words`): none can be mistaken for an operator.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Model, QuerySet

from .. import bounds
from .expansion import Group
from .popularity import popular_listings
from .vocabulary import Vocabulary

# The most results of a look-up, most popular first: ranking everything that has a common word would take seconds.
HEADINGS, ANYWHERE, NEW, SAME_TITLE = 150, 100, 20, 50
# Of many words that are everywhere, as many as a page has: listings that have them all differ little.
OF_WORDS_EVERYWHERE = bounds.SEARCH_LIMIT
# Popular listings alone are asked where so many of them should have the words; the estimate assumes independent words.
PLENTY = bounds.SEARCH_LIMIT
# The assumed share of results that pass filters.
FILTERED = 0.1
# Queries of up to this many words are also tried with one word left out.
LEAVE_OUT = 5

# The index expressions of the migration, letter by letter.
_HEADING, _WHOLE = "catalog_words(title, tags)", "catalog_words(title, tags, summary, body)"
_LOOK_UP = (
    "SELECT * FROM (SELECT id, {heading} AS heading FROM {source} WHERE {condition} ORDER BY {order} LIMIT {limit}) AS found_{number}"
)
# A match in title and tags cannot become a better one by the description: it stays unread.
_ROWS = """
SELECT CAST(document.listing_id AS text), document.title_key, document.title, document.tags, document.summary,
       CASE WHEN found.heading = 1 THEN '' ELSE document.body END, document.is_new, document.popularity,
       CAST(document.published_at AS text)
FROM (SELECT id, MAX(heading) AS heading FROM ({found}) AS every GROUP BY id) AS found
JOIN catalog_searchdocument AS document ON document.id = found.id
"""
_POPULAR_FIRST, _NEW_FIRST = "popularity DESC, published_at DESC, listing_id DESC", "published_at DESC, listing_id DESC"


@dataclass(frozen=True)
class LookUp:
    """A question to the full-text index.

    Attributes:
        groups: Sorted words; a listing must have one of each group, or of any group when `every` is false.
        heading: Look in titles and tags only.
        popular: Look at popular listings only.
        limit: The most listings to return.
        every: Whether each group must be met.
        new: Look at listings that are new only, the newest first, instead of the most popular.
    """

    groups: tuple[tuple[str, ...], ...]
    heading: bool
    popular: bool
    limit: int
    every: bool = True
    new: bool = False


class Row(NamedTuple):
    """What was found. Ids and times are the database's texts, and compare alike on each."""

    listing_id: str
    title_key: int
    title: str
    tags: str
    summary: str
    body: str
    is_new: bool
    popularity: int
    published_at: str


def all_of(groups: Sequence[Group], vocabulary: Vocabulary, *, filtered: bool, headings_only: bool, complete: bool) -> list[LookUp]:
    """Return the look-ups for listings that have a word of every group.

    Args:
        groups: None is empty.
        vocabulary: How frequent the words are.
        filtered: Whether filters will keep only a part.
        headings_only: Look in titles and tags only.
        complete: Look at all listings, however common the words.
    """
    words = _sorted(groups)
    if are_everywhere(groups, vocabulary):
        # Reading where all of them are would take too long.
        return [LookUp(words, heading=False, popular=True, limit=OF_WORDS_EVERYWHERE)]
    expected = _share(groups, vocabulary.headings, vocabulary.total)
    popular = not complete and _is_plenty(expected, vocabulary, filtered=filtered)
    found = []
    # Where a word is in no title and no tag, reading where the others are is useless.
    if expected:
        found.append(LookUp(words, heading=True, popular=popular, limit=HEADINGS))
        if popular:
            found.append(LookUp(words, heading=True, popular=True, limit=NEW, new=True))
    # Where titles and tags should hold enough, descriptions cannot add anything better.
    if not popular and not headings_only:
        expected = _share(groups, vocabulary.documents, vocabulary.total)
        popular = not complete and _is_plenty(expected, vocabulary, filtered=filtered)
        found.append(LookUp(words, heading=False, popular=popular, limit=ANYWHERE))
    return found


def some_of(groups: Sequence[Group], vocabulary: Vocabulary, *, filtered: bool, headings_only: bool) -> list[LookUp]:
    """Return the look-ups for listings that have all words but one, whichever it is, or any of the rarest: they say most of what was meant."""
    found = []
    choices = [[*groups[:i], *groups[i + 1 :]] for i in range(len(groups))] if 2 < len(groups) <= LEAVE_OUT else []
    for others in choices:
        popular = _is_plenty(_share(others, vocabulary.documents, vocabulary.total), vocabulary, filtered=filtered)
        found.append(LookUp(_sorted(others), heading=headings_only, popular=popular, limit=ANYWHERE))
    counts = vocabulary.headings if headings_only else vocabulary.documents
    rarest = sorted(groups, key=lambda group: _sum(group, counts))
    listings, few = 0.0, 0
    while few < len(rarest) and listings < PLENTY:
        listings += _sum(rarest[few], counts) * (FILTERED if filtered else 1)
        few += 1
    popular = _is_plenty(_sum_of(rarest[:few], counts) / max(vocabulary.total, 1), vocabulary, filtered=filtered)
    return [*found, LookUp(_sorted(rarest[:few]), heading=headings_only, popular=popular, limit=HEADINGS, every=False)]


def are_everywhere(groups: Sequence[Group], vocabulary: Vocabulary) -> bool:
    """Tell whether there are many words and each of them is very common."""
    return len(groups) > LEAVE_OUT and min(_sum(group, vocabulary.documents) for group in groups) > popular_listings(vocabulary.total)


def fetch(look_ups: Sequence[LookUp], title_keys: Collection[int], within: QuerySet[Model] | None = None) -> list[Row]:
    """Return what the look-ups find, in one statement.

    Args:
        look_ups: What to ask the full-text index.
        title_keys: Keys of titles that are found whole, however unpopular.
        within: A queryset whose keys are ids of listings; only these are looked at.
    """
    try:
        kept, params = _kept(within)
    except EmptyResultSet:
        return []
    ask = _postgresql if connection.vendor == "postgresql" else _sqlite
    keys = [*title_keys]
    same_title = ("catalog_searchdocument", f"title_key IN ({', '.join(['%s'] * len(keys))})", keys)
    questions = [(same_title, True, _POPULAR_FIRST, SAME_TITLE)] if keys else []
    questions += [(ask(each), each.heading, _NEW_FIRST if each.new else _POPULAR_FIRST, each.limit) for each in look_ups]
    shown = "is_shown AND listing_id IN (SELECT listing_id FROM kept)" if kept else "is_shown"
    parts: list[str] = []
    for number, ((source, condition, values), heading, order, limit) in enumerate(questions):
        condition = f"{condition} AND {shown}"  # noqa: PLW2901 - completed here
        parts.append(_LOOK_UP.format(heading=int(heading), source=source, condition=condition, order=order, limit=limit, number=number))
        params += values
    if not parts:
        return []
    with connection.cursor() as cursor:
        cursor.execute(kept + _ROWS.format(found=" UNION ALL ".join(parts)), params)
        return [Row(*row) for row in cursor.fetchall()]


def _kept(queryset: QuerySet[Model] | None) -> tuple[str, list[Any]]:
    """Return the beginning of a statement in which the listings of a queryset are called `kept`."""
    if queryset is None:
        return "", []
    sql, params = queryset.order_by().values("pk").query.sql_with_params()
    # SQLite would gather them anew for each look-up; PostgreSQL need not gather them, but looks up what was found.
    hint = "NOT MATERIALIZED" if connection.vendor == "postgresql" else "MATERIALIZED"
    return f"WITH kept (listing_id) AS {hint} ({sql})", [*params]


def _postgresql(ask: LookUp) -> tuple[str, str, list[Any]]:
    words = [list(group) for group in ask.groups] if ask.every else [sorted({word for group in ask.groups for word in group})]
    column = _HEADING if ask.heading else _WHOLE
    conditions = [f"{column} && %s::text[]"] * len(words)
    if ask.new:
        conditions.append("is_new")
    elif ask.popular:
        conditions.append("is_popular")
    return "catalog_searchdocument", " AND ".join(conditions), [*words]


def _sqlite(ask: LookUp) -> tuple[str, str, list[Any]]:
    ors = ["(" + " OR ".join(f'"{word}"' for word in group) + ")" for group in ask.groups]
    columns = "title tags" if ask.heading else "title tags summary body"
    query = f"{{{columns}}} : ({(' AND ' if ask.every else ' OR ').join(ors)})"
    if ask.new or ask.popular:
        query = f"place : {'new' if ask.new else 'popular'} AND {query}"
    # Each row is read as the index gives it; a list of them would be gathered and sorted first.
    return "catalog_searchfts CROSS JOIN catalog_searchdocument ON id = catalog_searchfts.rowid", "catalog_searchfts MATCH %s", [query]


def _share(groups: Sequence[Group], counts: Mapping[str, int], total: int) -> float:
    """Return the part of all listings that should have a word of every group."""
    return math.prod(min(1.0, _sum(group, counts) / max(total, 1)) for group in groups)


def _is_plenty(share: float, vocabulary: Vocabulary, *, filtered: bool) -> bool:
    kept = FILTERED if filtered else 1
    popular = popular_listings(vocabulary.total)
    return vocabulary.total > popular and share * kept * popular >= PLENTY


def _sum_of(groups: Sequence[Group], counts: Mapping[str, int]) -> int:
    return sum(_sum(group, counts) for group in groups)


def _sum(group: Collection[str], counts: Mapping[str, int]) -> int:
    return sum(counts.get(word, 0) for word in group)


def _sorted(groups: Sequence[Group]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(sorted(group)) for group in groups)

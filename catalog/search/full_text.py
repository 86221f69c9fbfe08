"""Queries the database's full-text index, with the one SQL statement of search that the ORM cannot express.

Both databases index the same normalised words and run the same AND of ORs, so both return the same listings, which are ranked in
Python. Words consist of letters, marks, digits and symbols (`words`), so that none is an operator.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Model, QuerySet

from .. import bounds
from .expansion import Group
from .vocabulary import Vocabulary

# The most results of each kind of subquery: ranking everything that contains a common word would take seconds.
HEADINGS_LIMIT, ANYWHERE_LIMIT, NEW_LIMIT, SAME_TITLE_LIMIT = 150, 100, 20, 50
# For many common words one page is enough: listings that contain them all differ little.
COMMON_WORDS_LIMIT = bounds.SEARCH_LIMIT
# If at least this many popular listings should match, only these are searched; the estimate takes words to be independent of each other.
ENOUGH_RESULTS = bounds.SEARCH_LIMIT
# The least number of popular listings.
MIN_POPULAR_LISTINGS = 4_000
# The assumed share of results that pass filters.
FILTER_SELECTIVITY = 0.1
# Queries of up to this many words are also tried with one word left out.
MAX_WORDS_FOR_LEAVE_ONE_OUT = 5

# The same expressions as in the indexes of the migration.
_HEADING, _WHOLE = "catalog_words(title, tags)", "catalog_words(title, tags, summary, body)"
_SUBQUERY = (
    "SELECT * FROM (SELECT id, {heading} AS heading FROM {source} WHERE {condition} ORDER BY {order} LIMIT {limit}) AS found_{number}"
)
# The body of a match in title and tags cannot improve its score and is not read.
_ROWS = """
SELECT CAST(document.listing_id AS text), document.title_key, document.title, document.tags, document.summary,
       CASE WHEN found.heading = 1 THEN '' ELSE document.body END, document.is_new, document.popularity,
       CAST(document.published_at AS text)
FROM (SELECT id, MAX(heading) AS heading FROM ({found}) AS every GROUP BY id) AS found
JOIN catalog_searchdocument AS document ON document.id = found.id
"""
_POPULAR_FIRST, _NEW_FIRST = "popularity DESC, published_at DESC, listing_id DESC", "published_at DESC, listing_id DESC"


# Which listings are searched: also the marks of popular and of new ones in the index of SQLite.
Among = Literal["all", "popular", "new"]


@dataclass(frozen=True)
class FullTextQuery:
    """A subquery of the full-text index: the most popular listings first, among new ones the newest."""

    # Sorted words; a listing must have a word of each group, or of any group if `every` is false.
    groups: tuple[tuple[str, ...], ...]
    # Headings are titles and tags.
    headings_only: bool
    among: Among
    limit: int
    every: bool = True


class FoundRow(NamedTuple):
    """A search document that was found. Ids and times are text, which sorts the same way on both databases."""

    listing_id: str
    title_key: int
    title: str
    tags: str
    summary: str
    body: str
    is_new: bool
    popularity: int
    published_at: str


def all_of(
    groups: Sequence[Group], vocabulary: Vocabulary, *, filtered: bool, headings_only: bool, search_all: bool
) -> list[FullTextQuery]:
    """Return the subqueries for listings that have a word of every group.

    With `search_all` they search all listings, unless there are many words that are all common (`are_all_common`).
    """
    words = _sorted(groups)
    if are_all_common(groups, vocabulary):
        # Reading all their rows would take too long.
        return [FullTextQuery(words, headings_only=False, among="popular", limit=COMMON_WORDS_LIMIT)]
    expected = _share(groups, vocabulary.heading_counts, vocabulary.total)
    among: Among = "all" if search_all else _among(expected, vocabulary, filtered=filtered)
    found = []
    # No match is possible if a word is in no title and no tag.
    if expected:
        found.append(FullTextQuery(words, headings_only=True, among=among, limit=HEADINGS_LIMIT))
        if among == "popular":
            found.append(FullTextQuery(words, headings_only=True, among="new", limit=NEW_LIMIT))
    # Descriptions cannot add better results if titles and tags give enough.
    if among == "all" and not headings_only:
        expected = _share(groups, vocabulary.counts, vocabulary.total)
        among = "all" if search_all else _among(expected, vocabulary, filtered=filtered)
        found.append(FullTextQuery(words, headings_only=False, among=among, limit=ANYWHERE_LIMIT))
    return found


def some_of(groups: Sequence[Group], vocabulary: Vocabulary, *, filtered: bool, headings_only: bool) -> list[FullTextQuery]:
    """Return the subqueries for listings that have all words but one, or any of the rarest words, which are the most specific."""
    found = []
    choices = [[*groups[:i], *groups[i + 1 :]] for i in range(len(groups))] if 2 < len(groups) <= MAX_WORDS_FOR_LEAVE_ONE_OUT else []
    for others in choices:
        among = _among(_share(others, vocabulary.counts, vocabulary.total), vocabulary, filtered=filtered)
        found.append(FullTextQuery(_sorted(others), headings_only=headings_only, among=among, limit=ANYWHERE_LIMIT))
    counts = vocabulary.heading_counts if headings_only else vocabulary.counts
    rarest = sorted(groups, key=lambda group: _sum(group, counts))
    expected, taken = 0.0, 0
    while taken < len(rarest) and expected < ENOUGH_RESULTS:
        expected += _sum(rarest[taken], counts) * (FILTER_SELECTIVITY if filtered else 1)
        taken += 1
    among = _among(sum(_sum(group, counts) for group in rarest[:taken]) / max(vocabulary.total, 1), vocabulary, filtered=filtered)
    return [
        *found,
        FullTextQuery(_sorted(rarest[:taken]), headings_only=headings_only, among=among, limit=HEADINGS_LIMIT, every=False),
    ]


def are_all_common(groups: Sequence[Group], vocabulary: Vocabulary) -> bool:
    """Tell whether there are many words and each of them is very common."""
    rarest = min((_sum(group, vocabulary.counts) for group in groups), default=0)
    return len(groups) > MAX_WORDS_FOR_LEAVE_ONE_OUT and rarest > popular_count(vocabulary.total)


def popular_count(total: int) -> int:
    """Return how many of `total` listings are popular.

    The number P balances what subqueries read. One that searches only popular listings finds at most P. One that searches all is for words that
    fewer than `ENOUGH_RESULTS` popular listings should have, and finds about ENOUGH_RESULTS * total / P. Both are equal where P is the square
    root of ENOUGH_RESULTS * total, about 7 times the square root of `total`.
    """
    return max(MIN_POPULAR_LISTINGS, 7 * math.isqrt(total))


def fetch(queries: Sequence[FullTextQuery], title_keys: Collection[int], within: QuerySet[Model] | None = None) -> list[FoundRow]:
    """Return the results of the subqueries, and of whole titles however unpopular, among the listings of `within`, in one statement."""
    try:
        with_kept, params = _with_kept(within)
    except EmptyResultSet:
        return []
    conditions = _postgresql if connection.vendor == "postgresql" else _sqlite
    keys = [*title_keys]
    same_title = ("catalog_searchdocument", f"title_key IN ({', '.join(['%s'] * len(keys))})", keys)
    subqueries = [(same_title, True, _POPULAR_FIRST, SAME_TITLE_LIMIT)] if keys else []
    subqueries += [
        (conditions(each), each.headings_only, _NEW_FIRST if each.among == "new" else _POPULAR_FIRST, each.limit) for each in queries
    ]
    shown = "is_shown AND listing_id IN (SELECT listing_id FROM kept)" if with_kept else "is_shown"
    parts: list[str] = []
    for number, ((source, condition, values), heading, order, limit) in enumerate(subqueries):
        condition = f"{condition} AND {shown}"  # noqa: PLW2901 - completed here
        parts.append(_SUBQUERY.format(heading=int(heading), source=source, condition=condition, order=order, limit=limit, number=number))
        params += values
    if not parts:
        return []
    with connection.cursor() as cursor:
        cursor.execute(with_kept + _ROWS.format(found=" UNION ALL ".join(parts)), params)
        return [FoundRow(*row) for row in cursor.fetchall()]


def _with_kept(queryset: QuerySet[Model] | None) -> tuple[str, list[Any]]:
    """Return a WITH clause that gives the listings of a queryset the name `kept`."""
    if queryset is None:
        return "", []
    sql, params = queryset.order_by().values("pk").query.sql_with_params()
    # SQLite would evaluate it again for each subquery; PostgreSQL does better to look up each row that was found.
    hint = "NOT MATERIALIZED" if connection.vendor == "postgresql" else "MATERIALIZED"
    return f"WITH kept (listing_id) AS {hint} ({sql})", [*params]


def _postgresql(query: FullTextQuery) -> tuple[str, str, list[Any]]:
    words = [list(group) for group in query.groups] if query.every else [sorted({word for group in query.groups for word in group})]
    column = _HEADING if query.headings_only else _WHOLE
    conditions = [f"{column} && %s::text[]"] * len(words)
    if query.among != "all":
        conditions.append(f"is_{query.among}")
    return "catalog_searchdocument", " AND ".join(conditions), [*words]


def _sqlite(query: FullTextQuery) -> tuple[str, str, list[Any]]:
    ors = ["(" + " OR ".join(f'"{word}"' for word in group) + ")" for group in query.groups]
    columns = "title tags" if query.headings_only else "title tags summary body"
    expression = f"{{{columns}}} : ({(' AND ' if query.every else ' OR ').join(ors)})"
    if query.among != "all":
        expression = f"marks : {query.among} AND {expression}"
    # CROSS JOIN fixes the order of the tables: rows are read in the order of the index.
    return "catalog_searchfts CROSS JOIN catalog_searchdocument ON id = catalog_searchfts.rowid", "catalog_searchfts MATCH %s", [expression]


def _share(groups: Sequence[Group], counts: Mapping[str, int], total: int) -> float:
    """Return the estimated share of listings that have a word of every group."""
    return math.prod(min(1.0, _sum(group, counts) / max(total, 1)) for group in groups)


def _among(share: float, vocabulary: Vocabulary, *, filtered: bool) -> Among:
    """Return which listings to search, by the estimated share of those that match: all, unless the popular ones give enough results."""
    selectivity = FILTER_SELECTIVITY if filtered else 1
    popular = popular_count(vocabulary.total)
    return "popular" if vocabulary.total > popular and share * selectivity * popular >= ENOUGH_RESULTS else "all"


def _sum(group: Collection[str], counts: Mapping[str, int]) -> int:
    return sum(counts.get(word, 0) for word in group)


def _sorted(groups: Sequence[Group]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(sorted(group)) for group in groups)

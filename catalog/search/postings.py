"""Asks the database's own full-text index which documents hold the words; the one place where engines differ.

Both indexes hold the same folded words and are asked for the same AND of ORs, so both give the same documents; ranking is
done in Python on what they give. No word here ever comes from the client: each was read from the vocabulary.
"""

import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import connection

from ..filters import Listings
from ..models.search import Tier
from .plan import SAME_TITLE, LookUp

_DOCUMENTS = "catalog_searchdocument"
# SQLite's tables of the migrations, by whether they hold headings, and by tier. The one for all words of all is the oldest.
_EVERYTHING = "catalog_searchfts"
FULL_TEXT = {
    (True, Tier.NEWCOMER): "catalog_searchfts_heading_new",
    (True, Tier.TOP): "catalog_searchfts_heading_top",
    (True, Tier.UPPER): "catalog_searchfts_heading_upper",
    (True, Tier.REST): "catalog_searchfts_heading_rest",
    (False, Tier.TOP): "catalog_searchfts_whole_top",
    (False, Tier.UPPER): "catalog_searchfts_whole_upper",
    (False, Tier.REST): _EVERYTHING,
}
# The index expressions of the migration, letter by letter.
_HEADING, _WHOLE = "catalog_words(title, tags)", "catalog_words(title, tags, summary, body)"
_BEST, _NEWEST = "popularity DESC, listing_id DESC", "listing_id DESC"
_LOOK_UP = "SELECT * FROM (SELECT id, {heading} AS heading FROM {source} WHERE {condition} ORDER BY {order} LIMIT {limit}) AS arm"
# What was found, once each, row by row through their keys: a planner that may join would rather read whole tables.
# A match in title and tags cannot become a better one by the description: it stays unread.
_ROWS = """
SELECT document.listing_id, listing.title, listing.slug, (SELECT slug FROM catalog_category WHERE id = listing.category_id),
       document.title_key, document.title, document.tags, document.summary,
       CASE WHEN found.heading = 1 THEN '' ELSE document.body END, document.tier,
       COALESCE((SELECT purchases FROM catalog_listingstats WHERE listing_id = listing.id), 0), CAST(listing.published_at AS text)
FROM (SELECT id, MAX(heading) AS heading FROM ({found}) AS every GROUP BY id) AS found
{document} {listing}
WHERE listing.status = 'Published' AND (SELECT is_open FROM catalog_store WHERE id = listing.store_id)
"""
_KEYED = {
    "postgresql": "CROSS JOIN LATERAL (SELECT * FROM {table} WHERE id = {key} LIMIT 1) AS {name}",
    "sqlite": "JOIN {table} AS {name} ON {name}.id = {key}",
}


# What to read from, the condition, and its parameters.
_Question = tuple[str, str, list[Any]]


class Row(NamedTuple):
    """A document that was found. Ids and times are as the engine gives them, and compare alike on both."""

    listing_id: uuid.UUID | str
    name: str
    slug: str
    category: str
    title_key: int
    title: str
    tags: str
    summary: str
    body: str
    tier: int
    purchases: int
    published_at: str


def fetch(look_ups: Sequence[LookUp], titles: Sequence[int], within: Listings | None = None) -> list[Row]:
    """Return what all the look-ups find, in one statement.

    Args:
        look_ups: What to ask the full-text index.
        titles: Keys of titles that are found whole, whatever their tier.
        within: Only what filters keep.
    """
    filtered, filter_params = _within(within)
    ask_for = _postgresql if connection.vendor == "postgresql" else _sqlite
    arms: list[str] = []
    params: list[Any] = []
    conditions = [(_titles(titles), True, _BEST, SAME_TITLE), *((ask_for(ask), ask.heading, _order(ask), ask.limit) for ask in look_ups)]
    for (source, condition, values), heading, order, limit in conditions:
        arms.append(_LOOK_UP.format(heading=int(heading), source=source, condition=condition + filtered, order=order, limit=limit))
        params += [*values, *filter_params]
    with connection.cursor() as cursor:
        keyed = _KEYED[connection.vendor]
        document = keyed.format(table="catalog_searchdocument", name="document", key="found.id")
        listing = keyed.format(table="catalog_listing", name="listing", key="document.listing_id")
        cursor.execute(_ROWS.format(found=" UNION ALL ".join(arms), document=document, listing=listing), params)
        return [Row(*row) for row in cursor.fetchall()]


def _order(ask: LookUp) -> str:
    return _NEWEST if ask.newcomers else _BEST


def _within(matching: Listings | None) -> tuple[str, Sequence[Any]]:
    if matching is None:
        return "", ()
    sql, params = matching.order_by().values("pk").query.sql_with_params()
    return f" AND listing_id IN ({sql})", params


def _titles(keys: Sequence[int]) -> _Question:
    return _DOCUMENTS, f"title_key IN ({', '.join(['%s'] * len(keys))}) AND tier <= {Tier.REST.value}", [*keys]


def _postgresql(ask: LookUp) -> _Question:
    words = [list(group) for group in ask.groups] if ask.every else [sorted({word for group in ask.groups for word in group})]
    column = _HEADING if ask.heading else _WHOLE
    # The tier as a literal: a partial index is used for what its own condition says.
    condition = f"tier <= {ask.tier.value} AND " + " AND ".join([f"{column} && %s::text[]"] * len(words))
    return _DOCUMENTS, f"{condition} AND tier = {Tier.NEWCOMER.value}" if ask.newcomers else condition, [*words]


def _sqlite(ask: LookUp) -> _Question:
    ors = ["(" + " OR ".join(f'"{word}"' for word in group) + ")" for group in ask.groups]
    query = (" AND " if ask.every else " OR ").join(ors)
    table = FULL_TEXT[ask.heading, Tier.NEWCOMER if ask.newcomers else ask.tier]
    if table == _EVERYTHING:
        query = f'{{title tags summary body}} : ({query}) AND place : "rest"'
    # Each row is read as the index gives it; a list of them would be gathered and sorted first.
    return f"{table} CROSS JOIN {_DOCUMENTS} ON {_DOCUMENTS}.id = {table}.rowid", f"{table} MATCH %s", [query]

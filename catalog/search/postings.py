"""Asks the database's own full-text index which documents hold the words; the one place where engines differ.

Both indexes hold the same folded words and are asked for the same AND of ORs, so both give the same documents; ranking is
done in Python on what they give. No word here ever comes from the client: each was read from the vocabulary.
"""

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection
from django.db.models import BooleanField, F, QuerySet, TextField, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce

from ..models import SearchDocument
from ..models.listings import ListingStatus

# What is ranked: the most bought that match. Beyond these nobody pages, and ranking everything costs 70 times as much.
CANDIDATES = 300
# The levels' sizes and the whole; kept by rebuild_search.
LEVEL_SIZES = (4_000, 32_000)
ALL_LEVELS = len(LEVEL_SIZES)

# The index expressions of migration 0003, letter by letter.
_HEADING = "string_to_array(catalog_searchdocument.title || ' ' || catalog_searchdocument.tags, ' ')"
_WHOLE = (
    "string_to_array(catalog_searchdocument.title || ' ' || catalog_searchdocument.tags || ' ' || "
    "catalog_searchdocument.summary || ' ' || catalog_searchdocument.body, ' ')"
)


def candidates(groups: Sequence[Collection[str]], *, heading: bool, level: int, every: bool = True) -> QuerySet[SearchDocument, Any]:
    """Return the most bought published documents that match, at most `CANDIDATES`.

    Args:
        groups: The words that may stand for each word of the query; none is empty.
        heading: Look in titles and tags only.
        level: Look in documents up to this level only.
        every: True when each group must be met, False when one is enough.
    """
    found = SearchDocument.objects.filter(
        _matches(groups, heading=heading, every=every),
        listing__status=ListingStatus.PUBLISHED,
        listing__store__is_open=True,
    )
    if level < ALL_LEVELS:
        found = found.filter(level__lte=level)
    return (
        found.annotate(
            name=F("listing__title"),
            purchases=Coalesce("listing__stats__purchases", 0),
            published_at=F("listing__published_at"),
            # In heading, a match in the description cannot be the better one.
            text=Value("", output_field=TextField()) if heading else F("body"),
        )
        .order_by("-purchases", "-published_at", "listing_id")
        .values_list("listing_id", "name", "title", "tags", "summary", "text", "purchases", "published_at", named=True)[:CANDIDATES]
    )


def _matches(groups: Sequence[Collection[str]], *, heading: bool, every: bool) -> RawSQL:
    sql, params = (_postgresql if connection.vendor == "postgresql" else _sqlite)(groups, heading=heading, every=every)
    # The SQL is put together from the constants above; words are parameters.
    return RawSQL(sql, params, output_field=BooleanField())  # noqa: S611


def _postgresql(groups: Sequence[Collection[str]], *, heading: bool, every: bool) -> tuple[str, list[object]]:
    words = [sorted(group) for group in groups] if every else [sorted({word for group in groups for word in group})]
    column = _HEADING if heading else _WHOLE
    return " AND ".join([f"{column} && %s::text[]"] * len(words)), list(words)


def _sqlite(groups: Sequence[Collection[str]], *, heading: bool, every: bool) -> tuple[str, list[object]]:
    ors = ["(" + " OR ".join(f'"{word}"' for word in sorted(group)) + ")" for group in groups]
    match = (" AND " if every else " OR ").join(ors)
    columns = "{title tags} : " if heading else ""
    return "catalog_searchdocument.id IN (SELECT rowid FROM catalog_searchfts WHERE catalog_searchfts MATCH %s)", [f"{columns}({match})"]

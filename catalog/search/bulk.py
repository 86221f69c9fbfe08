"""Loads an empty index in bulk: a million listings in minutes.

One pass folds the listings and counts their words; documents, vocabulary and misspellings are then written in bulk (COPY on
PostgreSQL), and PostgreSQL's indexes are made once at the end instead of being kept row by row.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from typing import Any

from django.core.management.color import no_style
from django.db import connection, models, transaction
from django.db.models import F
from django.db.models.functions import Coalesce

from ..models import Listing, SearchDelete, SearchDocument, SearchTerm
from ..models.listings import ListingStatus
from ..models.search import Tier
from ..seeding.bulk import insert
from ..services.catalog_version import change_version
from .documents import EVERYWHERE, SEPARATOR, columns_of, indexed_tags
from .plan import TIER_SIZES
from .postings import FULL_TEXT
from .terms import misspellings, worth_correcting_to

Progress = Callable[[int, int], None]

CHUNK = 2000
_COLUMNS = ("title", "tags", "short_description", "description", "store__is_open", "purchases", "agent_manifest__body")


@transaction.atomic
def load(progress: Progress) -> int:
    """Index all published listings and return their number; do nothing and return 0 where the index is not empty.

    Args:
        progress: Called with the number of indexed listings and their total.
    """
    change_version()
    if SearchDocument.objects.exists():
        return 0
    published = Listing.objects.filter(status=ListingStatus.PUBLISHED).annotate(purchases=Coalesce("stats__purchases", 0))
    total = published.count()
    counts = _Counts()
    with _indexes_made_once(SearchDocument, SearchTerm, SearchDelete):
        for model in (SearchDelete, SearchTerm):
            model.objects.all().delete()
        _write(SearchDocument, _documents(published, counts, lambda done: progress(done, total)))
        _write(SearchTerm, counts.terms())
        _write(SearchDelete, counts.deletes())
    return total


class _Counts:
    """Counts for each word the documents that contain it, and those that contain it in title or tags."""

    def __init__(self) -> None:
        self._documents: Counter[str] = Counter()
        self._headings: Counter[str] = Counter()

    def add(self, columns: dict[str, Any]) -> None:
        """Count a document."""
        headings = {EVERYWHERE, *columns["title"].split(), *columns["tags"].split()} - {SEPARATOR}
        self._headings.update(headings)
        self._documents.update(headings.union(columns["summary"].split(), columns["body"].split()))

    def terms(self) -> Iterator[dict[str, Any]]:
        """Return the vocabulary's rows."""
        for key, term in enumerate(sorted(self._documents), 1):
            documents, headings = self._documents[term], self._headings[term]
            yield {
                "id": key,
                "term": term,
                "documents": documents,
                "headings": headings,
                "corrects": worth_correcting_to(documents, headings),
            }

    def deletes(self) -> Iterator[dict[str, Any]]:
        """Return the misspellings' rows."""
        for row in self.terms():
            if row["corrects"]:
                for digest in misspellings(row["term"]):
                    yield {"digest": digest, "term": row["id"]}


def _documents(published: models.QuerySet[Listing], counts: _Counts, progress: Callable[[int], None]) -> Iterator[dict[str, Any]]:
    best = published.filter(store__is_open=True).order_by(F("purchases").desc(), F("published_at").desc(), "id")
    first = best.values_list("pk", flat=True)[: TIER_SIZES[Tier.UPPER]]
    tiers = {pk: Tier.TOP if place < TIER_SIZES[Tier.TOP] else Tier.UPPER for place, pk in enumerate(first)}
    done = count(1)
    for pk, title, tags, summary, body, is_open, purchases, manifest in published.values_list("pk", *_COLUMNS).iterator(chunk_size=CHUNK):
        columns = columns_of(title, indexed_tags(tags, manifest), summary, body)
        counts.add(columns)
        tier = tiers.get(pk, Tier.REST) if is_open else Tier.HIDDEN
        yield {"listing": pk, **columns, "tier": tier.value, "popularity": purchases}
        if (number := next(done)) % CHUNK == 0:
            progress(number)


def _write(model: type[models.Model], rows: Iterator[dict[str, Any]]) -> None:
    # Each chunk is read in full before it is written, because both use the same connection.
    while chunk := list(islice(rows, CHUNK)):
        insert(model, chunk)


@contextmanager
def _indexes_made_once(*tables: type[models.Model]) -> Iterator[None]:
    """Drop the indexes and constraints and create them again at the end, all in the caller's transaction."""
    if connection.vendor != "postgresql":
        yield
        with connection.cursor() as cursor:
            for table in FULL_TEXT.values():
                cursor.execute(f"INSERT INTO {table}({table}) VALUES ('optimize')")  # noqa: S608 - our own names
        return
    names = [model._meta.db_table for model in tables]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL maintenance_work_mem = '256MB'")
        # Deferred constraint checks must run first: a table with pending ones cannot be altered.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        # Keys are created before the foreign keys that refer to them.
        cursor.execute(
            "SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE conrelid = ANY(%s::regclass[]) AND contype IN ('p', 'u', 'f') ORDER BY contype = 'f'",
            [names],
        )
        constraints = cursor.fetchall()
        for table, name, _ in reversed(constraints):
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        cursor.execute("SELECT quote_ident(indexname), indexdef FROM pg_indexes WHERE tablename = ANY(%s)", [names])
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f"DROP INDEX {name}")
        yield
        for _, definition in indexes:
            cursor.execute(definition)
        for table, name, definition in constraints:
            cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        for statement in connection.ops.sequence_reset_sql(no_style(), list(tables)):
            cursor.execute(statement)

"""Measures one catalog, inside the service's settings; prints its figures as JSON. Started by `python -m benchmarks.search`.

Times are processor time, of this process and of the database's for its connection: whatever else runs on the machine does not count.
"""

import json
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.models import Listing, SearchDocument, SearchTerm
from catalog.search import search, suggest
from tests.catalog.misspelling import judge
from tests.catalog.searching import titles as titles_found

from . import peer
from .subjects import Subject, misspelt_titles, subjects, titles

LIMIT = 20
# How often each query and each lookup is run; the best time counts.
BEST_OF = 3

Figures = dict[str, float]


def main(each: str) -> None:
    """Print the figures of the catalog that the settings name, for the given number of queries of each kind."""
    queries = int(each)
    known = titles()
    keys = list(Listing.objects.order_by("slug").values_list("pk", flat=True)[:queries])
    engines: dict[str, Callable[[Subject, str], object]] = {"search": _ask}
    if peer.AVAILABLE:
        index = peer.Index()
        engines[peer.NAME] = lambda _subject, query: index.search(query, LIMIT)
    rows = []
    for subject in subjects(known, queries):
        # A first run is not measured: each engine loads its data into memory.
        for query in subject.queries:
            _ask(subject, query)
        row: dict[str, Any] = {"name": subject.name, "hostile": subject.hostile}
        row["lookup"] = _figures([_best(partial(Listing.objects.get, pk=key)) for key in _as_many(keys, subject.queries)])
        for name, ask in engines.items():
            if name == "search" or not (subject.suggest or subject.hostile):
                row[name] = _figures([_best(partial(ask, subject, query)) for query in subject.queries])
        row["statements"] = max(_statements(subject, query) for query in subject.queries)
        rows.append(row)
    cases = misspelt_titles(known)
    quality = {"search": judge(cases, titles_found)[:2]}
    if peer.AVAILABLE:
        quality[peer.NAME] = judge(cases, lambda query: index.search(query, 10))[:2]
    sizes = {model.__name__: model.objects.count() for model in (SearchDocument, SearchTerm)}
    print(json.dumps({"rows": rows, "quality": quality, "sizes": sizes}))


def _ask(subject: Subject, query: str) -> object:
    return suggest(query) if subject.suggest else search(query, limit=LIMIT)


def _best(call: Callable[[], object]) -> float:
    times = []
    for _ in range(BEST_OF):
        began = _processor_ns()
        call()
        times.append(_processor_ns() - began)
    return min(times) / 1e6


def _processor_ns() -> int:
    """Return the processor time of this process and, if the database is on this machine, of the database for this connection."""
    accounts = _database_accounts()
    return time.process_time_ns() + (int(accounts.read_text("ascii").split()[0]) if accounts else 0)


@cache
def _database_accounts() -> Path | None:
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        accounts = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")
    return accounts if accounts.exists() else None


def _figures(times: Sequence[float]) -> Figures:
    ordered = sorted(times)
    return {f"p{percent}": ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] for percent in (50, 95, 99)}


def _as_many(keys: Sequence[Any], queries: Sequence[str]) -> list[Any]:
    return [keys[place % len(keys)] for place in range(len(queries))]


def _statements(subject: Subject, query: str) -> int:
    with CaptureQueriesContext(connection) as context:
        _ask(subject, query)
    return len(context)

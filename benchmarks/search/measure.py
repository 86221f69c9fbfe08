"""Measures one catalog, inside the service's settings; prints its figures as JSON. Started by `python -m benchmarks.search`."""

import json
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.models import Listing, SearchDelete, SearchDocument, SearchTerm
from catalog.search import search, suggest
from tests.catalog.misspelling import judge

from . import peer
from .subjects import Subject, misspelt_titles, subjects, titles

LIMIT = 20
# Each query is asked so often and its best time taken, and each look-up beside it: other work on the machine is nobody's time.
BEST_OF = 3

Figures = dict[str, float]


def main(each: str) -> None:
    """Print the figures of the catalog that the settings name, for so many queries of each kind."""
    queries = int(each)
    known = titles()
    keys = list(Listing.objects.order_by("slug").values_list("pk", flat=True)[:queries])
    engines: dict[str, Callable[[Subject, str], object]] = {"search": _ask}
    if peer.AVAILABLE:
        index = peer.Index()
        engines[peer.NAME] = lambda _subject, query: index.search(query, LIMIT)
    rows = []
    for subject in subjects(known, queries):
        # Once before it counts: every engine reads what it keeps in memory.
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
    quality = {"search": judge(cases, lambda query: [hit.title for hit in search(query, 10)])[:2]}
    if peer.AVAILABLE:
        quality[peer.NAME] = judge(cases, lambda query: index.search(query, 10))[:2]
    sizes = {model.__name__: model.objects.count() for model in (SearchDocument, SearchTerm, SearchDelete)}
    print(json.dumps({"rows": rows, "quality": quality, "sizes": sizes, "sql": _sql()}))


def _ask(subject: Subject, query: str) -> object:
    return suggest(query) if subject.suggest else search(query, LIMIT)


def _best(call: Callable[[], object]) -> float:
    times = []
    for _ in range(BEST_OF):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times) * 1000


def _figures(times: Sequence[float]) -> Figures:
    ordered = sorted(times)
    return {"p50": statistics.median(ordered), "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))], "max": ordered[-1]}


def _as_many(keys: Sequence[Any], queries: Sequence[str]) -> list[Any]:
    return [keys[place % len(keys)] for place in range(len(queries))]


def _statements(subject: Subject, query: str) -> int:
    with CaptureQueriesContext(connection) as context:
        _ask(subject, query)
    return len(context)


def _sql() -> dict[str, list[str]]:
    """Return the statements of a look-up and of a search for a common word, for pgbench."""
    common = SearchTerm.objects.order_by("-headings", "term").values_list("term", flat=True)[5]
    key = Listing.objects.values_list("pk", flat=True)[0]
    found = {}
    for name, call in (("look-up by primary key", lambda: Listing.objects.get(pk=key)), ("common word", lambda: search(common, LIMIT))):
        with CaptureQueriesContext(connection) as context:
            call()
        found[name] = [" ".join(query["sql"].split()) for query in context.captured_queries]
    return found

"""The requests that are measured, one for each row of the table."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

import requests

from .load import Load, Rate

LIMIT = 20
DEEP = 10_000
# The goals, as ratios to the yardstick.
EDGE, READY, BUILT, SEARCH = 3.0, 0.25, 0.10, 0.06
GOALS = {"browse, built: popular": BUILT, "search, built: a common word": SEARCH, "search, built: a misspelt title": SEARCH}
FACETS = "facets=category,tier,fileType,license"
# The same number with leading zeros: responses to queries of this length are not cached.
UNKEPT = f"limit={LIMIT:0400}"
# So many listings that none is requested twice while its response is cached.
DETAILS = 10_000


@dataclass(frozen=True)
class Subject:
    """A row: its name, the function that requests it, the ratio to the yardstick that is its goal, and whether nginx responds from its cache."""

    name: str
    ask: Callable[[Load], Rate]
    goal: float | None = None
    at_the_edge: bool = False


def subjects(address: str, edge: str) -> list[Subject]:
    """Return the rows for a service at one address and nginx at the other."""
    first = requests.get(f"{address}/api/v1/assets?sort=newest&limit=50", timeout=120)
    answer = first.json()
    details = list(_details(address))
    deepest = max(1, min(DEEP, answer["total"] // LIMIT))
    shown = requests.get(f"{address}{details[0]}", timeout=60).json()
    tag, title = shown["tags"][0], shown["title"]
    misspelt = title[:3] + title[4:]
    deep_cursor = requests.get(f"{address}/api/v1/assets?page={deepest - 1}", timeout=120).json()["nextCursor"]
    etag = requests.get(f"{address}/api/v1/assets", timeout=60).headers["ETag"]
    built = {
        "browse, built: popular": "/api/v1/assets",
        "browse, built: newest": "/api/v1/assets?sort=newest",
        "browse, built: price_asc": "/api/v1/assets?sort=price_asc",
        "browse, built: price_desc": "/api/v1/assets?sort=price_desc",
        "browse, built: a category, newest": "/api/v1/assets?category=motion&sort=newest",
        "browse, built: a tier, newest": "/api/v1/assets?tier=vip&sort=newest",
        f"browse, built: page {deepest}": f"/api/v1/assets?page={deepest}",
        f"browse, built: cursor at page {deepest}": f"/api/v1/assets?cursor={deep_cursor}",
        "browse, built: page 1,000,000 (beyond the end)": "/api/v1/assets?page=1000000",
        "browse, built: four facets": f"/api/v1/assets?{FACETS}",
        "browse, built: a tag": f"/api/v1/assets?tag={tag}",
        "browse, built: a tag and a price range, four facets": f"/api/v1/assets?tag={tag}&minPrice=100&maxPrice=4000&{FACETS}",
        "search, built: a common word": f"/api/v1/assets/search?q={tag}",
        "search, built: a misspelt title": f"/api/v1/assets/search?q={quote(misspelt)}",
    }
    return [
        Subject("browse, from nginx's cache", lambda load: load.same(f"{edge}/api/v1/assets"), EDGE, at_the_edge=True),
        Subject("browse, cached", lambda load: load.same(f"{address}/api/v1/assets"), READY),
        Subject("browse, 304", lambda load: load.same(f"{address}/api/v1/assets", etag=etag), READY),
        Subject("detail, cached", lambda load: load.same(address + details[0]), READY),
        Subject("detail, built", lambda load: load.in_turn(address, details), BUILT),
        *(
            Subject(name, partial(Load.same, address=f"{address}{path}{'&' if '?' in path else '?'}{UNKEPT}"), GOALS.get(name))
            for name, path in built.items()
        ),
    ]


def _details(address: str) -> Iterator[str]:
    """Yield the paths of listings."""
    path = f"{address}/api/v1/assets?sort=newest&limit=50"
    answer = requests.get(path, timeout=120).json()
    for _ in range(DETAILS // 50):
        yield from (f"/api/v1/assets/{item['id']}" for item in answer["items"])
        if answer["nextCursor"] is None:
            return
        answer = requests.get(f"{path}&cursor={answer['nextCursor']}", timeout=120).json()

"""The requests that are measured, one for each row of the table."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import requests

from .load import Load, Rate

LIMIT = 20
DEEP = 10_000
# Parts of what the yardstick does that are to be reached.
EDGE, READY, BUILT = 3.0, 0.25, 0.10
FACETS = "facets=category,tier,fileType,license"


@dataclass(frozen=True)
class Subject:
    """A row: what it is called, how it is asked for, and the ratio to the yardstick that it should reach, and whether nginx answers it from its cache."""

    name: str
    ask: Callable[[Load], Rate]
    goal: float | None = None
    at_the_edge: bool = False


def subjects(address: str, edge: str) -> list[Subject]:
    """Return the rows for a service that runs at one address, with nginx at the other."""
    first = requests.get(f"{address}/api/v1/assets?sort=newest&limit=50", timeout=120)
    answer = first.json()
    details = [f"/api/v1/assets/{item['id']}" for item in answer["items"]]
    deepest = max(1, min(DEEP, answer["total"] // LIMIT))
    tag = requests.get(f"{address}{details[0]}", timeout=60).json()["tags"][0]
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
        "categories, built": "/api/v1/categories",
    }
    # What a filter keeps is counted once until the catalog changes; these are so many filters that each is asked for once in a run.
    narrowed = [f"/api/v1/assets?tag={tag}&minPrice={100 + cents / 100:.2f}&maxPrice=4000&{FACETS}" for cents in range(5_000)]
    return [
        Subject("browse, from nginx's cache", lambda load: load.same(f"{edge}/api/v1/assets"), EDGE, at_the_edge=True),
        Subject("browse, cached", lambda load: load.same(f"{address}/api/v1/assets"), READY),
        Subject("browse, 304", lambda load: load.same(f"{address}/api/v1/assets", etag=etag), READY),
        Subject("detail, cached", lambda load: load.same(address + details[0]), READY),
        Subject("detail, built", lambda load: load.new(address, details), BUILT),
        *(
            Subject(name, partial(Load.new, address=address, paths=[path]), BUILT if name.endswith("popular") else None)
            for name, path in built.items()
        ),
        Subject("browse, built: a tag and another price range each time, four facets", lambda load: load.new(address, narrowed)),
    ]

"""No request costs more than its bound: a few shapes here, all of them by `python -m tests.attack.costs`."""

import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from marketplace.core import bounds
from marketplace.web.shop.description import description_html
from tests.admin import every_page
from tests.contract.table import OPERATIONS
from tests.web.world import World, crowd, make_world, stock

from .bare import seconds_of_a_view
from .costs import FOLDER, MOST_OF_NOBODY, SHAPES, SIZE, Cost, Target, costliest
from .shapes import TEXTS, filled
from .targets import api_targets, filter_targets, fixed_paths, oauth_targets, page_targets, tool_targets

pytestmark = [pytest.mark.django_db, pytest.mark.full, pytest.mark.usefixtures("unlimited", "jobs_wait", "media")]

EVERYTHING = FOLDER in os.environ
# So many shapes of each kind, unless all are asked for.
ASKED = int(os.environ.get(SHAPES, "0")) or None
FEW = ASKED if EVERYTHING else 4
FEW_FOR_PAGES = ASKED if EVERYTHING else 2
FEW_OF_FILTERS = 9
# How many times its bound a request may cost in the suite, which runs on any machine.
OTHER_MACHINES = 3
FEW_OF_ROWS = min(24, ASKED or 24)
# On sale where filters are tried: SQLite gathers what each keeps, and that takes longer the more there are.
LISTINGS = 2_000
# What is slow to render, or long once it is rendered.
MARKDOWN = {
    "a wide table": "|" + "a|" * 1_000 + "\n|" + "-|" * 1_000 + "\n" + "|\n" * 30_000,
    "references": "[a]: /" + "x" * 30_000 + "\n\n" + "[a]" * 20_000,
    "quotes": (">" * 20 + "\n\n"),
    "brackets": "[",
    "lists": "- a\n" + "  - b\n",
    "headings": "# a\n",
    "autolinks": "<a:b>",
}
# /admin/app/model/
LIST_SLASHES = 4


@pytest.fixture(autouse=True)
def unhindered(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure what a call costs that no rate limit refuses."""
    settings.ACCOUNT_RATE_LIMITS = False
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="module")
def unit() -> float:
    return seconds_of_a_view()


@pytest.fixture
def world() -> World:
    """A shop, with a crowd where everything is sent."""
    made = make_world()
    if EVERYTHING:
        crowd(made)
    return made


def judge(name: str, targets: Iterable[Target], unit: float) -> None:
    """Measure each address once, and keep what it costs for the table; none may be excessive.

    In the suite a request may cost three times its bound: a bare view and a query of the database differ by that much between machines, and a shape
    whose cost grows with the square of its size exceeds it all the same.
    """
    costs: dict[tuple[str, bool], Cost] = {}
    for target in targets:
        if (target.name, target.known) not in costs:
            costs[target.name, target.known] = costliest(target, unit)
    if EVERYTHING:
        part = Path(os.environ[FOLDER], f"{name}.json")
        part.write_text(json.dumps({"unit": unit, "costs": [asdict(cost) for cost in costs.values()]}), "utf-8")
    assert [cost for cost in costs.values() if cost.excessive(1 if EVERYTHING else OTHER_MACHINES)] == []


def operation_targets() -> Iterator[Target]:
    """Yield each operation in a scene of its own, which is gone when the next one comes."""
    for operation in OPERATIONS:
        with transaction.atomic():
            yield from api_targets(operation, SIZE, FEW)
            transaction.set_rollback(True)


@pytest.mark.parametrize("what", [*TEXTS, *MARKDOWN])
def test_no_listing_description_takes_longer_to_render_than_its_limit(what: str, unit: float) -> None:
    text = filled((TEXTS | MARKDOWN)[what], bounds.LONG_TEXT_BYTES)[: bounds.LONG_TEXT_BYTES]
    costs = []
    for _ in range(3):
        description_html.cache_clear()
        start = time.process_time()
        html = description_html(text)
        costs.append((time.process_time() - start) / unit)
    assert min(costs) < MOST_OF_NOBODY * OTHER_MACHINES
    assert len(html) < 20 * bounds.LONG_TEXT_BYTES


def test_no_call_of_an_api_operation_costs_more_than_its_limit(unit: float) -> None:
    judge("operations", operation_targets(), unit)


def test_no_call_of_a_tool_costs_more_than_its_limit(unit: float, world: World) -> None:
    judge("tools", tool_targets(world, SIZE, FEW), unit)


def test_no_call_of_an_oauth_endpoint_costs_more_than_its_limit(unit: float, world: World) -> None:
    judge("oauth", oauth_targets(world, SIZE, FEW), unit)


def test_many_filters_together_cost_no_more_than_their_limit(unit: float, world: World) -> None:
    stock(LISTINGS)
    judge("filters", filter_targets(world, ASKED if EVERYTHING else FEW_OF_FILTERS), unit)


def test_no_request_of_a_page_costs_more_than_its_limit(unit: float, world: World) -> None:
    pages = [(who, path) for who, path in world.pages() if who == "visitor" or (EVERYTHING and who != "admin")]
    # Where both may look, the member, of whom there is more to show.
    pages.sort(key=lambda page: page[0] == "newcomer")
    pages += [("visitor", path) for path in fixed_paths()]
    judge("pages", page_targets(world, pages, SIZE, FEW_FOR_PAGES), unit)


def test_no_request_of_an_admin_page_costs_more_than_its_limit(unit: float, world: World) -> None:
    if EVERYTHING:
        every_page.enrich()
    world.people["staff"] = every_page.keeper(superuser=False)
    paths = list(every_page.paths())
    # The address of a row's page tells which row, and little else.
    lists = [("staff", path) for path in paths if "?" in path or path.count("/") == LIST_SLASHES]
    rows = [("staff", path) for path in paths if ("staff", path) not in lists]
    if not EVERYTHING:
        lists, rows = lists[:6], []
    targets = chain(page_targets(world, lists, SIZE, FEW_FOR_PAGES), page_targets(world, rows, SIZE, FEW_OF_ROWS))
    judge("admin", targets, unit)

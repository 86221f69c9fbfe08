"""No request costs more than its bound: a few shapes here, all of them by `python -m tests.attack.costs`."""

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from tests.admin import every_page
from tests.contract.table import OPERATIONS
from tests.eager import EagerBackend
from tests.pages.world import crowd, make_world

from .bare import seconds_of_a_view
from .costs import SIZE, TABLE, Cost, costliest, table_of
from .targets import api_targets, oauth_targets, page_targets, tool_targets

pytestmark = [pytest.mark.django_db, pytest.mark.engineless]

EVERYTHING = os.environ.get(TABLE)
# So many shapes of each kind, unless all are asked for.
FEW = None if EVERYTHING else 16
FEW_FOR_PAGES = None if EVERYTHING else 2


@pytest.fixture(autouse=True)
def unhindered(settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Measure what a call costs that no rate limit refuses."""
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, 10**9)
    settings.ACCOUNT_RATE_LIMITS = False
    settings.MEDIA_ROOT = tmp_path / "media"
    monkeypatch.setattr(EagerBackend, "on", False)
    monkeypatch.setattr("os.fsync", lambda _: None)


def attacked(unit: float) -> Iterator[Cost]:
    """Yield the costliest request to everything there is."""
    world = make_world()
    if EVERYTHING:
        every_page.enrich()
        crowd(world)
    world.people |= {"staff": every_page.keeper(superuser=False)}
    pages = world.pages() if EVERYTHING else [page for page in world.pages() if page[0] == "visitor"]
    pages += [("staff", path) for path in every_page.paths()] if EVERYTHING else []
    for targets in (tool_targets(world, SIZE, FEW), oauth_targets(world, SIZE, FEW), page_targets(world, pages, SIZE, FEW_FOR_PAGES)):
        yield from costliest(targets, unit)


def attacked_operations(unit: float) -> Iterator[Cost]:
    """Yield the costliest request to every operation."""
    for operation in OPERATIONS:
        with transaction.atomic():
            yield from list(costliest(api_targets(operation, SIZE, FEW), unit))
            transaction.set_rollback(True)


def test_no_request_costs_more_than_its_bound() -> None:
    unit = seconds_of_a_view()
    costs = list(chain(attacked_operations(unit), attacked(unit)))
    if table := os.environ.get("COSTS_DEBUG") or EVERYTHING:
        Path(table).write_text(table_of(costs, unit), "utf-8")
    assert [cost for cost in costs if cost.excessive] == []

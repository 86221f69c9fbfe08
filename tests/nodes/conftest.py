"""Nodes for all tests of this package; skipped where their servers cannot be had."""

from collections.abc import Iterator
from typing import Any

import pytest

from ..servers.process import MANY_CALLS, call_in
from .deployment import Deployment, deployed


@pytest.fixture(scope="package")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Two nodes and a worker, behind gates."""
    with deployed(tmp_path_factory.mktemp("nodes"), gated=True, given=MANY_CALLS | {"SHARED_CACHE_SECONDS": "8"}) as running:
        yield running


@pytest.fixture(scope="package")
def shops(deployment: Deployment) -> dict[str, dict[str, Any]]:
    """What is in the shops of the nodes, by the name of the buyer, so that one test takes nothing away from another."""
    made: dict[str, dict[str, Any]] = call_in(deployment.env, "tests.nodes.shop.make_shops", "40", "reader", "victim", "caller")
    return made

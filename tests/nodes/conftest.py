"""Nodes for all tests of this package; skipped where their servers cannot be had."""

from collections.abc import Iterator

import pytest

from ..outages import GIVEN
from .deployment import Deployment, deployed


@pytest.fixture(scope="package")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Two nodes and a worker, behind gates."""
    with deployed(tmp_path_factory.mktemp("nodes"), gated=True, given=GIVEN | {"SHARED_CACHE_SECONDS": "8"}) as running:
        yield running

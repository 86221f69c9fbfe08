"""Nodes for the tests of a module; skipped where their servers cannot be had."""

from collections.abc import Iterator

import pytest

from .deployment import Deployment, deployed


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Two nodes and a worker."""
    with deployed(tmp_path_factory.mktemp("nodes")) as running:
        yield running

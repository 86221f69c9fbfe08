"""Stores to try everything against: a folder, and a real S3 server where one can be started."""

from pathlib import Path

import pytest

from marketplace.core.objects.base import ObjectStore
from marketplace.core.objects.local import LocalStore


@pytest.fixture
def local_store(tmp_path: Path) -> LocalStore:
    """An empty store in a folder of its own."""
    return LocalStore(tmp_path / "media")


@pytest.fixture(params=["local", pytest.param("s3", marks=pytest.mark.s3)])
def store(request: pytest.FixtureRequest) -> ObjectStore:
    """Each kind of store in turn: what one does the other must do."""
    found: ObjectStore = request.getfixturevalue(f"{request.param}_store")
    return found

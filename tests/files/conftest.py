"""Stores to try everything against: a folder, and a real S3 server where one can be started."""

from pathlib import Path
from typing import Any

import pytest
from storages.backends.s3 import S3Storage

from marketplace.core.objects.base import ObjectStore
from marketplace.core.objects.local import LocalStore
from marketplace.core.objects.s3 import S3Store
from tests.servers import s3


@pytest.fixture
def local_store(tmp_path: Path) -> LocalStore:
    """An empty store in a folder of its own."""
    return LocalStore(tmp_path / "media")


@pytest.fixture
def s3_store(s3_server: s3.S3Server, s3_storage: S3Storage, settings: Any) -> S3Store:
    """The store that the settings of production would give; the settings do give it."""
    settings.STORAGES = settings.STORAGES | {
        "default": {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": s3_server.storage_options()}
    }
    return S3Store(s3_storage)


@pytest.fixture(params=["local", pytest.param("s3", marks=pytest.mark.s3)])
def store(request: pytest.FixtureRequest) -> ObjectStore:
    """Each kind of store in turn: what one does the other must do."""
    found: ObjectStore = request.getfixturevalue(f"{request.param}_store")
    return found

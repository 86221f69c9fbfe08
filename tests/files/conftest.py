"""Fixtures of both stores: a folder, and a real S3 server if one can be started."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages

from marketplace.storage.base import ObjectStorage
from marketplace.storage.local import LocalStorage
from marketplace.storage.s3 import S3Storage
from tests.servers import s3
from vendors.sandbox import runner

from .helpers import without_a_child


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse files here, for what the parsers say; the child and its limits are tried by `test_hostile_files.py` and by each upload."""
    monkeypatch.setattr(runner, "_exchange", without_a_child)


@pytest.fixture
def local_store(tmp_path: Path) -> LocalStorage:
    """An empty store in a folder of its own."""
    return LocalStorage(tmp_path / "media")


@pytest.fixture
def s3_store(s3_server: s3.S3Server, s3_storage: S3Storage, settings: Any) -> S3Storage:
    """The store that the settings of production would give; the settings do give it."""
    settings.STORAGES = settings.STORAGES | {
        "default": {"BACKEND": "marketplace.storage.s3.S3Storage", "OPTIONS": s3_server.storage_options()}
    }
    found = storages["default"]
    assert isinstance(found, S3Storage)
    return found


@pytest.fixture(params=["local", pytest.param("s3", marks=pytest.mark.s3)])
def store(request: pytest.FixtureRequest) -> ObjectStorage:
    """Each kind of store in turn: what one does the other must do."""
    found: ObjectStorage = request.getfixturevalue(f"{request.param}_store")
    return found

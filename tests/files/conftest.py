"""Stores to try everything against: a folder, and a real S3 server where one can be started."""

from collections.abc import Iterator
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


@pytest.fixture(scope="session")
def s3_server() -> Iterator[s3.S3Server]:
    """A running S3 server with an empty bucket; what needs it is skipped where it cannot be had."""
    try:
        with s3.running() as server:
            S3Storage(**server.storage_options()).connection.meta.client.create_bucket(Bucket=server.bucket)
            yield server
    except s3.Unavailable as reason:
        pytest.skip(f"no S3 server: {reason}")


@pytest.fixture
def s3_store(s3_server: s3.S3Server, settings: Any) -> S3Store:
    """The store that the settings of production would give."""
    settings.STORAGES = settings.STORAGES | {
        "default": {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": s3_server.storage_options()}
    }
    return S3Store(S3Storage(**s3_server.storage_options()))


@pytest.fixture(params=["local", pytest.param("s3", marks=pytest.mark.s3)])
def store(request: pytest.FixtureRequest) -> ObjectStore:
    """Each kind of store in turn: what one does the other must do."""
    found: ObjectStore = request.getfixturevalue(f"{request.param}_store")
    return found

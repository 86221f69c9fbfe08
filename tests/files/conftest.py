"""Stores to try everything against: a folder, and a real S3 server where one can be started."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
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
    """A running S3 server; what needs it is skipped where it cannot be had."""
    try:
        with s3.running() as server:
            yield server
    except s3.Unavailable as reason:
        pytest.skip(f"no S3 server: {reason}")


@pytest.fixture(scope="session")
def s3_storage(s3_server: s3.S3Server) -> S3Storage:
    """One connection for all: boto takes a third of a second to make one."""
    storage = S3Storage(**s3_server.storage_options())
    try:
        storage.connection.meta.client.create_bucket(Bucket=s3_server.bucket)
    except ClientError as error:
        # It keeps its records in extended attributes, which some temporary folders do not have.
        pytest.skip(f"the S3 server cannot store here: {error}")
    return storage


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

"""A scene for each operation, and callers in it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from .scenes import SCENES, Scene
from .shapes import Auth, Operation


@pytest.fixture(autouse=True)
def _own_store(media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a store of its own, which need not outlive a power failure."""
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture
def scene(request: pytest.FixtureRequest, db: None) -> Scene:
    """The scene of the operation that the test is about."""
    operation: Operation = request.getfixturevalue("operation")
    return SCENES[operation.scene]()


@pytest.fixture
def caller(request: pytest.FixtureRequest, bearer_client: Callable[..., APIClient], key_client: Callable[..., APIClient]) -> Any:
    """Someone who may call the operation, with its scope and nothing more."""
    operation: Operation = request.getfixturevalue("operation")
    scene: Scene = request.getfixturevalue("scene")
    if operation.auth is Auth.NONE:
        return APIClient()
    make = bearer_client if operation.auth.bearer else partial(key_client, app=scene.app)
    return make(scene.user, scopes=operation.scopes)

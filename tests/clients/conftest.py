"""The OpenAPI document as a file, the programs that read it, and a shop with something to buy."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from developers.services.credentials import issue_api_key
from tests.contract.calls import document
from tests.contract.scenes import for_sale
from tests.factories import AppFactory
from tests.waiting import PATIENCE_SECONDS

from . import tools

Runs = Callable[..., str]


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """Programs of npm; what needs them is skipped where they cannot be had."""
    return tools.install()


@pytest.fixture
def openapi(tmp_path: Path) -> Path:
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(document()), encoding="utf-8")
    return path


@pytest.fixture
def run(tmp_path: Path) -> Runs:
    """Run a program in a folder of the test's; it must end with 0. Its output is returned."""

    def run(*command: str | Path) -> str:
        words = [sys.executable if word == "python" else str(word) for word in command]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


@pytest.fixture
def shop(site: str, media: Path) -> tuple[str, str, str]:
    """A server with one asset for sale: its address, an API key of a buyer with money, the asset's id."""
    scene = for_sale()
    _, key = issue_api_key(app=AppFactory(user=scene.user), name="generated", actor=scene.user)
    return site, key, scene.names["id"]

"""The OpenAPI document as the linters of others see it; what they may not say is in their rulesets, with the reason."""

from pathlib import Path

import pytest

from .conftest import Runs
from .tools import HERE

pytestmark = pytest.mark.full


def test_spectral_finds_nothing(node_modules: Path, openapi: Path, run: Runs) -> None:
    run(node_modules / ".bin" / "spectral", "lint", "--ruleset", HERE / "spectral.yaml", "--fail-severity", "hint", openapi)


def test_redocly_finds_nothing(node_modules: Path, openapi: Path, run: Runs) -> None:
    run(node_modules / ".bin" / "redocly", "lint", "--config", HERE / "redocly.yaml", openapi)

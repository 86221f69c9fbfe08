"""Clients that others generate from the document are well typed, and go from browsing to the certificate."""

import shutil
from pathlib import Path

import pytest

from .conftest import Runs
from .tools import HERE

pytestmark = pytest.mark.full
Shop = tuple[str, str, str]


def test_generated_python_client_is_well_typed_and_buys(shop: Shop, openapi: Path, run: Runs, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("package_name_override: marketplace_client\nproject_name_override: client\npost_hooks: []\n")
    words = ("generate", "--path", openapi, "--config", tmp_path / "config.yaml", "--meta", "none", "--output-path", "marketplace_client")
    run("python", "-m", "openapi_python_client", *words)
    shutil.copy(HERE / "journey.py", tmp_path / "journey.py")
    run("python", "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", "/dev/null", "journey.py", "marketplace_client")
    run("python", "journey.py", *shop)


def test_generated_typescript_types_compile_and_buy(shop: Shop, node_modules: Path, openapi: Path, run: Runs, tmp_path: Path) -> None:
    for name in ("journey.ts", "tsconfig.json", "package.json"):
        shutil.copy(HERE / name, tmp_path / name)
    (tmp_path / "node_modules").symlink_to(node_modules)
    run(node_modules / ".bin" / "openapi-typescript", openapi, "--output", "api.d.ts")
    run(node_modules / ".bin" / "tsc")
    assert "bought" in run("node", "built/journey.js", *shop)

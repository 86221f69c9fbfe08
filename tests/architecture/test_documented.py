"""What operators can set and run is in the documentation, by its name."""

import ast
import re

import pytest

from .source import ROOT
from .test_apps import COMMANDS

DOCS = ROOT / "marketplace" / "pages" / "docs"
# Read by their names, but set by us or by Django: `env_url` parts, and what only the tests use.
NOT_FOR_OPERATORS = {"NAME", "OPTIONS", "EMAIL_USE_SSL", "EMAIL_USE_TLS", "TEST_DATABASE_URL", "TEST_REDIS_URL"}


def variables() -> set[str]:
    """Return what the settings read: names in capitals that a call takes first."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "marketplace" / "settings").glob("*.py"))
    calls = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args)
    first = (call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant))
    return {name for name in first if isinstance(name, str) and re.fullmatch(r"[A-Z][A-Z0-9_]{3,}", name)} - NOT_FOR_OPERATORS


def test_every_variable_of_the_settings_is_documented() -> None:
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    assert len(variables()) > 40
    assert [name for name in sorted(variables()) if f"`{name}`" not in page] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *DOCS.glob("*.md")])
    assert re.search(rf"\b{command}\b", pages)

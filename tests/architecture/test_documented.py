"""What operators can set and run is in the documentation, by its name."""

import ast
import re

import pytest
from django.conf import settings

from .source import COMMANDS, ROOT

DOCS = ROOT / "marketplace" / "pages" / "docs"
FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
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


def test_commands_that_the_worker_runs_are_marked() -> None:
    lines = [line for line in (DOCS / "commands.md").read_text(encoding="utf-8").splitlines() if ", *worker* |" in line]
    marked = {name for line in lines for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert marked == {command.split()[0] for command, _, _ in settings.SCHEDULE}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_of_a_file_lead_to_files(name: str) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", (ROOT / name).read_text(encoding="utf-8"))
    assert [target for target in targets if "://" not in target and not (ROOT / target).exists()] == []


def test_figures_of_the_readme_are_those_of_the_reports() -> None:
    rows = re.findall(
        r"^\|.*\|(.*)\|(.*)\| \[\w+\]\((benchmarks/\S+)\) \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(rows) > 4
    for result, compared, report in rows:
        known = set(FIGURE.findall((ROOT / report).read_text(encoding="utf-8")))
        assert [figure for figure in FIGURE.findall(result + compared) if figure not in known] == [], report

"""What operators can set and run is in the documentation, by its name."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from django.conf import settings

from marketplace.core.transitions import TransitionTable
from tests import ROOT
from tests.audit_entries import documented
from tests.checks import variables

from .source import COMMANDS, PACKAGES, modules

DOCS = ROOT / "marketplace" / "web" / "docs"
FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
# What production requires, what may be beside it, and what a measurement does without.
PERMITTED = {"PostgreSQL", "Redis", "nginx", "S3", "no cache"}


def test_every_variable_of_the_settings_is_documented() -> None:
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    assert len(variables()) > 40
    assert [name for name in sorted(variables()) if f"`{name}`" not in page] == []


def test_every_command_is_documented() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *DOCS.glob("*.md")])
    assert sorted(set(COMMANDS) - set(re.findall(r"\w+", pages))) == []


def test_commands_that_the_worker_runs_are_marked() -> None:
    lines = [line for line in (DOCS / "commands.md").read_text(encoding="utf-8").splitlines() if ", *worker* |" in line]
    marked = {name for line in lines for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert marked == {command.split()[0] for command, _, _ in settings.SCHEDULE}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_of_a_file_lead_to_files(name: str) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", (ROOT / name).read_text(encoding="utf-8"))
    assert targets
    assert [target for target in targets if "://" not in target and not (ROOT / target).exists()] == []


def quoted_figures(pages: Iterable[Path]) -> Iterator[tuple[str, list[str]]]:
    """Yield each report that tables of pages quote, with the figures."""
    for page in pages:
        rows = re.findall(r"^\|.*\|(.*)\|(.*)\| \[\w+\]\((?:\S*/)?(benchmarks/\S+)\) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
        for result, compared, report in rows:
            yield report, FIGURE.findall(result + compared)


def parts_by_settings(report: str) -> Iterator[tuple[frozenset[str], str]]:
    """Yield the parts of a report, each from a line `Settings: PostgreSQL, Redis.` to the next, with what the line names."""
    parts = re.split(r"^Settings: (.+)\.$", report, flags=re.MULTILINE)
    for settings_line, text in zip(parts[1::2], parts[2::2], strict=True):
        yield frozenset(settings_line.split(", ")), text


def permitted_figures(report: str) -> set[str]:
    """Return the figures of a report that were measured on settings that production permits."""
    return {
        figure
        for named, text in parts_by_settings(report)
        if "PostgreSQL" in named and named <= PERMITTED
        for figure in FIGURE.findall(text)
    }


def test_quoted_figures_are_in_their_report_and_measured_with_settings_of_production() -> None:
    quoted = list(quoted_figures([ROOT / "README.md", *DOCS.glob("*.md")]))
    assert len(quoted) > 3
    for report, figures in quoted:
        permitted = permitted_figures((ROOT / report).read_text(encoding="utf-8"))
        assert [figure for figure in figures if figure not in permitted] == [], report


def test_functions_and_classes_that_the_tour_names_exist() -> None:
    named = re.findall(r"`([\w/]+\.py):(\w+)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    missing = [f"{path}:{name}" for path, name in named if name not in _top_level(ROOT / path)]
    assert (len(named) > 30, missing) == (True, [])


def _top_level(path: Path) -> set[str]:
    if not path.exists():
        return set()
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Assign(targets=targets):
                names.update(target.id for target in targets if isinstance(target, ast.Name))
    return names


def test_audit_log_documents_no_action_that_the_code_does_not_record() -> None:
    texts = {node.value for module in modules() for node in ast.walk(module.tree) if isinstance(node, ast.Constant)}
    values = [value for module in list(sys.modules.values()) if module.__name__.startswith(PACKAGES) for value in vars(module).values()]
    tables = [value for value in values if isinstance(value, TransitionTable)]
    recorded = texts | {f"{table.noun}.{verb}" for table in tables for verb in table.edges}
    # Parts of f-strings, and the verbs of `save_and_record`.
    parts = texts | {".create", ".update"}
    halves = {action: action.split(".") for action in documented() if action not in recorded}
    assert [action for action, (noun, verb) in sorted(halves.items()) if not {f"{noun}.", f".{verb}"} & parts] == []

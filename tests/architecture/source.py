"""The product's source, parsed."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from django.core.management import get_commands

from tests import ROOT

PACKAGES = ("marketplace", "developers", "catalog", "vendors", "library", "wallet")
COMMANDS = sorted(name for name, app in get_commands().items() if app.split(".")[0] in PACKAGES)


class Module(NamedTuple):
    """One module.

    Args:
        path: Below the root.
        tree: What Python reads in it.
        lines: How long it is.
    """

    path: Path
    tree: ast.Module
    lines: int

    @property
    def package(self) -> str:
        """The app it belongs to."""
        return self.path.parts[0]

    @property
    def of_services(self) -> bool:
        """Tell whether it is one of an app's services."""
        return "services" in self.path.with_suffix("").parts


def modules() -> Iterator[Module]:
    """Yield every module of the product, without migrations. All of their trees at once would take 107 MB."""
    return (_read(path) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")) if "migrations" not in path.parts)


def _read(path: Path) -> Module:
    text = path.read_text()
    return Module(path.relative_to(ROOT), ast.parse(text), text.count("\n"))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield each function and method."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))

"""The product's source, parsed, and its addresses."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.core.management import get_commands
from django.urls import URLPattern, URLResolver

from tests import ROOT

PACKAGES = ("marketplace", "developers", "catalog", "vendors", "library", "wallet")
COMMANDS = sorted(name for name, app in get_commands().items() if app.split(".")[0] in PACKAGES)


@dataclass(frozen=True)
class Module:
    """One module."""

    path: Path
    text: str

    @property
    def tree(self) -> ast.Module:
        """What Python reads in it; all trees at once would take 107 MB."""
        return ast.parse(self.text)

    @property
    def package(self) -> str:
        """The app it belongs to."""
        return self.path.parts[0]

    @property
    def of_services(self) -> bool:
        """Tell whether it is one of an app's services."""
        return "services" in self.path.with_suffix("").parts


@cache
def modules() -> tuple[Module, ...]:
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")) if "migrations" not in path.parts)
    return tuple(Module(path.relative_to(ROOT), path.read_text(encoding="utf-8")) for path in paths)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def patterns(resolver: URLResolver, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in resolver.url_patterns:
        path = f"{prefix}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from patterns(pattern, path)
        else:
            yield path, pattern

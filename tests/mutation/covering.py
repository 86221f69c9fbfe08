"""Which tests cover a line, as coverage.py recorded it."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path

from coverage import CoverageData


class Covering:
    """The tests of each line of the source in the current folder.

    Args:
        data: What coverage.py wrote, with a context for each test.
        seconds: How long each test took.
        failed: Tests that failed, which prove nothing.
    """

    def __init__(self, data: Path, seconds: dict[str, float], failed: set[str]) -> None:
        self._data = CoverageData(str(data))
        self._data.read()
        self._seconds, self._failed = seconds, failed
        self._of_file = cache(self._read)
        self._trees = {path: ast.parse(Path(path).read_text("utf-8")) for path in sorted(self._data.measured_files())}

    def tests(self, path: str, line: int, seconds: float) -> list[str]:
        """Return the tests of a line, at most so many that they take `seconds`: those that know its file best, of each test function one first."""
        found = self._of(path, line)
        lines = self._of_file(path)
        known = {test: sum(test in tests for tests in lines.values()) for test in found}
        ranked = sorted(found, key=lambda test: (-known[test], self._took(test), test))
        turns: dict[str, int] = defaultdict(int)
        places = {}
        for place, test in enumerate(ranked):
            function = test.partition("[")[0]
            places[test] = (turns[function], place)
            turns[function] += 1
        ranked.sort(key=places.__getitem__)
        total = 0.0

        def fits(test: str) -> bool:
            nonlocal total
            total += self._took(test)
            return total <= seconds

        return list(takewhile(fits, ranked)) or ranked[:1]

    def _took(self, test: str) -> float:
        return self._seconds.get(test, 1.0)

    def _of(self, path: str, line: int) -> set[str]:
        """Return the tests of the line, or of the statement around it that has any, or, since a module is imported once, of its users."""
        if tests := self._of_file(path).get(line):
            return tests
        around = [
            node for node in ast.walk(self._trees[path]) if isinstance(node, ast.stmt) and _first(node) <= line <= (node.end_lineno or 0)
        ]
        for node in sorted(around, key=lambda node: (node.end_lineno or 0) - _first(node)):
            if tests := self._within(path, node):
                return tests
        return self._of_users({name for node in around[:1] for name in _bound(node)}) if around else set()

    def _of_users(self, names: set[str]) -> set[str]:
        """Return the tests of functions that mention one of the names, or something made of them."""
        known: set[str] = set()
        while names - known:
            tests: set[str] = set()
            made: set[str] = set()
            for path, tree in self._trees.items():
                for statement in tree.body:
                    if not names & _mentioned(statement) - _bound(statement):
                        continue
                    functions = [node for node in ast.walk(statement) if isinstance(node, ast.FunctionDef) and names & _mentioned(node)]
                    tests = tests.union(*(self._within(path, node) for node in functions))
                    made |= _bound(statement)
            if tests:
                return tests
            known |= names
            names = made
        return set()

    def _within(self, path: str, node: ast.stmt) -> set[str]:
        lines = self._of_file(path)
        return set().union(*(lines.get(line, set()) for line in range(_first(node), (node.end_lineno or 0) + 1)))

    def _read(self, path: str) -> dict[int, set[str]]:
        contexts = self._data.contexts_by_lineno(path)
        lines = {line: {name.rpartition("|")[0] for name in names} - {""} - self._failed for line, names in contexts.items()}
        return {line: tests for line, tests in lines.items() if tests}


@cache
def annotations(path: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return where types are, which nothing runs: from where to where."""
    nodes = [node for node in ast.walk(ast.parse(Path(path).read_text("utf-8"))) if not isinstance(node, ast.Constant)]
    types = [each for node in nodes for each in (getattr(node, "annotation", None), getattr(node, "returns", None)) if each is not None]
    types += [node for node in nodes if isinstance(node, ast.If) and "TYPE_CHECKING" in _mentioned(node.test)]
    return [((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)) for node in types]


def _first(node: ast.stmt) -> int:
    """Return the line where a statement begins, with its decorators."""
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])


@cache
def _mentioned(node: ast.AST) -> frozenset[str]:
    return frozenset(_names(node))


def _names(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module gives."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}

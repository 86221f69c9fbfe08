"""Which tests cover a line, as coverage.py recorded it."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path

from coverage import CoverageData


class Covering:
    """The tests of each line of the source in the current folder."""

    def __init__(self, data: Path, seconds: dict[str, float]) -> None:
        self._data = CoverageData(str(data))
        self._data.read()
        self._seconds = seconds
        self._lines = cache(self._read)
        self._trees = {path: ast.parse(Path(path).read_text("utf-8")) for path in sorted(self._data.measured_files())}

    def tests(self, path: str, line: int, seconds: float) -> list[str]:
        """Return as many tests of a line as fit in the time: first, one of each, those that soon run what few others run of its function."""
        functions = [_lines(node) for node in ast.walk(self._trees[path]) if isinstance(node, ast.FunctionDef) and line in _lines(node)]
        rare: dict[str, float] = defaultdict(lambda: 0.001)
        for near in min(functions, key=len, default=self._lines(path)):
            for test in self._lines(path).get(near, set()):
                rare[test] += 1 / len(self._lines(path)[near])
        rank = {test: (self._seconds[test] / rare[test], test) for test in self._of_line(path, line)}
        turns: dict[str, list[str]] = {}
        for test in sorted(rank, key=rank.__getitem__):
            turns.setdefault(test.partition("[")[0], []).append(test)
        ranked = sorted(rank, key=lambda test: (turns[test.partition("[")[0]].index(test), rank[test]))
        fitting = [test for test, total in zip(ranked, accumulate(map(self._seconds.__getitem__, ranked)), strict=True) if total <= seconds]
        return fitting or ranked[:1]

    def _of_line(self, path: str, line: int) -> set[str]:
        """Return the tests of the smallest statement around the line that has any; of what only an import runs, those of its users."""
        around = [node for node in ast.walk(self._trees[path]) if isinstance(node, ast.stmt) and line in _lines(node)]
        found = (self._within(path, node) for node in sorted(around, key=lambda node: len(_lines(node))))
        return self._lines(path).get(line) or next(filter(None, found), set()) or self._of_users(_bound(around[0]))

    def _of_users(self, names: set[str], steps: int = 3) -> set[str]:
        """Return the tests of functions that mention one of the names, or, some steps on, something made of them."""
        tests: set[str] = set()
        made: set[str] = set()
        for path, tree in self._trees.items():
            for node in (node for node in tree.body if names & (_mentioned(node) - _bound(node))):
                functions = (each for each in ast.walk(node) if isinstance(each, ast.FunctionDef) and names & _mentioned(each))
                tests = tests.union(*(self._within(path, function) for function in functions))
                made |= _bound(node)
        return tests or (self._of_users(made, steps - 1) if steps and made else tests)

    def _within(self, path: str, node: ast.stmt) -> set[str]:
        return set().union(*(self._lines(path).get(line, set()) for line in _lines(node)))

    def _read(self, path: str) -> dict[int, set[str]]:
        # What an import runs counts for the one test that happened to import it.
        functions = (node for node in ast.walk(self._trees[path]) if isinstance(node, ast.FunctionDef))
        inside = {line for node in functions for line in range(node.body[0].lineno, (node.end_lineno or 0) + 1)}
        contexts = {line: names for line, names in self._data.contexts_by_lineno(path).items() if line in inside}
        return {line: {name.rpartition("|")[0] for name in names} & self._seconds.keys() for line, names in contexts.items()}


def _lines(node: ast.stmt) -> range:
    """Return the lines of a statement, its decorators included."""
    return range(min(each.lineno for each in (node, *getattr(node, "decorator_list", ()))), (node.end_lineno or 0) + 1)


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
